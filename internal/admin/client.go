package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"syscall"
	"time"
)

const (
	dialTimeout = 2 * time.Second
	maxAnswer   = 64 << 20 // bytes
)

// A Client calls operations of a server. It keeps no connection open.
type Client struct {
	http    http.Client
	silence time.Duration // the longest between two lines of a stream
}

// NewClient returns a client of the server that listens at path. The server need not run
// yet. The error is ErrPathTooLong, or ErrNotSocket if something else is at path, such as a link: the owner of
// the directory could lead it to a socket that only this process may use.
func NewClient(path string) (*Client, error) {
	if err := CheckSocketPath(path); err != nil {
		return nil, err
	}
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() != fs.ModeSocket {
		return nil, fmt.Errorf("%s: %w", path, ErrNotSocket)
	}
	d := net.Dialer{Timeout: dialTimeout}
	transport := &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return d.DialContext(ctx, "unix", path)
		},
	}
	return &Client{http: http.Client{Transport: transport}, silence: maxSilence}, nil
}

func (c *Client) call(ctx context.Context, name string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, Longest)
	defer cancel()
	res, err := c.ask(ctx, name, in)
	if err != nil {
		return err
	}
	return take(ctx, res, out)
}

func (c *Client) ask(ctx context.Context, name string, in any) (*http.Response, error) {
	body, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://pushbox"+prefix+name, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	res, err := c.http.Do(req)
	switch {
	case err == nil:
		return res, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	default:
		return nil, unreached(err)
	}
}

func take(ctx context.Context, res *http.Response, out any) error {
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err = errors.Join(err, res.Body.Close()); err != nil {
		return brokenOff(ctx, err)
	}
	return understand(res.StatusCode, answer, out)
}

func brokenOff(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("the server ended while it answered: %w", err)
}

func understand(status int, answer []byte, out any) error {
	var f failure
	into := any(&f)
	if status == http.StatusOK {
		into = out
	}
	if json.Unmarshal(answer, into) != nil {
		return fmt.Errorf("%w (status %d)", errNonsense, status)
	}
	if status == http.StatusOK {
		return nil
	}
	return f.error()
}

// unreached distinguishes a server that does not run from one that did not answer.
func unreached(err error) error {
	if u := (*url.Error)(nil); errors.As(err, &u) {
		err = u.Err
	}
	op := (*net.OpError)(nil)
	switch {
	case errors.As(err, &op) && op.Op == "dial" && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED)):
		return ErrNoServer
	case op != nil && op.Op == "dial":
		return fmt.Errorf("connect to the server: %w", err)
	default:
		return fmt.Errorf("the server ended before it answered: %w", err)
	}
}
