package docs

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"pushbox/internal/proctest"
	"pushbox/internal/testkit/acmetest"
	"pushbox/internal/testkit/certtest"
	"pushbox/internal/testkit/env"
)

const certDomain = "push.example.com"

// An httpsServer is the whole program, reached over HTTPS by the name in its
// certificate.
type httpsServer struct {
	t       *testing.T
	dir     string
	environ []string
	address string // of HTTPS
	plain   string // of HTTP
	server  *proctest.Process
	roots   *x509.CertPool
}

// newHTTPSServer chooses addresses. The settings are environment variables without
// PUSHBOX_TLS_.
func newHTTPSServer(t *testing.T, settings ...string) *httpsServer {
	t.Helper()
	s := &httpsServer{t: t, dir: t.TempDir(), environ: proctest.Environ(), roots: x509.NewCertPool()}
	free := proctest.FreeAddresses(t, 2)
	s.address, s.plain = free[0], free[1]
	for _, line := range append(settings, "REDIRECT_LISTEN="+s.plain) {
		s.environ = append(s.environ, "PUSHBOX_TLS_"+line)
	}
	return s
}

func portIn(t *testing.T, address string) int {
	t.Helper()
	_, text, err := net.SplitHostPort(address)
	env.OK(t, err)
	return env.Must(strconv.Atoi(text))(t)
}

// start starts the program.
func (s *httpsServer) start() {
	s.t.Helper()
	p := env.Must(proctest.Start(s.dir, s.environ, []string{"--listen", s.address}))(s.t)
	s.server = p
	s.t.Cleanup(p.Kill)
}

// client returns a client that reaches the program whatever host a URL has.
func (s *httpsServer) client() *http.Client {
	d := net.Dialer{Timeout: proctest.Patience}
	t := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: s.roots}, ForceAttemptHTTP2: true, DisableKeepAlives: true}
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		to := s.address
		if strings.HasSuffix(address, ":80") {
			to = s.plain
		}
		return d.DialContext(ctx, network, to)
	}
	return &http.Client{
		Transport: t, Timeout: proctest.Patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// do makes a request and returns the answer with its body.
func (s *httpsServer) do(method, url, body string) (*http.Response, string) {
	s.t.Helper()
	req := env.Must(http.NewRequestWithContext(s.t.Context(), method, url, strings.NewReader(body)))(s.t)
	req.Header.Set("Content-Type", "application/json")
	res := env.Must(s.client().Do(req))(s.t)
	defer func() { _ = res.Body.Close() }()
	text := env.Must(io.ReadAll(res.Body))(s.t)
	return res, string(text)
}

// shown is the certificate that the program presents for the domain; nil if there is
// none.
func (s *httpsServer) shown() *x509.Certificate {
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: proctest.Patience}, "tcp", s.address, &tls.Config{ServerName: certDomain, RootCAs: s.roots})
	if err != nil {
		return nil
	}
	defer func() { _ = conn.Close() }()
	return conn.ConnectionState().PeerCertificates[0]
}

// awaited waits for a certificate other than the one before, and returns it.
func (s *httpsServer) awaited(before *x509.Certificate) *x509.Certificate {
	s.t.Helper()
	for end := time.Now().Add(proctest.Patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if leaf := s.shown(); leaf != nil && (before == nil || !leaf.Equal(before)) {
			return leaf
		}
	}
	s.t.Fatalf("no new certificate is shown\n%s", s.server.Log())
	return nil
}

// writePair writes a self-signed certificate and its key, and lets the clients trust
// it.
func (s *httpsServer) writePair(cert, key string) {
	s.t.Helper()
	certificate, authority := certtest.New(s.t, certDomain)
	certText, keyText := certtest.PEM(s.t, certificate)
	env.OK(s.t, errors.Join(os.WriteFile(cert, certText, 0o600), os.WriteFile(key, keyText, 0o600)))
	s.roots.AppendCertsFromPEM(authority)
}

func TestTheProgramSpeaksHTTPSByItself(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	s := newHTTPSServer(t, "CERT_FILE="+cert, "KEY_FILE="+key)
	s.writePair(cert, key)
	s.start()
	first := s.awaited(nil)

	res, body := s.do(http.MethodPost, "https://"+certDomain+"/api/v2/pushes", `{"push":{"payload":"over TLS"}}`)
	var push struct {
		HTMLURL string `json:"html_url"`
		Token   string `json:"url_token"`
	}
	if err := json.Unmarshal([]byte(body), &push); err != nil || res.StatusCode != http.StatusCreated {
		t.Fatalf("%s %s", res.Status, body)
	}
	if !strings.HasPrefix(push.HTMLURL, "https://"+certDomain+"/p/") || res.Proto != "HTTP/2.0" || res.Header.Get("Strict-Transport-Security") != "max-age=31536000" {
		t.Errorf("the link is %s, over %s, with %v", push.HTMLURL, res.Proto, res.Header)
	}
	path := strings.TrimPrefix(push.HTMLURL, "https://"+certDomain)
	res, _ = s.do(http.MethodGet, "http://"+certDomain+path, "")
	if res.StatusCode != http.StatusPermanentRedirect || res.Header.Get("Location") != "https://"+certDomain+":"+strconv.Itoa(portIn(t, s.address))+path {
		t.Errorf("over HTTP the answer is %s, %v", res.Status, res.Header)
	}
	res, body = s.do(http.MethodPost, "http://"+certDomain+"/api/v2/pushes", `{"push":{"payload":"in clear"}}`)
	if res.StatusCode != http.StatusForbidden || !strings.Contains(body, "https://") {
		t.Errorf("a push over HTTP is answered %s %s", res.Status, body)
	}

	s.writePair(cert, key)
	s.awaited(first)
	if code, err := s.server.Signal("INT"); err != nil || code != 0 {
		t.Errorf("it ends with %d, %v", code, err)
	}
	if text := s.server.Log(); strings.Contains(text, push.Token) || strings.Contains(text, "in clear") {
		t.Error("a secret is in the log")
	}
}

// A kill interrupts an order of a certificate at any point.
func TestTheProgramFetchesItsCertificateWhateverInterruptsIt(t *testing.T) {
	t.Parallel()
	s := newHTTPSServer(t)
	ca := acmetest.New(t, acmetest.Options{HTTPPort: portIn(t, s.plain), TLSPort: portIn(t, s.address)})
	s.roots = ca.Issued
	s.environ = append(s.environ, "PUSHBOX_TLS_ACME_DOMAINS="+certDomain, "PUSHBOX_TLS_ACME_DIRECTORY_URL="+ca.Directory, "PUSHBOX_TLS_ACME_CA_FILE="+ca.RootFile)
	s.start()
	for end := time.Now().Add(proctest.Patience); ca.Orders() == 0 && time.Now().Before(end); time.Sleep(time.Millisecond) {
	}
	s.server.Kill()
	s.start()
	first := s.awaited(nil)

	orders := ca.Orders()
	ca.SetDown(true)
	s.server.Kill()
	s.start()
	if second := s.awaited(nil); !second.Equal(first) {
		t.Error("another certificate is shown after a restart")
	}
	if code, err := s.server.Signal("TERM"); err != nil || code != 0 || ca.Orders() != orders {
		t.Errorf("it ends with %d, %v; %d orders, then %d", code, err, orders, ca.Orders())
	}
	if text := s.server.Log(); strings.Contains(text, `"level":"error"`) {
		t.Errorf("something is wrong:\n%s", text)
	}
}
