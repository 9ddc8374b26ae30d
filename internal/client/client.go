// Package client speaks the JSON API of Password Pusher, version 2, as a client
// of pushbox or of Password Pusher itself.
//
// It reads answers leniently: a retrieval may have used the last view, so an answer with one
// odd member is still used. It sends secrets strictly: the API token only to its own server,
// a passphrase only to the server of its link. It follows redirects only for downloads, which
// carry neither. No error contains a link, a token, a passphrase or a payload.
package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"pushbox/internal/secret"
)

const (
	dialTimeout   = 15 * time.Second
	answerTimeout = 2 * time.Minute // from the end of a request to its answer: a proxy may buffer the request first
	expectTimeout = 2 * time.Second // for 100 Continue, before files are sent without it
	maxHeader     = 64 << 10        // bytes of an answer's headers
	maxAnswer     = 16 << 20        // bytes of an answer's body: enough for the longest text with every byte escaped
	maxRetryAfter = 24 * time.Hour
)

// Options configure a Client.
type Options struct {
	Home  Server         // where pushes are created and Token is sent; zero: neither
	Token secret.Text    // an API token; empty: none
	Roots *x509.CertPool // of certificate authorities; nil: those that the system trusts
	Agent string         // the User-Agent
	Stall time.Duration  // how long a transfer may make no progress
}

// A Client calls servers. It is safe for concurrent use.
type Client struct {
	opt       Options
	transport *http.Transport
	pause     func(context.Context, time.Duration) error // between attempts
}

// New returns a client. It needs no Close.
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

// request makes a request that carries only the program's name. The error contains nothing
// of u.
func (c *Client) request(ctx context.Context, method string, u *url.URL, body io.Reader) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, u.String(), body)
	if err != nil {
		return nil, ErrAnswer // a URL that the server named
	}
	req.Header.Set("User-Agent", c.opt.Agent)
	return req, nil
}

// Collections of the API.
const (
	pushes   = "pushes"
	requests = "requests"
)

// apiRequest makes a request to the API of a server, for a path that begins with a
// collection. It carries the token if the token belongs to that server.
func (c *Client) apiRequest(ctx context.Context, method string, s Server, body io.Reader, path ...string) (*http.Request, error) {
	req, err := c.request(ctx, method, s.url(append([]string{"api", "v2"}, path...)...), body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	if !c.opt.Token.IsZero() && s.SameOrigin(c.opt.Home) {
		req.Header.Set("Authorization", "Bearer "+c.opt.Token.Reveal())
	}
	return req, nil
}

// answer sends a request and reads the answer. A status other than success is an error. It
// follows no redirect, which would get the token, the passphrase or the push itself.
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

var redirects = []int{
	http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect,
}

func isRedirect(status int) bool { return slices.Contains(redirects, status) }

func redirected(from *url.URL, res *http.Response) error {
	if u, err := from.Parse(res.Header.Get("Location")); err == nil {
		if s, err := serverOf(u, ""); err == nil {
			return &RedirectError{plain(s.String())}
		}
	}
	return &RedirectError{}
}

// call makes a request to the API of a server, without a body, and reads the answer. prepare may
// change the request.
func (c *Client) call(ctx context.Context, method string, s Server, prepare func(*http.Request), path ...string) (object, error) {
	ctx, w := newWatch(ctx, answerTimeout)
	defer w.stop()
	req, err := c.apiRequest(ctx, method, s, nil, path...)
	if err != nil {
		return nil, err
	}
	prepare(req)
	return c.answer(ctx, w, req)
}

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
