package openid

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"time"
)

const (
	mostAnswer = 1 << 20 // bytes of an answer that are read
	mostHeader = 32 << 10
)

// newClient returns a client for the provider: it follows no redirect, since an answer from
// elsewhere is none of the provider's.
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
		CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("it redirects elsewhere") },
	}
}

// bounded ends each answer at its bound.
type bounded struct{ http.RoundTripper }

// RoundTrip sends the request.
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
