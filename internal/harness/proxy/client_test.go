//go:build linux

package proxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pushbox/internal/proctest"
	"pushbox/internal/testkit/certtest"
	"pushbox/internal/testkit/env"
)

// The site as its users know it.
const (
	siteName = "push.example.com"
	site     = "https://" + siteName
)

// readBuffer is how much the system takes for a client before it reads, in bytes. The system
// would otherwise take as much as the client seems to keep up with: tens of MiB on a slow
// machine, and then all of a file.
const readBuffer = 256 << 10

// client returns a client with an address of its own, 127.x.y.z, which reaches the site
// through the proxy.
func (p *proxy) client(t *testing.T, ip string, http2 bool) *http.Client {
	t.Helper()
	dialer := net.Dialer{Timeout: proctest.Patience, LocalAddr: &net.TCPAddr{IP: net.ParseIP(ip)}}
	transport := &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: p.roots, MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2: http2,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			at := p.tls
			if strings.HasSuffix(address, ":80") {
				at = p.plain
			}
			conn, err := dialer.DialContext(ctx, network, at)
			if err != nil {
				return nil, err
			}
			return conn, conn.(*net.TCPConn).SetReadBuffer(readBuffer)
		},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// A session is one connection of a client to the site. Unlike an http.Client it never sends
// a request again.
type session struct {
	*tls.Conn
	answers *bufio.Reader
}

// session opens a connection to the proxy from an address of its own.
func (p *proxy) session(ctx context.Context, ip string) (*session, error) {
	dialer := tls.Dialer{
		NetDialer: &net.Dialer{Timeout: proctest.Patience, LocalAddr: &net.TCPAddr{IP: net.ParseIP(ip)}},
		Config:    &tls.Config{RootCAs: p.roots, ServerName: siteName, MinVersion: tls.VersionTLS12},
	}
	c, err := dialer.DialContext(ctx, "tcp", p.tls)
	if err != nil {
		return nil, err
	}
	return &session{c.(*tls.Conn), bufio.NewReader(c)}, nil
}

// errCut says that a connection ended without an answer.
var errCut = errors.New("no answer")

// do sends one request, and returns the answer.
func (s *session) do(method, path, bearer, body string) (status int, header http.Header, answer string, err error) {
	req, err := http.NewRequest(method, site+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, "", err
	}
	req.Header.Set("Content-Type", "application/json")
	if bearer != "" {
		req.Header.Set("Authorization", "Bearer "+bearer)
	}
	if err := errors.Join(s.SetDeadline(time.Now().Add(proctest.Patience)), req.Write(s)); err != nil {
		return 0, nil, "", fmt.Errorf("%w: %w", errCut, err)
	}
	res, err := http.ReadResponse(s.answers, req)
	if err != nil {
		return 0, nil, "", fmt.Errorf("%w: %w", errCut, err)
	}
	b, err := io.ReadAll(res.Body)
	if err = errors.Join(err, res.Body.Close()); err != nil {
		return 0, nil, "", fmt.Errorf("%w: %w", errCut, err)
	}
	return res.StatusCode, res.Header, string(b), nil
}

// A reply is an answer that was read to its end.
type reply struct {
	*http.Response
	body string
}

// ask sends a request with the headers to a URL, or to a path of the site.
func ask(t *testing.T, c *http.Client, method, url string, header http.Header, body io.Reader) (reply, error) {
	t.Helper()
	if strings.HasPrefix(url, "/") {
		url = site + url
	}
	ctx, cancel := context.WithTimeout(t.Context(), proctest.Patience)
	defer cancel()
	req := env.Must(http.NewRequestWithContext(ctx, method, url, body))(t)
	for name, values := range header {
		req.Header[name] = values
	}
	req.Host = header.Get("Host")
	res, err := c.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return reply{res, string(text)}, err
}

// get is ask for an answer that must come, with the status.
func get(t *testing.T, c *http.Client, url string, header http.Header, status int) reply {
	t.Helper()
	a := env.Must(ask(t, c, http.MethodGet, url, header, nil))(t)
	a.want(t, status)
	return a
}

// want fails the test unless the answer has the status; 0 means any.
func (a reply) want(t *testing.T, status int) {
	t.Helper()
	if status != 0 && a.StatusCode != status {
		t.Fatalf("%s %s: %s, not %d: %.300s", a.Request.Method, a.Request.URL.Path, a.Status, status, a.body)
	}
}

// certify writes the certificate of the site where the proxies expect it, and returns
// the pool that verifies it.
func (p *proxy) certify(t *testing.T) *x509.CertPool {
	t.Helper()
	certificate, authority := certtest.New(t, siteName)
	crt, secret := certtest.PEM(t, certificate)
	p.write(t, filepath.Join(p.dir, siteName+".crt"), crt)
	p.write(t, filepath.Join(p.dir, siteName+".key"), secret)
	p.write(t, p.combined, append(crt, secret...))
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	return roots
}

// pids are the proxy's process and its children.
func (p *proxy) pids() []int {
	select {
	case <-p.ended: // its ID may belong to another process now
		return nil
	default:
	}
	all := []int{p.cmd.Process.Pid}
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", all[0], all[0]))
	for _, child := range strings.Fields(string(children)) {
		if pid, err := strconv.Atoi(child); err == nil {
			all = append(all, pid)
		}
	}
	return all
}

// peak is the most memory that the proxy's processes have used, in MiB.
func (p *proxy) peak() (mib int) {
	for _, pid := range p.pids() {
		mib += proctest.PeakMiB(pid)
	}
	return mib
}

// spooled is the number of bytes that the proxy has in files: open ones, which may no
// longer have a name, and those in its directory.
func (p *proxy) spooled(t *testing.T) (bytes int64) {
	t.Helper()
	for _, pid := range p.pids() {
		open := env.Must(filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid)))(t)
		for _, name := range open {
			if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
				bytes += info.Size()
			}
		}
	}
	_ = filepath.WalkDir(p.dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // it is gone
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}

// readBytes is the number of bytes that a process has read, from files and connections.
func readBytes(t *testing.T, pid int) int64 {
	t.Helper()
	text := env.Read(t, fmt.Sprintf("/proc/%d/io", pid))
	_, rest, _ := strings.Cut(string(text), "rchar: ")
	line, _, _ := strings.Cut(rest, "\n")
	return env.Must(strconv.ParseInt(line, 10, 64))(t)
}

// lingering is the number of connections with the address that were closed lately
// (TIME-WAIT).
func lingering(t *testing.T, address string) (n int) {
	t.Helper()
	const timeWait = "06"
	text := env.Read(t, "/proc/net/tcp")
	number := env.Must(strconv.Atoi(port(address)[1:]))(t)
	hex := fmt.Sprintf(":%04X", number)
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		ends := slices.ContainsFunc(f[1:min(3, len(f))], func(s string) bool { return strings.HasSuffix(s, hex) })
		if len(f) > 3 && ends && f[3] == timeWait {
			n++
		}
	}
	return n
}
