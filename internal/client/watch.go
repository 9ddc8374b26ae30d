package client

import (
	"context"
	"io"
	"time"
)

// A watch ends a transfer in which nothing moves: it cancels the transfer's
// context with ErrStalled.
type watch struct {
	timer  *time.Timer
	limit  time.Duration
	cancel context.CancelCauseFunc
}

// newWatch returns a watch, and the context that it may end. The watch runs
// until stop, which must be called, and ends the context, too.
func newWatch(ctx context.Context, limit time.Duration) (context.Context, *watch) {
	ctx, cancel := context.WithCancelCause(ctx)
	return ctx, &watch{time.AfterFunc(limit, func() { cancel(ErrStalled) }), limit, cancel}
}

// moved starts the time anew.
func (w *watch) moved() { w.allow(w.limit) }

// allow gives what comes next a time of its own.
func (w *watch) allow(limit time.Duration) { w.timer.Reset(limit) }

func (w *watch) pause() { w.timer.Stop() }

func (w *watch) stop() {
	w.timer.Stop()
	w.cancel(nil)
}

// A watched reader tells a watch of what moves.
type watched struct {
	r io.Reader
	w *watch
}

func (r watched) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if n > 0 {
		r.w.moved()
	}
	return n, err
}
