//go:build !unix

package cli

import (
	"errors"
	"os"
)

// takesConnections refuses everything: there is no systemd here.
func takesConnections(*os.File) error {
	return errors.New("this system does not hand over sockets")
}

// refused reports whether there is nobody to take a connection. Here a socket that
// nobody answers on can be told by nothing else.
func refused(error) bool { return true }
