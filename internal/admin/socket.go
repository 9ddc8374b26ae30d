package admin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
)

const socketMode = 0o600

// maxSocketPath is how long the path of a Unix socket may be on this platform:
// one less than the kernel's field, which ends with a zero byte.
const maxSocketPath = len(syscall.RawSockaddrUnix{}.Path) - 1

// SocketPath is where the server of a data directory answers.
func SocketPath(dataDir string) string { return filepath.Join(dataDir, "control.sock") }

// CheckSocketPath refuses a path that a Unix socket cannot have on this platform.
// The error wraps ErrPathTooLong.
func CheckSocketPath(path string) error {
	if len(path) > maxSocketPath {
		return fmt.Errorf("%w: it has %d bytes, this platform allows %d: %s", ErrPathTooLong, len(path), maxSocketPath, path)
	}
	return nil
}

// Listen makes the socket, for its owner alone. The caller holds the database:
// so a socket that is there already is left over from a server that was
// killed, and is removed. Closing the listener removes the socket. The error
// wraps ErrPathTooLong, ErrNotSocket, or what the system says.
func Listen(ctx context.Context, path string) (net.Listener, error) {
	if err := CheckSocketPath(path); err != nil {
		return nil, err
	}
	if err := removeStale(path); err != nil {
		return nil, err
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, socketMode); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

func removeStale(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("%s: %w", path, ErrNotSocket)
	}
	return os.Remove(path)
}
