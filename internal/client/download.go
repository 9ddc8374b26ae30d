package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	maxCuts    = 100 // attempts for one file
	maxIdle    = 8   // attempts in a row without a byte
	maxHops    = 5   // redirects of an attempt
	firstPause = 500 * time.Millisecond
	maxPause   = 30 * time.Second
	chunk      = 64 << 10 // bytes
)

// A Target receives a download; an *os.File is one.
type Target interface {
	io.WriteSeeker
	Truncate(size int64) error
}

var errRefused = errors.New("the server gave no address for the file")

var errSize = errors.New("the length of the file differs from what the server said")

// A writeError is a failure of the Target. Another attempt would not help.
type writeError struct{ error }

func (e *writeError) Unwrap() error { return e.error }

type download struct {
	client   *Client
	url      *url.URL
	dst      Target
	progress Progress

	size        int64 // size that the push reported, or below 0
	done, total int64
	version     string // the validator for If-Range; empty: there is none, and the download cannot be resumed
}

// Download fetches a file into dst, which must be empty. It resumes a download that is
// cut off, for some minutes if necessary. An error is a *CutError; dst then has the first
// Done bytes. It sends no credentials, and follows redirects.
func (c *Client) Download(ctx context.Context, f File, dst Target, p Progress) error {
	u, err := url.Parse(f.url.Reveal())
	if err != nil || f.url.IsZero() {
		return &CutError{0, f.Size, errRefused}
	}
	if p == nil {
		p = func(int64, int64) {}
	}
	d := &download{client: c, url: u, dst: dst, progress: p, size: max(f.Size, -1)}
	idle := 0
	for range maxCuts {
		before := d.done
		err = d.attempt(ctx)
		if err == nil || !again(ctx, err) {
			break
		}
		if idle++; d.done > before {
			idle = 0
		}
		if idle == maxIdle || c.pause(ctx, wait(idle, err)) != nil {
			break
		}
	}
	if err != nil {
		return &CutError{d.done, d.total, err}
	}
	return nil
}

func again(ctx context.Context, err error) bool {
	_, write := errors.AsType[*writeError](err)
	_, redirect := errors.AsType[*RedirectError](err)
	if refused, ok := errors.AsType[*StatusError](err); ok {
		s := refused.Status
		return ctx.Err() == nil && (s == http.StatusTooManyRequests || s == http.StatusRequestTimeout || s >= http.StatusInternalServerError)
	}
	return ctx.Err() == nil && !write && !redirect && !errors.Is(err, errSize)
}

func wait(idle int, err error) time.Duration {
	d := min(firstPause<<idle, maxPause)
	if refused := (*StatusError)(nil); errors.As(err, &refused) {
		d = max(d, min(refused.RetryAfter, 2*maxPause))
	}
	return d
}

func (d *download) attempt(ctx context.Context) error {
	ctx, w := newWatch(ctx, d.client.opt.Stall)
	defer w.stop()
	if d.version == "" {
		if err := d.restart(); err != nil {
			return err
		}
	}
	res, err := d.get(ctx)
	if err != nil {
		return cause(ctx, err)
	}
	defer func() { _ = res.Body.Close() }() // it was only read
	w.moved()
	rest, err := d.begin(res)
	if err != nil || !rest {
		return err
	}
	if err := d.copy(ctx, watched{res.Body, w}); err != nil {
		return cause(ctx, err)
	}
	if d.total >= 0 && d.done != d.total {
		return fmt.Errorf("the connection ended after %d of %d bytes: %w", d.done, d.total, io.ErrUnexpectedEOF)
	}
	return nil
}

func (d *download) get(ctx context.Context) (*http.Response, error) {
	at := d.url
	for range maxHops {
		req, err := d.client.request(ctx, http.MethodGet, at, nil)
		if err != nil {
			return nil, err
		}
		if d.done > 0 {
			req.Header.Set("Range", fmt.Sprintf("bytes=%d-", d.done))
			req.Header.Set("If-Range", d.version)
		}
		res, err := d.client.transport.RoundTrip(req)
		if err != nil || !isRedirect(res.StatusCode) {
			return res, err
		}
		_ = res.Body.Close() // its body does not matter
		to, err := at.Parse(res.Header.Get("Location"))
		if err != nil || to.Host == "" || to.Scheme != "https" && (to.Scheme != "http" || at.Scheme == "https") {
			return nil, redirected(at, res)
		}
		at = to
	}
	return nil, &RedirectError{}
}

func (d *download) begin(res *http.Response) (more bool, err error) {
	switch res.StatusCode {
	case http.StatusOK:
		if err := d.restart(); err != nil {
			return false, err
		}
		d.version = versionOf(res.Header)
		return true, d.setTotal(res.ContentLength)
	case http.StatusPartialContent:
		first, total, ok := contentRange(res.Header)
		if v := versionOf(res.Header); !ok || first != d.done || d.done == 0 || v != "" && v != d.version {
			return false, d.anew()
		}
		return true, d.setTotal(total)
	case http.StatusRequestedRangeNotSatisfiable:
		if _, total, ok := contentRange(res.Header); ok && d.done > 0 && total == d.done && (d.total < 0 || d.total == total) {
			return false, nil // all of it was there
		}
		return false, d.anew()
	default:
		text, _ := io.ReadAll(io.LimitReader(res.Body, chunk)) // the reason is optional
		body, _ := parseObject(text)
		return false, refusal(res, body)
	}
}

// errAnew reports an answer that does not fit the bytes that came before.
var errAnew = errors.New("the server cannot resume the download")

// anew makes the next attempt start with the first byte.
func (d *download) anew() error {
	d.version = ""
	return errAnew
}

func (d *download) setTotal(total int64) error {
	switch {
	case total < 0:
	case d.total < 0:
		d.total = total
	case d.total != total:
		return errSize
	}
	d.progress(d.done, d.total)
	return nil
}

func (d *download) restart() error {
	d.total = d.size
	if d.done == 0 {
		return nil
	}
	_, err := d.dst.Seek(0, io.SeekStart)
	if err == nil {
		err = d.dst.Truncate(0)
	}
	if err != nil {
		return &writeError{err}
	}
	d.done = 0
	return nil
}

func (d *download) copy(ctx context.Context, r io.Reader) error {
	buffer := make([]byte, chunk)
	for {
		if ctx.Err() != nil { // the data that has arrived can still be read
			return ctx.Err()
		}
		n, err := r.Read(buffer)
		if d.total >= 0 && int64(n) > d.total-d.done {
			return errSize
		}
		if n > 0 {
			if _, err := d.dst.Write(buffer[:n]); err != nil {
				return &writeError{err}
			}
			d.done += int64(n)
			d.progress(d.done, d.total)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// versionOf returns the validator for If-Range: a strong ETag, or else the time of the
// last change, which suffices because files of pushes do not change.
func versionOf(h http.Header) string {
	if tag := h.Get("ETag"); len(tag) > 2 && strings.HasPrefix(tag, `"`) && strings.HasSuffix(tag, `"`) {
		return tag
	}
	return h.Get("Last-Modified")
}

// contentRange reads the header Content-Range: where the part begins, and the length of
// the whole. first is -1 if there is no part.
func contentRange(h http.Header) (first, total int64, ok bool) {
	part, whole, ok := strings.Cut(strings.TrimPrefix(h.Get("Content-Range"), "bytes "), "/")
	total, err := strconv.ParseInt(whole, 10, 64)
	if !ok || err != nil || total < 0 {
		return 0, 0, false
	}
	if part == "*" {
		return -1, total, true
	}
	from, to, ok := strings.Cut(part, "-")
	first, err = strconv.ParseInt(from, 10, 64)
	last, lastErr := strconv.ParseInt(to, 10, 64)
	return first, total, ok && err == nil && lastErr == nil && first >= 0 && first <= last && last == total-1
}
