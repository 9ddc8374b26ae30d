//go:build !linux && !darwin && !freebsd

package durable

// FreeSpace is not known on this system.
func FreeSpace(string) (bytes int64, known bool, err error) { return 0, false, nil }
