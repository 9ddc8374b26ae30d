package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"pushbox/config"
	"pushbox/internal/certs"
	"pushbox/internal/hint"
	"pushbox/internal/httpd"
	"pushbox/server"
	"pushbox/server/display"
)

// A tlsSetup has the certificates for HTTPS, and the listener for plain HTTP. With the zero
// value the server speaks HTTP.
type tlsSetup struct {
	certs    *certs.Certificates // nil: none
	redirect net.Listener        // for plain HTTP; nil: none
}

func openTLS(ctx context.Context, cfg config.Config, log zerolog.Logger) (tlsSetup, error) {
	if !cfg.TLS.Enabled() {
		return tlsSetup{}, nil
	}
	c, err := certs.New(certs.Options{Config: cfg, Tell: func(e certs.Event) { logCertificate(log, e) }})
	if err != nil {
		return tlsSetup{}, hint.With(err, "%s", certs.Hint(err))
	}
	setup := tlsSetup{certs: c}
	if listen := cfg.TLS.RedirectListen; listen != "" {
		var lc net.ListenConfig
		if setup.redirect, err = lc.Listen(ctx, network(listen), listen); err != nil {
			return tlsSetup{}, hint.With(fmt.Errorf("tls.redirect_listen: %w", err), "%s", portHint)
		}
		log.Info().Stringer("address", setup.redirect.Addr()).Msg("plain HTTP is redirected to HTTPS")
	}
	if end := c.Expiry(); end.IsZero() {
		log.Info().Strs("names", c.Names()).Msg("HTTPS waits for its first certificate")
	} else {
		log.Info().Strs("names", c.Names()).Str("expires_at", display.Stamp(end)).Msg("HTTPS has a certificate")
	}
	return setup, nil
}

const portHint = "choose another address, or stop what listens there; a port below 1024 needs CAP_NET_BIND_SERVICE (docs/tls.md)"

func logCertificate(log zerolog.Logger, e certs.Event) {
	line := log.Info()
	if e.Err != nil {
		line = log.Error().Err(e.Err)
	}
	if e.Domain != "" {
		line = line.Str("domain", e.Domain)
	}
	if !e.Expires.IsZero() {
		line = line.Str("expires_at", display.Stamp(e.Expires))
	}
	if e.Hint != "" {
		line = line.Str("hint", e.Hint)
	}
	line.Msg(e.Text)
}

func (t tlsSetup) secure(srv *http.Server) {
	if t.certs != nil {
		srv.TLSConfig = t.certs.TLSConfig()
		srv.Handler = t.certs.Strict(srv.Handler)
	}
}

// run keeps the certificates valid, and redirects plain HTTP with srv, until ctx ends or the
// listener breaks. https is the address of HTTPS.
func (t tlsSetup) run(ctx context.Context, srv *http.Server, https net.Addr, drain time.Duration) error {
	if t.certs == nil {
		<-ctx.Done()
		return nil
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return t.certs.Run(ctx) })
	if t.redirect != nil {
		srv.Handler = server.Plain(t.certs.Redirect(portOf(https)))
		g.Go(func() error { return httpd.Run(ctx, t.redirect, srv, drain) })
	}
	err := g.Wait()
	if errors.Is(err, httpd.ErrCut) {
		return nil // a redirect can be asked for again
	}
	return err
}

func portOf(addr net.Addr) int {
	if tcp, ok := addr.(*net.TCPAddr); ok {
		return tcp.Port
	}
	return 0
}

func (t tlsSetup) reach(addr net.Addr) string {
	if t.certs == nil || addr.Network() == "unix" {
		return localURL(addr)
	}
	port, names := portOf(addr), t.certs.Names()
	switch {
	case len(names) == 0:
		return "https" + strings.TrimPrefix(localURL(addr), "http")
	case port == 443:
		return "https://" + names[0]
	default:
		return "https://" + net.JoinHostPort(names[0], strconv.Itoa(port))
	}
}
