package client

import (
	"context"
	"fmt"
	"io"
	"net/http"
)

// Visit requests a path of a server as a visitor without an account does, and returns the answer,
// of at most 16 MiB. It follows no redirect, and uses no view of a push.
func (c *Client) Visit(ctx context.Context, s Server, path string) (status int, header http.Header, body []byte, err error) {
	ctx, w := newWatch(ctx, answerTimeout)
	defer w.stop()
	req, err := c.request(ctx, http.MethodGet, s.url(path), nil)
	if err != nil {
		return 0, nil, nil, err
	}
	req.Header.Set("Accept", "text/html,*/*;q=0.8")
	res, err := c.transport.RoundTrip(req)
	if err != nil {
		return 0, nil, nil, cause(ctx, err)
	}
	defer func() { _ = res.Body.Close() }() // it was only read
	body, err = io.ReadAll(io.LimitReader(watched{res.Body, w}, maxAnswer+1))
	switch {
	case err != nil:
		return 0, nil, nil, cause(ctx, err)
	case len(body) > maxAnswer:
		return 0, nil, nil, fmt.Errorf("the answer is longer than %d MiB", maxAnswer>>20)
	}
	return res.StatusCode, res.Header, body, nil
}
