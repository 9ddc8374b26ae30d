package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"pushbox/internal/limit"
	"pushbox/store/clock"

	"golang.org/x/sync/errgroup"

	"pushbox/config"
	"pushbox/internal/admin"
	"pushbox/internal/hint"
	"pushbox/internal/httpd"
	"pushbox/server"
)

type endpoint struct {
	listener net.Listener
	handler  http.Handler
	public   bool // the handler serves recipients alone
}

// openEndpoints opens all listeners of the configuration, or none. An error names the setting
// at fault. It uses the sockets that systemd passes.
func openEndpoints(ctx context.Context, o Options, s *server.Server) (endpoints []endpoint, err error) {
	cfg := o.Config
	given, err := socketsOf(o.Source.Environ, os.Getpid(), firstSocket)
	forgetSockets()
	if err != nil {
		return nil, err
	}
	defer func() {
		for _, name := range given.closeRest() {
			o.say(fmt.Sprintf("no setting uses the socket %q that systemd passed: set listen or public_listen to %s%s", name, config.SystemdPrefix, name))
		}
	}()
	all := []struct {
		setting, address string
		handler          http.Handler
		public           bool
	}{{"listen", cfg.Listen, s, false}, {"public_listen", cfg.PublicListen, s.Public(), true}}
	for _, at := range all {
		if at.address == "" {
			continue
		}
		listeners, err := listen(ctx, at.address, cfg.ListenMode, given)
		if err != nil {
			return nil, errors.Join(badListener(at.setting, at.address, err), closeEndpoints(endpoints))
		}
		for _, l := range listeners {
			endpoints = append(endpoints, endpoint{listener: l, handler: at.handler, public: at.public})
		}
	}
	return endpoints, nil
}

// badListener returns an error with its setting and a hint.
func badListener(setting, address string, err error) error {
	err = fmt.Errorf("%s: %w", setting, err)
	switch {
	case errors.Is(err, fs.ErrPermission) && strings.HasPrefix(address, config.UnixPrefix):
		return hint.With(err, "let the server's user write to the directory of the socket")
	case errors.Is(err, fs.ErrPermission):
		return hint.With(err, "%s", portHint)
	case errors.Is(err, syscall.EADDRINUSE) && setting == "listen":
		return hint.With(err, "stop the program that listens there, or choose another address with --listen")
	case errors.Is(err, syscall.EADDRINUSE):
		return hint.With(err, "stop the program that listens there, or set %s to another address", setting)
	case hint.Of(err) == "":
		return hint.With(err, "set %s to an address of this machine", setting)
	}
	return err
}

func closeEndpoints(endpoints []endpoint) (err error) {
	for _, d := range endpoints {
		err = errors.Join(err, d.listener.Close())
	}
	return err
}

// serve serves every endpoint until ctx ends or a listener breaks. Then it drains all of them. It
// logs that running requests were aborted, and does not return that as an error.
func (d *daemon) serve(ctx context.Context, servers []*http.Server) error {
	g, ctx := errgroup.WithContext(ctx)
	for i, srv := range servers {
		l := d.conns.Wrap(d.endpoints[i].listener)
		if d.tls.certs != nil {
			l = d.tls.certs.Wrap(l)
		}
		g.Go(func() error {
			err := httpd.Run(ctx, l, srv, d.cfg.Limits.DrainTimeout)
			if !errors.Is(err, httpd.ErrCut) {
				return err
			}
			d.log.Warn().Dur("after_ms", d.cfg.Limits.DrainTimeout).Msg("running requests were aborted")
			return nil
		})
	}
	return g.Wait()
}

// addressForVisitors returns the address that plain HTTP is redirected to: that of the
// public endpoint, if there is one, since recipients may reach no other.
func addressForVisitors(endpoints []endpoint) net.Addr {
	for _, d := range endpoints {
		if d.public {
			return d.listener.Addr()
		}
	}
	return endpoints[0].listener.Addr()
}

// addresses returns the addresses of the public endpoints, or of the others, for the log.
func addresses(endpoints []endpoint, public bool) string {
	var all []string
	for _, d := range endpoints {
		if d.public == public {
			all = append(all, addressOf(d.listener))
		}
	}
	return strings.Join(all, ", ")
}

func addressOf(l net.Listener) string {
	addr := l.Addr()
	if addr.Network() == "unix" {
		return config.UnixPrefix + addr.String()
	}
	return addr.String()
}

// answerWait is how long a program has to accept a connection to its Unix socket.
const answerWait = time.Second

var errAnswered = errors.New("another program answers on this socket")

// listen opens the listeners of an address in the configuration: one, or as many as
// systemd has opened by that name. A Unix socket that it makes has the mode. Clients of
// Unix sockets have no address, and count as this machine: the loopback address.
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

// network keeps 0.0.0.0 to IPv4: with "tcp" it would mean IPv6, too.
func network(listen string) string {
	if ap, err := netip.ParseAddrPort(listen); err == nil && ap.Addr().Is4() {
		return "tcp4"
	}
	return "tcp"
}

// listenUnix makes a Unix socket, and replaces one that a killed server left. Until the socket has
// its mode, the umask of the process restricts it to its owner.
func listenUnix(ctx context.Context, path string, mode fs.FileMode) (net.Listener, error) {
	l, err := admin.ListenUnix(ctx, path, mode, refuseInUse)
	switch {
	case errors.Is(err, admin.ErrPathTooLong):
		err = hint.With(err, "choose a shorter path, or one relative to the directory that the server is started in")
	case errors.Is(err, admin.ErrNotSocket):
		err = hint.With(err, "move it away, or choose another path")
	case errors.Is(err, fs.ErrNotExist):
		err = hint.With(err, "make the directory of the socket, and let the server's user write to it")
	}
	return l, err
}

// refuseInUse returns an error if a program answers on a Unix socket, or may answer.
func refuseInUse(ctx context.Context, path string) error {
	d := net.Dialer{Timeout: answerWait}
	conn, err := d.DialContext(ctx, "unix", path)
	switch {
	case err == nil:
		_ = conn.Close()
		return hint.With(fmt.Errorf("%s: %w", path, errAnswered), "stop that program, or choose another path")
	case !refused(err): // its owner may be busy
		return fmt.Errorf("cannot tell whether a program answers on %s: %w", path, err)
	}
	return nil
}

// A localListener gives its connections the loopback address.
type localListener struct{ net.Listener }

func (l localListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return localConn{c}, nil
}

type localConn struct{ net.Conn }

func (localConn) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

const refusedEvery = time.Minute

func newConnections(cfg config.Config, log zerolog.Logger) *httpd.Connections {
	told := limit.NewWindow(1, refusedEvery, 1, clock.NewSystem().Elapsed)
	c := httpd.NewConnections(func(peer string) {
		if full, _ := told.TakeFor(""); !full {
			log.Warn().Str("peer", peer).Msg("connections are refused: limits.connections_per_client or limits.connections is reached")
		}
	})
	setConnections(c, cfg)
	return c
}

func setConnections(c *httpd.Connections, cfg config.Config) {
	c.Set(cfg.Limits.Connections, cfg.Limits.ConnectionsPerClient, cfg.TrustedProxies)
}
