//go:build unix

package cli

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// takesConnections refuses what is no stream socket that listens.
func takesConnections(f *os.File) error {
	const no = "it is not one that takes connections"
	kind, err := unix.GetsockoptInt(int(f.Fd()), unix.SOL_SOCKET, unix.SO_TYPE)
	if err != nil {
		return err
	}
	listens, err := unix.GetsockoptInt(int(f.Fd()), unix.SOL_SOCKET, unix.SO_ACCEPTCONN)
	if err != nil {
		return err
	}
	if kind != unix.SOCK_STREAM || listens == 0 {
		return errors.New(no)
	}
	return nil
}

// refused reports whether there is nobody to take a connection.
func refused(err error) bool { return errors.Is(err, unix.ECONNREFUSED) || errors.Is(err, unix.ENOENT) }
