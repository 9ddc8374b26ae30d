package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"

	"pushbox/config"
	"pushbox/internal/httpd"
	"pushbox/server"
)

// A door is a listener that is open, and what answers there.
type door struct {
	listener net.Listener
	handler  http.Handler
	public   bool // it has what recipients need, and nothing else
}

// openDoors opens all listeners of the configuration, or none: an error names the
// setting that is wrong. It takes the sockets that systemd hands over.
func (a *app) openDoors(ctx context.Context, cfg config.Config, s *server.Server) (doors []door, err error) {
	given, err := socketsOf(a.environ, os.Getpid(), firstSocket)
	forgetSockets()
	if err != nil {
		return nil, err
	}
	defer func() {
		for _, name := range given.closeRest() {
			a.say(fmt.Sprintf("no setting takes the socket %q that systemd handed over: set listen or public_listen to %s%s", name, config.SystemdPrefix, name))
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
			return nil, errors.Join(badListener(at.setting, err), closeDoors(doors))
		}
		for _, l := range listeners {
			doors = append(doors, door{listener: l, handler: at.handler, public: at.public})
		}
	}
	return doors, nil
}

// badListener names the setting that an error comes from.
func badListener(setting string, err error) error {
	err = fmt.Errorf("%s: %w", setting, err)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return withHint(err, "let the account of the server write to the socket's directory; for ports below 1024 see docs/listeners.md")
	case setting != listenFlag && errors.Is(err, syscall.EADDRINUSE):
		return withHint(err, "stop the program that listens there, or set %s to another address", setting)
	}
	return err
}

func closeDoors(doors []door) (err error) {
	for _, d := range doors {
		err = errors.Join(err, d.listener.Close())
	}
	return err
}

// serveDoors answers at every door until ctx ends or one of them breaks. Then it
// stops and drains all of them.
func (d *daemon) serveDoors(ctx context.Context, servers []*http.Server) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, len(servers))
	for i, srv := range servers {
		go func() {
			ended <- d.drained(httpd.Run(ctx, d.tls.wrap(d.doors[i].listener), srv, d.cfg.Limits.DrainTimeout))
		}()
	}
	for range servers {
		err = errors.Join(err, <-ended)
		cancel()
	}
	return err
}

// addressForVisitors is where browsers belong that came by plain HTTP: whoever was sent
// a link gets to the public door, if there is one, and perhaps to no other.
func addressForVisitors(doors []door) net.Addr {
	for _, d := range doors {
		if d.public {
			return d.listener.Addr()
		}
	}
	return doors[0].listener.Addr()
}

// addresses are where the doors are, those that are public or the others, for the
// log.
func addresses(doors []door, public bool) string {
	var all []string
	for _, d := range doors {
		if d.public == public {
			all = append(all, addressOf(d.listener))
		}
	}
	return strings.Join(all, ", ")
}

// addressOf is where a listener is, in the form of the setting.
func addressOf(l net.Listener) string {
	addr := l.Addr()
	if addr.Network() == "unix" {
		return config.UnixPrefix + addr.String()
	}
	return addr.String()
}
