package cli

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
)

func TestTheSweeperRestsAsLongAsItIsToldAndLongerAfterFailures(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	outcomes := []struct {
		wait time.Duration
		err  error
		rest time.Duration // expected
	}{
		{time.Minute, nil, time.Minute},
		{0, nil, shortestRest},
		{10 * time.Second, broken, 10 * time.Second},
		{10 * time.Second, broken, 20 * time.Second},
		{10 * time.Second, broken, 40 * time.Second},
		{5 * time.Second, nil, 5 * time.Second},
		{time.Hour, nil, longestRest},
		{10 * time.Second, broken, 10 * time.Second},
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var out bytes.Buffer
		var got, want []time.Duration
		last, n := time.Now(), 0
		err := loop(ctx, zerolog.New(&out), "a sweep", func(context.Context) (time.Duration, error) {
			if n > 0 {
				got, want = append(got, time.Since(last)), append(want, outcomes[n-1].rest)
			}
			last = time.Now()
			if n == len(outcomes) {
				cancel()
				return 0, context.Canceled
			}
			n++
			return outcomes[n-1].wait, outcomes[n-1].err
		})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("it rested %v, want %v (%v)", got, want, err)
		}
		if lines := strings.Count(out.String(), "a sweep failed"); lines != 4 {
			t.Errorf("%d failures were logged:\n%s", lines, &out)
		}
	})
}

func TestTheSweeperStopsWhileItRests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sweeper := begin(t.Context(), func(ctx context.Context) error {
			return loop(ctx, zerolog.Nop(), "a sweep", func(context.Context) (time.Duration, error) { return time.Minute, nil })
		})
		synctest.Wait()
		start := time.Now()
		if err := sweeper.stop(); err != nil || time.Since(start) != 0 {
			t.Errorf("it took %v, %v", time.Since(start), err)
		}
	})
}

func TestNoNumberOfFailuresMakesTheRestTooLong(t *testing.T) {
	t.Parallel()
	for _, failures := range []int{6, 64, 1 << 20} {
		if got := rest(10*time.Second, failures); got != longestRest {
			t.Errorf("after %d failures it rests %v", failures, got)
		}
	}
}
