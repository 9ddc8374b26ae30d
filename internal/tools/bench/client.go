package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
)

const (
	maxAnswer = 16 << 20 // bytes of a body
	maxQuoted = 200      // bytes of an unexpected answer that an error quotes
)

// A client sends requests, one after the other, on one connection of its own.
type client interface {
	// do sends r and returns the body of the answer, which is valid until the next
	// call. An answer with another status than r expects is an error.
	do(ctx context.Context, r request) (body []byte, err error)
	close()
}

// answerError reports an answer with an unexpected status.
func answerError(r request, status string, body []byte) error {
	return fmt.Errorf("%s was answered %s: %q", r.method, status, body[:min(len(body), maxQuoted)])
}

// A netClient uses net/http as an ordinary Go program does.
type netClient struct {
	http  http.Client
	base  string
	token string
	body  bytes.Buffer
}

func newNetClient(s *subject) *netClient {
	return &netClient{base: s.address(), token: s.token, http: http.Client{
		Transport:     &http.Transport{MaxConnsPerHost: 1, MaxIdleConnsPerHost: 1},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

func (c *netClient) do(ctx context.Context, r request) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, r.method, c.base+r.path, bytes.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	if r.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.authorized && c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	c.body.Reset()
	if _, err := c.body.ReadFrom(io.LimitReader(res.Body, maxAnswer)); err != nil {
		return nil, err
	}
	if res.StatusCode != r.status {
		return nil, answerError(r, res.Status, c.body.Bytes())
	}
	return c.body.Bytes(), nil
}

func (c *netClient) close() { c.http.CloseIdleConnections() }
