package store_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pushbox/internal/limit"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

func TestAPassphrase(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann := f.Account("ann@example.com")
	p := storetest.Push(t, f, ann, func(in *store.NewPush) { in.Passphrase = secret.New("correct horse") })
	for _, by := range []store.Actor{ann, anonymous} {
		for _, try := range []struct {
			passphrase string
			err        error
		}{{"", record.ErrPassphrase}, {"wrong", record.ErrPassphrase}, {"correct horse ", record.ErrPassphrase}, {"correct horse", nil}} {
			got, err := f.Retrieve(ctx, by, p.Token, secret.New(try.passphrase), nil)
			if !errors.Is(err, try.err) || (err == nil) != (got.Payload.Reveal() == "s3cret") {
				t.Errorf("%q: %v", try.passphrase, err)
			}
		}
	}
	want := "creation failed_passphrase failed_passphrase owner_view failed_passphrase failed_passphrase view "
	if got := storetest.EntryKinds(t, f, ann, p); got != want {
		t.Errorf("audit log: %s", got)
	}
}

func TestGuessingIsBoundedPerClientAndPerPush(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, func(o *storetest.Setup) { o.Guessing.PerClient, o.Guessing.PerPush = 2, 5 })
	p := storetest.Push(t, f, anonymous, func(in *store.NewPush) { in.Passphrase = secret.New("right") })
	try := func(client, passphrase string) error {
		_, err := f.Retrieve(ctx, store.Actor{Client: client}, p.Token, secret.New(passphrase), nil)
		return err
	}
	expect := func(client, passphrase string, want error) {
		t.Helper()
		if err := try(client, passphrase); !errors.Is(err, want) {
			t.Fatalf("%s tries %q: %v", client, passphrase, err)
		}
	}
	expect("a", "1", record.ErrPassphrase)
	expect("a", "2", record.ErrPassphrase)
	expect("a", "right", record.ErrLocked)
	expect("known", "right", nil) // a right one is not counted
	var locked *record.LockedError
	if err := try("a", "3"); !errors.As(err, &locked) || locked.RetryAfter <= 0 || locked.RetryAfter > time.Minute {
		t.Errorf("it tells to wait %v", err)
	}
	f.Clock.Advance(time.Minute)
	expect("a", "3", record.ErrPassphrase)
	expect("b", "4", record.ErrPassphrase)
	expect("c", "5", record.ErrPassphrase)
	expect("d", "right", record.ErrLocked)
	expect("known", "right", nil) // strangers do not lock it out
	f.Clock.Advance(9 * time.Minute)
	expect("d", "right", nil)
}

func TestManyGuessesAtOnceDoNotGetPastTheLimit(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, func(o *storetest.Setup) { o.Guessing.Queue = 1000 })
	p := storetest.Push(t, f, anonymous, func(in *store.NewPush) { in.Passphrase = secret.New("right") })
	var tried atomic.Int32
	var all sync.WaitGroup
	for i := range 32 {
		all.Go(func() {
			_, err := f.Retrieve(ctx, anonymous, p.Token, secret.New(fmt.Sprint(i)), nil)
			if errors.Is(err, record.ErrPassphrase) {
				tried.Add(1)
			} else if !errors.Is(err, record.ErrLocked) {
				t.Errorf("retrieve: %v", err)
			}
		})
	}
	all.Wait()
	if tried.Load() != 5 {
		t.Errorf("%d guesses were tried", tried.Load())
	}
}

// A stalled engine counts no try that has a bound before it is told to.
type stalled struct {
	record.Engine
	goOn chan struct{}
}

func (e stalled) Tries(ctx context.Context, turn limit.Turn, at time.Time, tallies []limit.Tally) ([]limit.Standing, error) {
	if turn == limit.Count && tallies[0].Most > 0 {
		<-e.goOn
	}
	return e.Engine.Tries(ctx, turn, at, tallies)
}

// wantRefusals makes more concurrent attempts than a queue of one accepts. It fails the test unless
// some are refused, hash too while the queue is full, and the others end with want.
func wantRefusals(t *testing.T, want error, prepare func(f *storetest.Fixture) (try func(n int) error), hash func(f *storetest.Fixture) error) {
	t.Helper()
	goOn := make(chan struct{})
	f := storetest.New(t, func(s *storetest.Setup) {
		s.Guessing, s.SignIns = store.Guessing{PerClient: 1000, PerPush: 1000, Queue: 1}, store.SignInLimits{PerAccount: 1000}
		s.Wrap = func(e record.Engine) record.Engine { return stalled{e, goOn} }
	})
	try, tries := prepare(f), 8+4*runtime.GOMAXPROCS(0)
	results := make(chan error, tries)
	for n := range tries {
		go func() { results <- try(n) }()
	}
	select {
	case err := <-results:
		if !errors.Is(err, record.ErrBusy) {
			t.Errorf("the first ends with %v", err)
		}
		if err := hash(f); !errors.Is(err, record.ErrBusy) {
			t.Errorf("while the queue is full: %v", err)
		}
	case <-time.After(env.Patience):
		t.Error("none is refused")
	}
	close(goOn)
	done := 0
	for range tries - 1 {
		if err := <-results; errors.Is(err, want) {
			done++
		} else if !errors.Is(err, record.ErrBusy) {
			t.Error(err)
		}
	}
	if done == 0 {
		t.Error("all are refused")
	}
}

func TestTooManyPassphrasesAtOnceAreRefused(t *testing.T) {
	t.Parallel()
	wantRefusals(t, record.ErrPassphrase, func(f *storetest.Fixture) func(int) error {
		p := storetest.Push(t, f, anonymous, func(in *store.NewPush) { in.Passphrase = secret.New("right") })
		return func(int) error {
			_, err := f.Retrieve(ctx, anonymous, p.Token, secret.New("wrong"), nil)
			return err
		}
	}, func(f *storetest.Fixture) error {
		_, err := f.CreatePush(ctx, anonymous, store.NewPush{Kind: record.Text, Payload: secret.New("x"), Passphrase: secret.New("p")})
		return err
	})
}

func TestAWrongPassphraseTellsHowManyTriesAreLeft(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, func(o *storetest.Setup) { o.Guessing.PerClient, o.Guessing.PerPush = 3, 5 })
	p := storetest.Push(t, f, anonymous, func(in *store.NewPush) { in.Passphrase = secret.New("right") })
	for i, step := range []struct {
		client, passphrase string
		left               int
		wait               time.Duration
		after              time.Duration // passes before
	}{
		{"a", "", 3, 0, 0}, // nothing is no try
		{"a", "", 3, 0, 0},
		{"a", "1", 2, 0, 0},
		{"a", "", 2, 0, 0},
		{"a", "2", 1, 0, 10 * time.Second},
		{"a", "3", 0, 50 * time.Second, 0},
		{"a", "", 0, 50 * time.Second, 0},
		{"b", "", 2, 0, 0}, // of the push, where that is less
		{"b", "4", 1, 0, 0},
		{"a", "", 1, 0, 50 * time.Second},
		{"b", "5", 0, 9 * time.Minute, 0},
		{"c", "", 0, 9 * time.Minute, 0},
		{"c", "", 1, 0, 9 * time.Minute},
	} {
		f.Clock.Advance(step.after)
		_, err := f.Retrieve(ctx, store.Actor{Client: step.client}, p.Token, secret.New(step.passphrase), nil)
		var wrong *record.PassphraseError
		if !errors.As(err, &wrong) || !errors.Is(err, record.ErrPassphrase) || err.Error() != record.ErrPassphrase.Error() {
			t.Fatalf("step %d: %v", i, err)
		}
		if wrong.Left != step.left || wrong.RetryAfter != step.wait {
			t.Errorf("step %d: %d are left, wait %v; want %d, %v", i, wrong.Left, wrong.RetryAfter, step.left, step.wait)
		}
	}
}

func TestWithoutLimitsAnyNumberOfTriesIsLeft(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, func(o *storetest.Setup) { o.Guessing.PerClient, o.Guessing.PerPush = 0, 0 })
	p := storetest.Push(t, f, anonymous, func(in *store.NewPush) { in.Passphrase = secret.New("right") })
	_, err := f.Retrieve(ctx, anonymous, p.Token, secret.New("wrong"), nil)
	var wrong *record.PassphraseError
	if !errors.As(err, &wrong) || wrong.Left != math.MaxInt || wrong.RetryAfter != 0 {
		t.Errorf("%v, %+v", err, wrong)
	}
}
