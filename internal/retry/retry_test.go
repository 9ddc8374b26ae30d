package retry

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"pushbox/internal/testkit/env"
)

func TestPausesGrowToTheirBound(t *testing.T) {
	t.Parallel()
	for _, p := range []struct {
		policy Policy
		want   []time.Duration
	}{
		{Policy{5 * time.Second, time.Hour}, []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second, 40 * time.Second}},
		{Policy{time.Second, 10 * time.Second}, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 10 * time.Second, 10 * time.Second}},
	} {
		for n, want := range p.want {
			for range 100 {
				if got := p.policy.After(n); got < want*4/5 || got > want*6/5 {
					t.Errorf("after %d failures: %v", n+1, got)
				}
			}
		}
	}
	if got := (Policy{5 * time.Second, time.Hour}).After(1 << 30); got < 48*time.Minute || got > 72*time.Minute {
		t.Errorf("after many failures: %v", got)
	}
}

func TestALingeringContextEndsAfterItsGraceOrWithItsWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		longer, end := Linger(ctx, time.Second)
		defer end()
		stop()
		time.Sleep(time.Second - time.Nanosecond)
		if longer.Err() != nil {
			t.Error("it ended before its grace")
		}
		time.Sleep(2 * time.Nanosecond)
		if longer.Err() == nil {
			t.Error("it goes on after its grace")
		}
		other, end := Linger(t.Context(), time.Second)
		if end(); other.Err() == nil {
			t.Error("it goes on after end was called")
		}
	})
}

func TestNewsEndAWaitButNotTheRest(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		early bool
		want  time.Duration
	}{"waiting for news": {true, time.Second}, "not waiting for news": {false, time.Minute}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				news := make(chan struct{}, 1)
				news <- struct{}{}
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				var begun []time.Time
				Rounds(ctx, time.Second, News{nil, news}, func() (time.Duration, bool) {
					if begun = append(begun, time.Now()); len(begun) == 2 {
						stop()
					}
					return time.Minute, test.early
				})
				env.Equal(t, "the second round began after", begun[1].Sub(begun[0]), test.want)
			})
		})
	}
}
