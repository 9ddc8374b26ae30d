package cli

import (
	"context"
	"errors"
)

// A task is a goroutine with an owner, who stops it and waits for it.
type task struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when it has ended
	err    error         // what it returned, once it has ended
}

// begin starts work, which goes on when ctx ends: only stop ends it.
func begin(ctx context.Context, work func(context.Context) error) *task {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	t := &task{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(t.done)
		t.err = work(ctx)
	}()
	return t
}

// stopAll ends tasks one after the other, and returns what they returned.
func stopAll(all []*task) (err error) {
	for _, t := range all {
		err = errors.Join(err, t.stop())
	}
	return err
}

// stop ends the task and returns what it returned.
func (t *task) stop() error {
	t.cancel()
	<-t.done
	return t.err
}
