package cli

import (
	"context"
	"time"

	"github.com/rs/zerolog"
)

const (
	shortestRest = 10 * time.Millisecond // between two rounds of work
	longestRest  = 5 * time.Minute
	promptly     = 500 * time.Millisecond
)

// loop works until ctx ends, at once and then whenever the work itself said so, or
// soon after sooner has a value. While it fails it waits longer each time, and
// says so under the work's name.
func loop(ctx context.Context, log zerolog.Logger, name string, sooner <-chan struct{}, work func(context.Context) (time.Duration, error)) error {
	failures := 0
	for {
		wait, err := work(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			log.Error().Err(err).Msg(name + " failed")
			failures++
		} else {
			failures = 0
		}
		hurry := sooner
		if failures > 0 {
			hurry = nil // it will be done when it can be
		}
		if !sleep(ctx, hurry, rest(wait, failures)) {
			return nil
		}
	}
}

// rest is how long to wait after a round: as it said, twice as long for each
// failure after the first, and within bounds.
func rest(wait time.Duration, failures int) time.Duration {
	for range failures - 1 {
		if wait >= longestRest {
			break
		}
		wait *= 2
	}
	return min(max(wait, shortestRest), longestRest)
}

// sleep waits for d, or for a moment once sooner has a value: there may be more of
// the same. It reports false if ctx ended first.
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
