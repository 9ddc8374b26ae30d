//go:build !linux

package sdnotify

// monotonic has no meaning where there is no systemd.
func monotonic() (int64, error) { return 0, nil }
