//go:build !linux && !darwin && !freebsd

package doctor

func fileSystem(string) (kind string, err error) { return "", nil }
