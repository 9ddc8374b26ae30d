package store

import "context"

// turns bound how much of something runs at a time, and how much waits for that.
type turns struct{ waiting, running chan struct{} }

func newTurns(running, waiting int) turns {
	return turns{make(chan struct{}, waiting+running), make(chan struct{}, running)}
}

// do runs f in its turn. ErrBusy if too many wait for theirs, ctx.Err() if ctx
// ends before.
func (t turns) do(ctx context.Context, f func() error) error {
	select {
	case t.waiting <- struct{}{}:
		defer func() { <-t.waiting }()
	default:
		return ErrBusy
	}
	select {
	case t.running <- struct{}{}:
		defer func() { <-t.running }()
	case <-ctx.Done():
		return ctx.Err()
	}
	return f()
}
