package daemon

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"pushbox/config"
	"pushbox/internal/admin"
	"pushbox/internal/certs"
	"pushbox/internal/hint"
	"pushbox/internal/httpd"
	"pushbox/internal/testkit/env"
)

// withPair are settings of a server that speaks HTTPS, with a pair of files for
// example.com.
func withPair(t *testing.T, dir string) config.Config {
	t.Helper()
	lender := httptest.NewTLSServer(nil)
	defer lender.Close()
	lent := lender.TLS.Certificates[0]
	key := env.Must(x509.MarshalPKCS8PrivateKey(lent.PrivateKey))(t)
	cfg := settingsFor(dir)
	cfg.TLS.CertFile, cfg.TLS.KeyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	err := errors.Join(
		os.WriteFile(cfg.TLS.CertFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: lent.Certificate[0]}), 0o600),
		os.WriteFile(cfg.TLS.KeyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}), 0o600))
	env.OK(t, err)
	return cfg
}

// askOverHTTP2 is a connection, below TLS, that has asked for one page over HTTP/2
// and given leave to send all of it.
func askOverHTTP2(t *testing.T, address string) net.Conn {
	t.Helper()
	var d net.Dialer
	raw := env.Must(d.DialContext(t.Context(), "tcp", address))(t)
	t.Cleanup(func() { _ = raw.Close() })
	_ = raw.(*net.TCPConn).SetReadBuffer(16 << 10)
	conn := tls.Client(raw, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	var head, out bytes.Buffer
	e := hpack.NewEncoder(&head)
	for _, f := range [][2]string{{":method", "GET"}, {":scheme", "https"}, {":authority", "example.com"}, {":path", "/"}} {
		env.OK(t, e.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]}))
	}
	const all = 1<<31 - 1
	out.WriteString(http2.ClientPreface)
	framer := http2.NewFramer(&out, nil)
	err := errors.Join(
		framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: all}),
		framer.WriteWindowUpdate(0, all-65535),
		framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: head.Bytes(), EndStream: true, EndHeaders: true}))
	env.OK(t, err)
	env.Must(conn.Write(out.Bytes()))(t)
	return raw
}

// Over HTTP/2 a stream has its deadlines, but what ends it has to be written, too.
func TestAReaderThatStallsIsCutOverHTTP2(t *testing.T) {
	t.Parallel()
	cfg := withPair(t, env.ShortDir(t))
	cfg.Limits.StallTimeout = time.Second
	side := env.Must(openTLS(t.Context(), cfg, zerolog.Nop()))(t)
	ended := make(chan error, 1)
	d := daemon{cfg: cfg, log: zerolog.Nop(), tls: side}
	endless := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := http.NewResponseController(w)
		for chunk := make([]byte, 32<<10); ; {
			_ = c.SetWriteDeadline(time.Now().Add(cfg.Limits.StallTimeout))
			if _, err := w.Write(chunk); err != nil {
				ended <- errors.Join(err, errUnless(r.ProtoMajor == 2, r.Proto))
				return
			}
		}
	})
	l := env.Listen(t)
	env.Run(t, func(ctx context.Context) error {
		return httpd.Run(ctx, side.certs.Wrap(l), d.server(endless), time.Minute)
	})
	conn := askOverHTTP2(t, l.Addr().String())
	select {
	case err := <-ended:
		if strings.Contains(err.Error(), "HTTP/1") {
			t.Error(err)
		}
	case <-time.After(env.Patience):
		t.Fatal("it is never cut")
	}
	env.OK(t, conn.SetReadDeadline(time.Now().Add(env.Patience)))
	if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("its connection is kept")
	}
}

func errUnless(ok bool, text string) error {
	if ok {
		return nil
	}
	return errors.New(text)
}

func TestTheURLThatIsToldIsOfTheCertificate(t *testing.T) {
	t.Parallel()
	side := env.Must(openTLS(t.Context(), withPair(t, env.ShortDir(t)), zerolog.Nop()))(t)
	for port, want := range map[int]string{443: "https://example.com", 8443: "https://example.com:8443"} {
		if got := side.reach(&net.TCPAddr{IP: net.IPv4zero, Port: port}); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	env.Equal(t, "without TLS", (tlsSetup{}).reach(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 5100}), "http://127.0.0.1:5100")
}

func TestATLSSetupThatCannotBeIsAnError(t *testing.T) {
	t.Parallel()
	taken := env.Listen(t)
	for name, spoil := range map[string]func(cfg *config.Config){
		"no file":      func(cfg *config.Config) { cfg.TLS.KeyFile += ".none" },
		"no free port": func(cfg *config.Config) { cfg.TLS.RedirectListen = taken.Addr().String() },
		"no such pair": func(cfg *config.Config) { cfg.TLS.KeyFile = cfg.TLS.CertFile },
		"no root of ACME": func(cfg *config.Config) {
			cfg.TLS = config.TLS{ACME: config.ACME{Domains: []string{"a.example"}, DirectoryURL: "https://ca.example/d", CAFile: "/none"}}
		},
	} {
		cfg := withPair(t, env.ShortDir(t))
		spoil(&cfg)
		if _, err := openTLS(t.Context(), cfg, zerolog.Nop()); err == nil || hint.Of(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestARedirectThatBreaksEndsTheServer(t *testing.T) {
	t.Parallel()
	cfg := withPair(t, env.ShortDir(t))
	cfg.TLS.RedirectListen = "127.0.0.1:0"
	s := opened(t, cfg)
	defer closed(t, s)
	side := env.Must(openTLS(t.Context(), cfg, zerolog.Nop()))(t)
	control := env.Must(admin.Listen(t.Context(), admin.SocketPath(cfg.DataDir)))(t)
	d := daemon{cfg: cfg, watch: new(watch), store: s, log: zerolog.Nop(), control: control, endpoints: []endpoint{{listener: env.Listen(t), handler: http.NotFoundHandler()}}, tls: side}
	env.OK(t, side.redirect.Close())
	env.ErrorIs(t, "it", d.run(t.Context()), net.ErrClosed)
}

// What a browser asks for over plain HTTP may have a url_token in its path.
func TestAnswersOverPlainHTTPAreNotStored(t *testing.T) {
	t.Parallel()
	cfg := withPair(t, env.ShortDir(t))
	cfg.TLS.RedirectListen = "127.0.0.1:0"
	side := env.Must(openTLS(t.Context(), cfg, zerolog.Nop()))(t)
	env.Run(t, func(ctx context.Context) error {
		return side.run(ctx, new(http.Server), side.redirect.Addr(), env.Patience)
	})
	res, _ := env.Ask(t, http.MethodGet, "http://"+side.redirect.Addr().String()+"/p/x", "")
	for name, want := range map[string]string{"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; base-uri 'none'; frame-ancestors 'none'"} {
		if got := res.Header.Get(name); got != want {
			t.Errorf("%d has %s %q, want %q", res.StatusCode, name, got, want)
		}
	}
}

func TestWhatIsToldOfACertificateIsALine(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	end := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	logCertificate(zerolog.New(&out), certs.Event{Text: "no certificate", Domain: "a.example", Expires: end, Err: errors.New("down"), Hint: "look"})
	want := `{"level":"error","error":"down","domain":"a.example","expires_at":"2030-01-02T03:04:05.000Z","hint":"look","message":"no certificate"}` + "\n"
	if out.String() != want {
		t.Errorf("got %s", &out)
	}
	out.Reset()
	logCertificate(zerolog.New(&out), certs.Event{Text: "fetched"})
	if out.String() != `{"level":"info","message":"fetched"}`+"\n" {
		t.Errorf("got %s", &out)
	}
}
