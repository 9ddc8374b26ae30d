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

// maxSocketPath is the longest path of a Unix socket on this platform, in bytes: one less
// than the kernel's field, which ends with a zero byte.
const maxSocketPath = len(syscall.RawSockaddrUnix{}.Path) - 1

// SocketPath returns the path of the control socket of a data directory.
func SocketPath(dataDir string) string { return filepath.Join(dataDir, "control.sock") }

// CheckSocketPath refuses a path that is too long for a Unix socket. The error wraps
// ErrPathTooLong.
func CheckSocketPath(path string) error {
	if len(path) > maxSocketPath {
		return fmt.Errorf("%w: it has %d bytes, this platform allows %d: %s", ErrPathTooLong, len(path), maxSocketPath, path)
	}
	return nil
}

// Listen makes the control socket, for its owner alone. The caller holds the database:
// so a socket at path is left over from a server that was killed, and is replaced. The
// errors are those of ListenUnix.
func Listen(ctx context.Context, path string) (net.Listener, error) {
	return ListenUnix(ctx, path, socketMode, nil)
}

// ListenUnix makes a Unix socket with a mode. It replaces a socket that is at path
// already, unless inUse returns an error for it; a nil inUse allows all. Closing the
// listener removes the socket. The error wraps ErrPathTooLong, ErrNotSocket, that of
// inUse, or what the system says.
func ListenUnix(ctx context.Context, path string, mode fs.FileMode, inUse func(ctx context.Context, path string) error) (net.Listener, error) {
	if err := CheckSocketPath(path); err != nil {
		return nil, err
	}
	if err := removeSocket(ctx, path, inUse); err != nil {
		return nil, err
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, mode); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

func removeSocket(ctx context.Context, path string, inUse func(context.Context, string) error) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("%s: %w", path, ErrNotSocket)
	}
	if inUse != nil {
		if err := inUse(ctx, path); err != nil {
			return err
		}
	}
	return os.Remove(path)
}
