package daemon

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"

	"pushbox/store"
	"pushbox/store/record"
)

// A task is a goroutine that its owner stops and waits for.
type task struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when it has ended
	err    error         // its error, once it has ended
}

// begin starts work. Its context does not end with ctx: only stop ends it.
func begin(ctx context.Context, work func(context.Context) error) *task {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	t := &task{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(t.done)
		t.err = work(ctx)
	}()
	return t
}

func stopAll(all []*task) (err error) {
	for _, t := range all {
		err = errors.Join(err, t.stop())
	}
	return err
}

func (t *task) stop() error {
	t.cancel()
	<-t.done
	return t.err
}

const (
	shortestRest = 10 * time.Millisecond // between two rounds of work
	longestRest  = 5 * store.SweepPeriod // caps the waits of all loops, that of sweeps included
	promptly     = 500 * time.Millisecond
)

// loop calls work until ctx ends: at once, then after the time that work returned, or soon
// after sooner has a value. It logs an error under the name, but for that of a database that
// cannot be used, which the engine reports once. The wait after an error doubles with each
// further one.
func loop(ctx context.Context, log zerolog.Logger, name string, sooner <-chan struct{}, work func(context.Context) (time.Duration, error)) error {
	failures := 0
	for {
		wait, err := work(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			if !errors.Is(err, record.ErrUnavailable) {
				log.Error().Err(err).Msg(name + " failed")
			}
			failures++
		} else {
			failures = 0
		}
		hurry := sooner
		if failures > 0 {
			hurry = nil // the wait after an error is not shortened
		}
		if !sleep(ctx, hurry, rest(wait, failures)) {
			return nil
		}
	}
}

// rest returns how long to wait after a round: the time that work returned, doubled for each
// failure after the first, within bounds.
func rest(wait time.Duration, failures int) time.Duration {
	for range failures - 1 {
		if wait >= longestRest {
			break
		}
		wait *= 2
	}
	return min(max(wait, shortestRest), longestRest)
}

// sleep waits for d. Once sooner has a value it waits only a moment longer, since more
// values may follow. It reports false if ctx ended first.
func sleep(ctx context.Context, sooner <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			return true
		case <-sooner:
			sooner = nil
			t.Reset(min(d, promptly))
		case <-ctx.Done():
			return false
		}
	}
}
