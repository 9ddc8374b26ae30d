package proctest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// Clients is how many clients of a Crowd work at the same time.
const Clients = 32

// ErrCut is the error of a request whose answer did not come whole because the server
// was killed, or said nothing but that its database is away.
var ErrCut = errors.New("no answer")

// IsCut reports whether an error is ErrCut.
func IsCut(err error) bool { return errors.Is(err, ErrCut) }

// A Caller sends requests to one server after another.
type Caller struct {
	URL      string
	HTTP     *http.Client
	Killed   atomic.Bool  // the server is killed, or about to be
	Away     atomic.Bool  // its database is away, or may be: then 503 with Retry-After is no answer, and an answer may break off
	Put      atomic.Int64 // how often it was 503
	Answered atomic.Int64 // requests that were answered otherwise
	Slowest  atomic.Int64 // the longest time that an answer took, in nanoseconds
}

// Reach sends the following requests to another server.
func (c *Caller) Reach(url string) {
	if c.HTTP != nil {
		c.HTTP.CloseIdleConnections()
	}
	c.URL = url
	c.HTTP = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: Clients}, Timeout: Patience}
	c.Killed.Store(false)
}

// Cut returns the error for an answer that did not come whole: ErrCut if the server was
// killed, else one that names the broken promise.
func (c *Caller) Cut(err error) error {
	if c.Killed.Load() || c.Away.Load() {
		return fmt.Errorf("%w: %w", ErrCut, err)
	}
	return fmt.Errorf("P7: the server runs, and its answer is not whole: %w", err)
}

// Call sends a request, with in as its JSON body unless in is nil, and decodes the
// answer into out. It returns ErrCut if the answer did not come whole, and another
// error if it has another status.
func (c *Caller) Call(method, path, bearer string, in any, status int, out any) error {
	var body io.Reader = http.NoBody
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(b)
	}
	return c.Post(method, path, bearer, "application/json", body, status, out)
}

// Post is Call with a body of any media type.
func (c *Caller) Post(method, path, bearer, contentType string, body io.Reader, status int, out any) error {
	return c.post(context.Background(), method, path, bearer, contentType, body, status, out)
}

func (c *Caller) post(ctx context.Context, method, path, bearer, contentType string, body io.Reader, status int, out any) error {
	req, err := http.NewRequestWithContext(ctx, method, c.URL+path, body)
	if err != nil {
		return err
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	if bearer != "" {
		req.Header.Set("Authorization", "Bearer "+bearer)
	}
	got, answer, err := c.Send(req)
	if err != nil {
		return err
	}
	if got != status {
		return fmt.Errorf("status %d: %s", got, answer)
	}
	return json.Unmarshal(answer, out)
}

// Send sends a request and reads the whole answer. It returns ErrCut as Call does.
func (c *Caller) Send(req *http.Request) (status int, answer []byte, err error) {
	defer c.time(time.Now())
	res, err := c.HTTP.Do(req)
	if err != nil {
		return 0, nil, c.Cut(err)
	}
	answer, err = io.ReadAll(res.Body)
	if err = errors.Join(err, res.Body.Close()); err != nil {
		return 0, nil, c.Cut(err)
	}
	return res.StatusCode, answer, c.putOff(res)
}

// time notes how long an answer took.
func (c *Caller) time(begun time.Time) {
	for took := int64(time.Since(begun)); ; {
		if most := c.Slowest.Load(); took <= most || c.Slowest.CompareAndSwap(most, took) {
			return
		}
	}
}

// errNoRetry says that a server without its database does not say when to try again.
var errNoRetry = errors.New("status 503 without Retry-After")

// putOff returns ErrCut for an answer by which a server puts the client off because its
// database is away, where that may be.
func (c *Caller) putOff(res *http.Response) error {
	if res.StatusCode != http.StatusServiceUnavailable || !c.Away.Load() {
		c.Answered.Add(1)
		return nil
	}
	c.Put.Add(1)
	if res.Header.Get("Retry-After") == "" {
		return errNoRetry
	}
	return fmt.Errorf("%w: status %d", ErrCut, res.StatusCode)
}
