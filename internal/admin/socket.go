package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"pushbox/internal/httpd"
	"pushbox/store"
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

const (
	maxRequest  = 64 << 10         // bytes of an input
	readTimeout = 10 * time.Second // for an input
	grace       = 3 * time.Second  // for running operations at a stop
	prefix      = "/v1/"
)

// Serve answers calls of the operations on a store, and of the server's own (Op.By), until
// ctx ends. When it returns, no operation runs, and l is closed.
func Serve(ctx context.Context, l net.Listener, s *store.Store, own ...operation) error {
	return httpd.Run(ctx, l, newServer(s, append(operations(), own...)), grace)
}

func newServer(s *store.Store, ops []operation) *http.Server {
	const write = Longest + readTimeout // a stream sets its own
	return httpd.NewServer(handler(s, ops), io.Discard, readTimeout, write, 0)
}

func handler(s *store.Store, ops []operation) http.Handler {
	mux := http.NewServeMux()
	for _, o := range ops {
		mux.HandleFunc("POST "+prefix+o.title(), func(w http.ResponseWriter, r *http.Request) {
			do := func(ctx context.Context, tell Progress) (any, error) {
				return o.answer(ctx, s, http.MaxBytesReader(w, r.Body, maxRequest), tell)
			}
			if o.isLong() {
				newStream(w).reply(r.Context(), do)
				return
			}
			out, err := do(r.Context(), nil)
			reply(w, out, err)
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { reply(w, nil, ErrUnknown) })
	return mux
}

func reply(w http.ResponseWriter, out any, err error) {
	status := http.StatusOK
	if err != nil {
		status, out = http.StatusUnprocessableEntity, newFailure(err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(out) // the caller may have gone
}
