package cli

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
	"pushbox/internal/httpd"
	"pushbox/server"
)

// A tlsSide is what the server speaks HTTPS with. The zero value speaks HTTP.
type tlsSide struct {
	certs    *certs.Certificates // nil: none
	redirect net.Listener        // for plain HTTP beside it; nil: none
}

// openTLS reads the certificates and opens the listener for plain HTTP, if the
// settings ask for them.
func openTLS(ctx context.Context, cfg config.Config, log zerolog.Logger) (tlsSide, error) {
	if !cfg.TLS.Enabled() {
		return tlsSide{}, nil
	}
	c, err := certs.New(certs.Options{Config: cfg, Tell: func(e certs.Event) { logCertificate(log, e) }})
	if err != nil {
		return tlsSide{}, withHint(err, "see docs/tls.md; the files must be readable for the user that the server runs as")
	}
	side := tlsSide{certs: c}
	if listen := cfg.TLS.RedirectListen; listen != "" {
		var lc net.ListenConfig
		if side.redirect, err = lc.Listen(ctx, network(listen), listen); err != nil {
			return tlsSide{}, withHint(fmt.Errorf("tls.redirect_listen: %w", err), "%s", portHint)
		}
		log.Info().Stringer("address", side.redirect.Addr()).Msg("plain HTTP is sent on to HTTPS")
	}
	if end := c.Expiry(); end.IsZero() {
		log.Info().Strs("names", c.Names()).Msg("HTTPS waits for its first certificate")
	} else {
		log.Info().Strs("names", c.Names()).Str("expires_at", server.Stamp(end)).Msg("HTTPS has a certificate")
	}
	return side, nil
}

// portHint is for a listener that could not be opened.
const portHint = "choose another address, or stop what listens there; a port below 1024 takes CAP_NET_BIND_SERVICE, as docs/tls.md says"

// logCertificate writes what an operator should know of a certificate.
func logCertificate(log zerolog.Logger, e certs.Event) {
	line := log.Info()
	if e.Err != nil {
		line = log.Error().Err(e.Err)
	}
	if e.Domain != "" {
		line = line.Str("domain", e.Domain)
	}
	if !e.Expires.IsZero() {
		line = line.Str("expires_at", server.Stamp(e.Expires))
	}
	if e.Hint != "" {
		line = line.Str("hint", e.Hint)
	}
	line.Msg(e.Text)
}

// secure lets a server that has everything else speak HTTPS, with HTTP/2, on the
// listeners that wrap returns.
func (t tlsSide) secure(srv *http.Server) {
	if t.certs != nil {
		srv.TLSConfig = t.certs.TLSConfig()
		srv.Handler = t.certs.Strict(srv.Handler)
	}
}

// wrap returns a listener that speaks TLS, where that is asked for and l is one of
// the network.
func (t tlsSide) wrap(l net.Listener) net.Listener {
	if t.certs == nil {
		return l
	}
	return t.certs.Wrap(l)
}

// run looks after the certificates, and answers plain HTTP with srv, until ctx
// ends or the listener breaks. https is where the server speaks HTTPS.
func (t tlsSide) run(ctx context.Context, srv *http.Server, https net.Addr, drain time.Duration) error {
	if t.certs == nil {
		<-ctx.Done()
		return nil
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return t.certs.Run(ctx) })
	if t.redirect != nil {
		srv.Handler = t.certs.Redirect(portOf(https))
		g.Go(func() error { return httpd.Run(ctx, t.redirect, srv, drain) })
	}
	err := g.Wait()
	if errors.Is(err, httpd.ErrCut) {
		return nil // nothing is lost with a redirect
	}
	return err
}

// portOf is the port of an address; 0 if it has none.
func portOf(addr net.Addr) int {
	if tcp, ok := addr.(*net.TCPAddr); ok {
		return tcp.Port
	}
	return 0
}

// reach is a URL by which the server on a listener can be reached: by the name of
// its certificate, or else from this machine.
func (t tlsSide) reach(addr net.Addr) string {
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

// expiry is what tells when the certificate ends; nil: there is none.
func (t tlsSide) expiry() func() time.Time {
	if t.certs == nil {
		return nil
	}
	return t.certs.Expiry
}

// validity is from when to when the certificate is good; zero: there is none.
func (t tlsSide) validity() (from, to time.Time) {
	if t.certs == nil {
		return from, to
	}
	return t.certs.Validity()
}

// reload takes up the files of the certificate as they are now; a pair that is of no
// use is refused, and the one before stays.
func (t tlsSide) reload(config.Config) (apply func(), err error) {
	if t.certs != nil {
		err = t.certs.Reload()
	}
	return func() {}, err
}
