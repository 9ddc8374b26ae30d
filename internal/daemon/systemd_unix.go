//go:build unix

package daemon

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// takesConnections returns an error unless f is a listening stream socket.
func takesConnections(f *os.File) error {
	kind, err := unix.GetsockoptInt(int(f.Fd()), unix.SOL_SOCKET, unix.SO_TYPE)
	if err != nil {
		return err
	}
	listens, err := unix.GetsockoptInt(int(f.Fd()), unix.SOL_SOCKET, unix.SO_ACCEPTCONN)
	if err != nil {
		return err
	}
	if kind != unix.SOCK_STREAM || listens == 0 {
		return errors.New("it does not accept connections")
	}
	return nil
}

// refused reports whether an error of a dial says that no program listens.
func refused(err error) bool { return errors.Is(err, unix.ECONNREFUSED) || errors.Is(err, unix.ENOENT) }
