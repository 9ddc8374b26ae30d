//go:build !linux && !darwin && !freebsd

package doctor

// fileSystem is not known on this system.
func fileSystem(string) (kind string, err error) { return "", nil }

// freeSpace is not known on this system.
func freeSpace(string) (bytes int64, known bool, err error) { return 0, false, nil }
