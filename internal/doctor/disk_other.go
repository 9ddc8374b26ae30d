//go:build !linux && !darwin && !freebsd

package doctor

// fileSystem is not known on this system.
func fileSystem(string) (kind string, err error) { return "", nil }
