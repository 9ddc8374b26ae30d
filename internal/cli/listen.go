package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"

	"pushbox/config"
	"pushbox/internal/admin"
)

// answerWait is how long whoever owns a Unix socket has to take a connection.
const answerWait = time.Second

// errAnswered says that a Unix socket is in use.
var errAnswered = errors.New("another program answers on this socket")

// listen opens what an address of the configuration names: one listener, or as many
// as systemd has opened by that name. Unix sockets that it makes have the mode. Their
// clients, which have no address, count as this machine: the loopback address.
func listen(ctx context.Context, address string, mode fs.FileMode, given *sockets) ([]net.Listener, error) {
	if name, ok := strings.CutPrefix(address, config.SystemdPrefix); ok {
		return given.take(name)
	}
	if path, ok := strings.CutPrefix(address, config.UnixPrefix); ok {
		l, err := listenUnix(ctx, path, mode)
		if err != nil {
			return nil, err
		}
		return []net.Listener{localListener{l}}, nil
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, network(address), address)
	if err != nil {
		return nil, err
	}
	return []net.Listener{l}, nil
}

// network keeps 0.0.0.0 to IPv4: with "tcp" it would stand for IPv6, too.
func network(listen string) string {
	if ap, err := netip.ParseAddrPort(listen); err == nil && ap.Addr().Is4() {
		return "tcp4"
	}
	return "tcp"
}

// listenUnix makes a Unix socket, which goes when it is closed. Until it has its
// mode it is for its owner alone, by the umask of the process.
func listenUnix(ctx context.Context, path string, mode fs.FileMode) (net.Listener, error) {
	if err := admin.CheckSocketPath(path); err != nil {
		return nil, withHint(err, "choose a shorter path, or one relative to the directory that the server is started in")
	}
	if err := removeLeftover(ctx, path); err != nil {
		return nil, err
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "unix", path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, withHint(err, "make the directory of the socket, which the account of the server must be able to write to")
	}
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, mode); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// removeLeftover removes the socket of a server that was killed: one that nobody
// answers on.
func removeLeftover(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return withHint(fmt.Errorf("%s is not a socket", path), "move it away, or choose another path")
	}
	d := net.Dialer{Timeout: answerWait}
	conn, err := d.DialContext(ctx, "unix", path)
	switch {
	case err == nil:
		_ = conn.Close()
		return withHint(fmt.Errorf("%s: %w", path, errAnswered), "stop that program, or choose another path")
	case !refused(err): // it may have an owner who is busy
		return fmt.Errorf("whether somebody answers on %s cannot be known: %w", path, err)
	}
	return os.Remove(path)
}

// A localListener gives its connections the loopback address.
type localListener struct{ net.Listener }

// Accept waits for the next connection.
func (l localListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return localConn{c}, nil
}

// A localConn is a connection of a Unix socket.
type localConn struct{ net.Conn }

// RemoteAddr is the loopback address.
func (localConn) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }
