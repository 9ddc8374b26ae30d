package admin

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

const (
	beat        = 250 * time.Millisecond // between two lines
	lineTimeout = 10 * time.Second       // to send a line
	maxSilence  = time.Minute            // for which a client waits for a line
)

// A line is a part of the answer of a long operation, which is lines of JSON. Lines are sent even
// without progress, so that each end knows that the other one is alive. The last line has the
// outcome or the failure.
type line struct {
	At      *position       `json:",omitempty"`
	Outcome json.RawMessage `json:",omitempty"`
	Failure *failure        `json:",omitempty"`
}

type position struct{ Done, Total int64 }

// A stream sends the answer of a long operation.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	at      atomic.Pointer[position] // not sent yet; nil: none
}

func newStream(w http.ResponseWriter) *stream {
	return &stream{w: w, control: http.NewResponseController(w)}
}

func (s *stream) reply(ctx context.Context, work func(context.Context, Progress) (any, error)) {
	s.w.Header().Set("Content-Type", "application/x-ndjson")
	out, err := s.during(ctx, work)
	last := line{At: s.at.Swap(nil)}
	if err == nil {
		last.Outcome, err = json.Marshal(out)
	}
	if err != nil {
		f := newFailure(err)
		last.Failure = &f
	}
	_ = s.send(last) // the caller may have gone
}

// during does the work, and sends lines meanwhile. If a line cannot be sent, the caller has left,
// and the context of the work ends.
func (s *stream) during(ctx context.Context, work func(context.Context, Progress) (any, error)) (any, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		if s.keepSending(done) != nil {
			cancel()
		}
	}()
	defer func() { close(done); <-ended }()
	return work(ctx, func(done, total int64) { s.at.Store(&position{done, total}) })
}

// keepSending sends a line at each beat until the work is done.
func (s *stream) keepSending(done <-chan struct{}) error {
	t := time.NewTicker(beat)
	defer t.Stop()
	for {
		select {
		case <-done:
			return nil
		case <-t.C:
			if err := s.send(line{At: s.at.Swap(nil)}); err != nil {
				return err
			}
		}
	}
}

func (s *stream) send(l line) error {
	return errors.Join(
		s.control.SetWriteDeadline(time.Now().Add(lineTimeout)),
		json.NewEncoder(s.w).Encode(l),
		s.control.Flush(),
	)
}

// follow calls a long operation, and passes its progress to tell. If follow returns early,
// the server ends the operation.
func (c *Client) follow(ctx context.Context, name string, in, out any, tell Progress) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silent := time.AfterFunc(c.silence, func() { cancel(ErrSilent) })
	defer silent.Stop()
	res, err := c.ask(ctx, name, in)
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return take(ctx, res, out)
	}
	defer func() { _ = res.Body.Close() }() // the answer was read, or is given up
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, maxAnswer)
	lines.Split(wholeLines)
	for lines.Scan() {
		silent.Reset(c.silence)
		if last, err := hear(lines.Bytes(), out, tell); last || err != nil {
			return err
		}
	}
	if err = lines.Err(); err == nil {
		err = io.ErrUnexpectedEOF
	}
	return brokenOff(ctx, err)
}

// wholeLines splits into lines. Unlike bufio.ScanLines, it does not return a last line
// that has no end.
func wholeLines(data []byte, _ bool) (advance int, text []byte, err error) {
	return bufio.ScanLines(data, false)
}

func hear(text []byte, out any, tell Progress) (last bool, err error) {
	var l line
	if json.Unmarshal(text, &l) != nil {
		return false, errNonsense
	}
	if l.At != nil {
		tell(l.At.Done, l.At.Total)
	}
	switch {
	case l.Failure != nil:
		return true, l.Failure.error()
	case l.Outcome == nil:
		return false, nil
	case json.Unmarshal(l.Outcome, out) != nil:
		return true, errNonsense
	}
	return true, nil
}

var errNonsense = errors.New("the server's answer is malformed")
