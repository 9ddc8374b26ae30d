//go:build !linux && !darwin && !freebsd

package bolt

import "os"

// freeBytes is not known on this system.
func freeBytes(string) (int64, bool, error) { return 0, false, nil }

// inherit leaves a new file to whoever made it.
func inherit(_, _ *os.File) error { return nil }

// unlock leaves the lock to the closing of the file.
func unlock(*os.File) error { return nil }
