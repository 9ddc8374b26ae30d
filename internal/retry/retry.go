// Package retry is how the senders of an outbox try again: how long they wait, what
// ends the wait, and how long they may continue after a stop.
package retry

import (
	"context"
	"math/rand/v2"
	"time"
)

// A Policy says how long to wait between two tries: First after the first failure, then
// twice as long after each further one, up to Most.
type Policy struct{ First, Most time.Duration }

// After returns how long to wait after a failure that followed n others: up to a fifth
// more or less than the policy says, so that messages that failed together are not sent
// together again.
func (p Policy) After(n int) time.Duration {
	wait := p.First
	for range n {
		if wait *= 2; wait >= p.Most {
			wait = p.Most
			break
		}
	}
	return wait - wait/5 + rand.N(wait/5*2+1)
}

// Linger returns a context that ends grace after ctx does, so that work under way can
// finish after a stop. The caller calls end when that work is done.
func Linger(ctx context.Context, grace time.Duration) (longer context.Context, end context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		t := time.NewTimer(grace)
		defer t.Stop()
		select {
		case <-t.C:
			cancel()
		case <-longer.Done():
		}
	})
	return longer, func() { stop(); cancel() }
}

// News are channels that signal more work. Either may be nil.
type News [2]<-chan struct{}

// Rounds runs round until ctx ends. A round looks once for work, does or begins it, and
// returns how long to wait until the next round and whether news may end that wait.
// Between two rounds it waits at least rest, and at least four times as long as the
// last round took, since to read a long outbox takes time that other work needs.
func Rounds(ctx context.Context, rest time.Duration, news News, round func() (wait time.Duration, early bool)) {
	for ctx.Err() == nil {
		begun := time.Now()
		wait, early := round()
		if least := max(rest, 4*time.Since(begun)); early {
			waitForNews(ctx, wait, least, news)
		} else {
			waitForNews(ctx, wait, least, News{})
		}
	}
}

// waitForNews waits for d, or until there is news, but at least for least.
func waitForNews(ctx context.Context, d, least time.Duration, news News) {
	end, soonest := time.NewTimer(max(d, least)), time.NewTimer(least)
	defer end.Stop()
	defer soonest.Stop()
	select {
	case <-end.C:
		return
	case <-ctx.Done():
		return
	case <-news[0]:
	case <-news[1]:
	}
	select {
	case <-soonest.C:
	case <-ctx.Done():
	}
}
