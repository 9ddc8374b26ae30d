package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"pushbox/internal/instance"
	"pushbox/internal/testkit/env"
	"pushbox/store/record"
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
		err := loop(ctx, zerolog.New(&out), "a sweep", nil, func(context.Context) (time.Duration, error) {
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

// That the database cannot be used, the engine tells once.
func TestWorkIsSilentWhileTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var out bytes.Buffer
		n := 0
		_ = loop(ctx, zerolog.New(&out), "a sweep", nil, func(context.Context) (time.Duration, error) {
			if n++; n == 3 {
				cancel()
			}
			return time.Second, fmt.Errorf("sweep: %w", []error{record.ErrUnavailable, record.ErrStandby}[n%2])
		})
		if n != 3 || out.Len() > 0 {
			t.Errorf("after %d rounds: %s", n, &out)
		}
	})
}

func TestTheSweeperStopsWhileItRests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sweeper := begin(t.Context(), func(ctx context.Context) error {
			return loop(ctx, zerolog.Nop(), "a sweep", nil, func(context.Context) (time.Duration, error) { return time.Minute, nil })
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

func TestTheSweeperComesSoonWhereThereIsWork(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		wait, rest time.Duration
		err        error
	}{
		"long before its time":  {time.Minute, promptly, nil},
		"just before its time":  {time.Second / 4, time.Second / 4, nil},
		"not while sweeps fail": {10 * time.Second, 10 * time.Second, errors.New("broken")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				sooner := make(chan struct{}, 1)
				var rounds []time.Time
				_ = loop(ctx, zerolog.Nop(), "a sweep", sooner, func(context.Context) (time.Duration, error) {
					if rounds = append(rounds, time.Now()); len(rounds) == 2 {
						cancel()
					}
					select {
					case sooner <- struct{}{}:
					default:
					}
					return c.wait, c.err
				})
				env.Equal(t, "it rested", rounds[1].Sub(rounds[0]), c.rest)
			})
		})
	}
}

// That the database file was deleted is logged once, with what to do, and the sweeps continue.
func TestALostDatabaseFileIsLoggedOnce(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be removed there")
	}
	cfg := settingsFor(t.TempDir())
	s := opened(t, cfg)
	defer closed(t, s)
	var log bytes.Buffer
	d := daemon{store: s, log: zerolog.New(&log)}
	sweep := func() {
		if _, err := d.sweep(t.Context()); err != nil {
			t.Error(err)
		}
	}
	sweep()
	if log.Len() > 0 {
		t.Errorf("before, the log says %s", &log)
	}
	env.OK(t, os.Remove(instance.Database(cfg)))
	sweep()
	sweep()
	if said := log.String(); strings.Count(said, "\n") != 1 || !strings.Contains(said, `"level":"error"`) || !strings.Contains(said, "pushbox backup FILE") {
		t.Errorf("the log says %s", said)
	}
}
