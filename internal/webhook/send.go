package webhook

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"

	"pushbox/store"
)

const (
	sendTimeout   = 10 * time.Second // from the look-up of the name to the end of the answer
	mostAnswer    = 16 << 10         // bytes of an answer that are read, and thrown away
	mostHeader    = 16 << 10
	idleConns     = 32
	idleConnsFor  = 30 * time.Second
	dialKeepAlive = -1 // none: a connection is not kept for long
)

// A Sender sends messages where its policy allows.
type Sender struct {
	policy Policy
	client *http.Client
	now    func() time.Time
}

// NewSender returns a sender. The resolver finds addresses of names; nil stands for the
// system's.
func NewSender(p Policy, resolver *net.Resolver) *Sender {
	s := &Sender{policy: p, now: time.Now}
	s.client = &http.Client{
		Timeout: sendTimeout,
		Transport: &http.Transport{
			Proxy: nil, // it would resolve names itself, and see what is sent
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				return s.dial(ctx, resolver, network, address)
			},
			TLSHandshakeTimeout:    sendTimeout,
			ResponseHeaderTimeout:  sendTimeout,
			MaxResponseHeaderBytes: mostHeader,
			MaxIdleConns:           idleConns,
			MaxIdleConnsPerHost:    1,
			IdleConnTimeout:        idleConnsFor,
			DisableCompression:     true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return s
}

// dial connects to a host if its address is allowed, which is looked at when the
// connection is about to be made: a name may resolve to something else each time.
func (s *Sender) dial(ctx context.Context, resolver *net.Resolver, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	d := net.Dialer{
		Timeout: sendTimeout, KeepAlive: dialKeepAlive, Resolver: resolver,
		ControlContext: func(_ context.Context, network, resolved string, _ syscall.RawConn) error {
			return s.policy.admit(network, cleanHost(host), resolved)
		},
	}
	return d.DialContext(ctx, network, address)
}

// admit refuses a connection that is about to be made for a host.
func (p Policy) admit(network, host, resolved string) error {
	to, err := netip.ParseAddrPort(resolved)
	if err != nil || network != "tcp4" && network != "tcp6" || !p.permits(host, to.Addr()) {
		return denied("webhooks.allow does not permit the address that its host has")
	}
	return nil
}

// Send sends what a notice says to a webhook, once, and returns the status of the
// answer. The error is nil where a status came, whatever it is; it never tells the
// URL. It takes no longer than ten seconds.
func (s *Sender) Send(ctx context.Context, to store.HookTarget, n store.Notice) (status int, err error) {
	u, err := s.policy.Check(to.URL.Reveal())
	if err != nil {
		return 0, err
	}
	b, err := body(n)
	if err != nil {
		return 0, err
	}
	stamp, signature, err := sign(to.Secret, n.ID, s.now(), b)
	if err != nil {
		return 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(b))
	if err != nil {
		return 0, errURL // err may quote it
	}
	req.Header = http.Header{
		"Content-Type": {"application/json"}, "User-Agent": {"pushbox"},
		headerID: {n.ID}, headerTimestamp: {stamp}, headerSignature: {signature},
	}
	req.GetBody = nil // and no second try that nobody knows of
	res, err := s.client.Do(req)
	if err != nil {
		return 0, reasonOf(ctx, err)
	}
	_, _ = io.CopyN(io.Discard, res.Body, mostAnswer) // for the connection to be used again, where it is short
	_ = res.Body.Close()
	return res.StatusCode, nil
}

// Close lets go of connections that are not in use.
func (s *Sender) Close() { s.client.CloseIdleConnections() }

// Delivered reports whether an answer of that status says that a message was taken.
func Delivered(status int) bool { return status/100 == 2 }

var errStopped = errors.New("the server is stopping")
