//go:build !unix

package daemon

import (
	"errors"
	"os"
)

// takesConnections refuses everything: there is no systemd here.
func takesConnections(*os.File) error {
	return errors.New("this system does not pass sockets")
}

// refused reports whether an error of a dial says that no program listens. This system has no
// error code for that, so any error counts.
func refused(error) bool { return true }
