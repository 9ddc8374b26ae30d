package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"pushbox/internal/secret"
)

const (
	dialTimeout   = 15 * time.Second
	answerTimeout = 2 * time.Minute // from the end of a request to its answer: a proxy may have to pass on what it gathered
	expectTimeout = 2 * time.Second // for the leave to send files, before they are sent anyway
	maxHeader     = 64 << 10        // bytes of an answer's headers
	maxAnswer     = 16 << 20        // bytes of an answer's body; the longest text with every byte escaped has room
	maxRetryAfter = 24 * time.Hour
)

// Options say what a Client is to know.
type Options struct {
	Home  Server         // where pushes are created, and where Token belongs; none: neither is done
	Token secret.Text    // an API token; empty: none
	Roots *x509.CertPool // of certificate authorities; nil: those that the system trusts
	Agent string         // the User-Agent
	Stall time.Duration  // how long nothing may move in a transfer
}

// A Client talks to servers. It may be used by several goroutines at once.
type Client struct {
	opt       Options
	transport *http.Transport
	pause     func(context.Context, time.Duration) error // between attempts
}

// New returns a client, which needs no closing.
func New(o Options) *Client {
	return &Client{
		opt:   o,
		pause: pause,
		transport: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: dialTimeout}).DialContext,
			TLSClientConfig:        &tls.Config{RootCAs: o.Roots, MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout:    dialTimeout,
			ResponseHeaderTimeout:  answerTimeout,
			ExpectContinueTimeout:  expectTimeout,
			MaxResponseHeaderBytes: maxHeader,
			ForceAttemptHTTP2:      true,
			DisableCompression:     true, // or lengths and ranges would not be those of the file

			// A request on a connection that was used before is sent again when the
			// connection turns out to be closed. A retrieval must not be: it may be
			// counted twice.
			DisableKeepAlives: true,
		},
	}
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// request makes a request that carries nothing of ours but the program's name.
// Nothing of u is in the error.
func (c *Client) request(ctx context.Context, method string, u *url.URL, body io.Reader) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, u.String(), body)
	if err != nil {
		return nil, ErrAnswer // a URL that the server named
	}
	req.Header.Set("User-Agent", c.opt.Agent)
	return req, nil
}

// apiRequest makes a request to the API of a server. It carries the token if
// that belongs there.
func (c *Client) apiRequest(ctx context.Context, method string, s Server, body io.Reader, path ...string) (*http.Request, error) {
	req, err := c.request(ctx, method, s.url(append([]string{"api", "v2", "pushes"}, path...)...), body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	if !c.opt.Token.IsZero() && s.SameOrigin(c.opt.Home) {
		req.Header.Set("Authorization", "Bearer "+c.opt.Token.Reveal())
	}
	return req, nil
}

// answer sends a request and reads the answer, of which what is not a success is
// an error. It follows no redirect: to where it points the token, the passphrase
// or the push itself would have to go, too.
func (c *Client) answer(ctx context.Context, w *watch, req *http.Request) (object, error) {
	res, err := c.transport.RoundTrip(req)
	if err != nil {
		return nil, cause(ctx, err)
	}
	defer func() { _ = res.Body.Close() }() // it was only read
	w.moved()
	text, err := io.ReadAll(io.LimitReader(watched{res.Body, w}, maxAnswer+1))
	if err != nil {
		return nil, cause(ctx, err)
	}
	body, ok := parseObject(text)
	switch {
	case isRedirect(res.StatusCode):
		return nil, redirected(req.URL, res)
	case res.StatusCode < 200 || res.StatusCode > 299:
		return nil, refusal(res, body)
	case !ok || len(text) > maxAnswer:
		return nil, ErrAnswer
	}
	return body, nil
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	default:
		return false
	}
}

func redirected(from *url.URL, res *http.Response) error {
	u, err := from.Parse(res.Header.Get("Location"))
	if err != nil {
		return &RedirectError{}
	}
	s, err := serverOf(u, "")
	if err != nil {
		return &RedirectError{}
	}
	return &RedirectError{plain(s.String())}
}

// refusal is what a server says that does not do as it was asked.
func refusal(res *http.Response, body object) *StatusError {
	e := &StatusError{Status: res.StatusCode, Reason: reasonOf(body)}
	if seconds, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && seconds > 0 {
		e.RetryAfter = min(time.Duration(min(seconds, int(maxRetryAfter.Seconds())))*time.Second, maxRetryAfter)
	}
	if res.StatusCode == http.StatusUnauthorized {
		e.passphrase = strings.Contains(strings.ToLower(body.text("error")), "passphrase")
		e.takesOurs = strings.Contains(body.text("message"), passphraseHeader)
	}
	return e
}
