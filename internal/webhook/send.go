package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"syscall"
	"time"

	"pushbox/internal/lang"
	"pushbox/store"
	"pushbox/store/record"
)

const (
	sendTimeout   = 10 * time.Second // for a message, from the look-up of the host to the end of the answer
	mostAnswer    = 16 << 10         // bytes of an answer that are read and discarded
	mostHeader    = 16 << 10
	idleConns     = 32
	idleConnsFor  = 30 * time.Second
	dialKeepAlive = -1 // none: connections are short
)

// A Sender sends messages to the addresses that its policy allows.
type Sender struct {
	policy  Policy
	words   Words
	catalog *lang.Catalog
	client  *http.Client
	now     func() time.Time
}

// NewSender returns a sender. A nil resolver means the system's.
func NewSender(p Policy, w Words, resolver *net.Resolver) *Sender {
	s := &Sender{policy: p, words: w, catalog: lang.New(), now: time.Now}
	s.client = &http.Client{
		Timeout: sendTimeout,
		Transport: &http.Transport{
			Proxy: nil, // a proxy would resolve names itself, and read the messages
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

// dial connects to a host if its address is allowed. It checks the address just before it
// connects: a name may resolve to another address each time.
func (s *Sender) dial(ctx context.Context, resolver *net.Resolver, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	d := net.Dialer{
		Timeout: s.client.Timeout, KeepAlive: dialKeepAlive, Resolver: resolver,
		ControlContext: func(_ context.Context, network, resolved string, _ syscall.RawConn) error {
			return s.policy.admit(network, cleanHost(host), resolved)
		},
	}
	return d.DialContext(ctx, network, address)
}

func (p Policy) admit(network, host, resolved string) error {
	to, err := netip.ParseAddrPort(resolved)
	if err != nil || network != "tcp4" && network != "tcp6" || !p.permits(host, to.Addr()) {
		return denied("webhooks.allow does not permit the address of its host")
	}
	return nil
}

// Send sends a notice to a webhook once, and returns the status of the answer. The error is
// nil for any status, and never contains the URL. Send takes ten seconds at most.
func (s *Sender) Send(ctx context.Context, to store.HookTarget, n store.Notice) (status int, err error) {
	u, err := s.policy.Check(to.URL.Reveal())
	if err != nil {
		return 0, err
	}
	b, header, err := s.content(to, n)
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
	req.Header = header
	for name, value := range map[string]string{"User-Agent": "pushbox", headerID: n.ID, headerTimestamp: stamp, headerSignature: signature} {
		req.Header.Set(name, value)
	}
	req.GetBody = nil // net/http must not retry by itself
	res, err := s.client.Do(req)
	if err != nil {
		return 0, reasonOf(ctx, err)
	}
	_, _ = io.CopyN(io.Discard, res.Body, mostAnswer) // so that the connection can be used again, if the answer is short
	_ = res.Body.Close()
	return res.StatusCode, nil
}

// Close closes unused connections.
func (s *Sender) Close() { s.client.CloseIdleConnections() }

// Delivered reports whether a status means that the receiver accepted the message.
func Delivered(status int) bool { return record.Delivery{Status: status}.Delivered() }

type fault struct {
	kind record.Fault
	text string
}

func (f *fault) Error() string { return f.text }

// FaultOf returns the kind of an error of Send.
func FaultOf(err error) record.Fault {
	switch f, known := errors.AsType[*fault](err); {
	case err == nil:
		return record.FaultNone
	case known:
		return f.kind
	case is[*DeniedError](err), errors.Is(err, errURL):
		return record.FaultDenied
	default:
		return record.FaultBroken
	}
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

var errStopped = errors.New("the server is stopping")

// reasonOf returns why a message could not be sent. Unlike the errors of net/http, its errors never
// contain the URL.
func reasonOf(ctx context.Context, err error) error {
	lookup, _ := errors.AsType[*net.DNSError](err)
	network, _ := errors.AsType[net.Error](err)
	switch no, isDenied := errors.AsType[*DeniedError](err); {
	case ctx.Err() != nil:
		return errStopped
	case isDenied:
		return no
	case lookup != nil && lookup.IsNotFound:
		return &fault{record.FaultName, "its host's name does not resolve"}
	case lookup != nil:
		return &fault{record.FaultName, "its host's name could not be looked up"}
	case is[*tls.CertificateVerificationError](err), is[x509.UnknownAuthorityError](err):
		return &fault{record.FaultTLS, "its certificate is not valid, or its authority is not trusted here"}
	case is[tls.RecordHeaderError](err), is[tls.AlertError](err), errors.Is(err, http.ErrSchemeMismatch):
		return &fault{record.FaultTLS, "its TLS does not work"}
	case network != nil && network.Timeout(), errors.Is(err, os.ErrDeadlineExceeded):
		return &fault{record.FaultSlow, "it did not answer within 10 seconds"}
	case errors.Is(err, syscall.ECONNREFUSED):
		return &fault{record.FaultUnreachable, "it refuses connections"}
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return &fault{record.FaultUnreachable, "it cannot be reached from here"}
	default:
		return &fault{record.FaultBroken, "the connection broke before it answered"}
	}
}
