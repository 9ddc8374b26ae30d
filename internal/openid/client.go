package openid

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	mostAnswer = 1 << 20 // bytes of an answer that are read
	mostHeader = 32 << 10
)

// newClient returns a client for the provider: it does not follow redirects, since an answer from
// another address does not come from the provider.
func newClient(roots *x509.CertPool) *http.Client {
	t := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: patience}).DialContext,
		TLSHandshakeTimeout:    patience,
		ResponseHeaderTimeout:  patience,
		MaxResponseHeaderBytes: mostHeader,
		MaxIdleConnsPerHost:    2,
		IdleConnTimeout:        30 * time.Second,
		ForceAttemptHTTP2:      true,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots},
	}
	return &http.Client{
		Timeout: patience, Transport: bounded{t},
		CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("it redirects to another address") },
	}
}

// bounded ends each answer at its bound.
type bounded struct{ http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		answer.Body = boundedBody{io.LimitReader(answer.Body, mostAnswer), answer.Body}
	}
	return answer, err
}

type boundedBody struct {
	io.Reader
	io.Closer
}

// keysRest is the least time between two times that the provider is asked for its keys because of
// tokens that any client can send.
const keysRest = 10 * time.Second

var errResting = errors.New("a request a moment ago failed")

// rarely sends at most one request in keysRest.
type rarely struct {
	http.RoundTripper
	now func() time.Time

	mu   sync.Mutex
	last time.Time
}

func (r *rarely) RoundTrip(of *http.Request) (*http.Response, error) {
	r.mu.Lock()
	now := r.now()
	rests := !now.Before(r.last) && now.Sub(r.last) < keysRest
	if !rests {
		r.last = now
	}
	r.mu.Unlock()
	if rests {
		return nil, errResting
	}
	return r.RoundTripper.RoundTrip(of)
}
