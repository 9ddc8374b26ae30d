package store_test

import (
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// A tally counts what an observer is told.
type tally struct {
	mu   sync.Mutex
	told map[string]int
}

func (o *tally) note(format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.told == nil {
		o.told = make(map[string]int)
	}
	o.told[fmt.Sprintf(format, args...)]++
}

func (o *tally) Created(k record.Kind) { o.note("created %s", k) }
func (o *tally) Viewed()               { o.note("viewed") }
func (o *tally) Ended(c store.Cause)   { o.note("ended by %s", c) }
func (o *tally) PassphraseFailed()     { o.note("passphrase") }
func (o *tally) Compacted(err error)   { o.note("compacted %v", err) }
func (o *tally) want(t *testing.T, want map[string]int) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	if !maps.Equal(o.told, want) {
		t.Errorf("told %v, want %v", o.told, want)
	}
	o.told = nil
}

// watched is a store that tells o what becomes of pushes.
func watched(t *testing.T) (f *storetest.Fixture, o *tally) {
	t.Helper()
	o = new(tally)
	f = storetest.New(t, func(s *storetest.Setup) {
		s.Wrap = func(e record.Engine) record.Engine { return store.Observed(e, o) }
	})
	return f, o
}

func TestAnObserverIsToldWhatBecomesOfPushesAndOnce(t *testing.T) {
	t.Parallel()
	f, o := watched(t)
	ann, one := f.Account("ann@example.com"), 1
	add := func(by store.Actor, in store.NewPush) store.Token {
		t.Helper()
		in.Payload = secret.New("https://example.com")
		p, err := f.CreatePush(t.Context(), by, in)
		if err != nil {
			t.Fatal(err)
		}
		return p.Token
	}
	show := func(by store.Actor, token store.Token, passphrase string, want error) {
		t.Helper()
		if _, err := f.Retrieve(t.Context(), by, token, secret.New(passphrase), nil); !errors.Is(err, want) {
			t.Errorf("%v, not %v", err, want)
		}
	}

	last := add(anonymous, store.NewPush{Kind: record.Text, Views: &one})
	o.want(t, map[string]int{"created text": 1})
	show(anonymous, last, "", nil)
	o.want(t, map[string]int{"viewed": 1, "ended by views": 1})
	show(anonymous, last, "", nil) // it has expired
	o.want(t, nil)

	locked := add(ann, store.NewPush{Kind: record.URL, Passphrase: secret.New("right")})
	show(anonymous, locked, "wrong", record.ErrPassphrase)
	show(anonymous, locked, "", record.ErrPassphrase) // none was given
	show(ann, locked, "right", nil)                   // the owner's own look
	o.want(t, map[string]int{"created url": 1, "passphrase": 1})
	for range 2 {
		if _, err := f.DeletePush(t.Context(), ann, locked); err != nil {
			t.Fatal(err)
		}
	}
	o.want(t, map[string]int{"ended by deleted": 1})

	add(anonymous, store.NewPush{Kind: record.QR, Days: &one})
	late := add(anonymous, store.NewPush{Kind: record.Text, Days: &one})
	f.Clock.Advance(24*time.Hour - time.Minute)
	f.SweepAll()
	o.want(t, map[string]int{"created qr": 1, "created text": 1})
	f.Clock.Advance(time.Hour)
	show(anonymous, late, "", nil)
	o.want(t, map[string]int{"ended by time": 1})
	f.SweepAll()
	o.want(t, map[string]int{"ended by time": 1})

	add(ann, store.NewPush{Kind: record.Text})
	if err := f.RemoveAccount(t.Context(), storetest.Operator, "ann@example.com"); err != nil {
		t.Fatal(err)
	}
	o.want(t, map[string]int{"created text": 1, "ended by other": 1})
	if _, _, err := f.Compact(t.Context(), storetest.Operator, func(int64, int64) {}); err != nil {
		t.Fatal(err)
	}
	o.want(t, map[string]int{"compacted <nil>": 1})
}

func TestARefusedPushIsNoNewOne(t *testing.T) {
	t.Parallel()
	f, o := watched(t)
	if _, err := f.CreatePush(t.Context(), store.Actor{Account: 77}, store.NewPush{Kind: record.Text, Payload: secret.New("x")}); !errors.Is(err, record.ErrToken) {
		t.Fatal(err)
	}
	o.want(t, nil)
}

func TestStatsTellHowLongTheSweeperIsBehind(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	one := 1
	lag := func() time.Duration {
		t.Helper()
		v, err := f.Stats()
		if err != nil {
			t.Fatal(err)
		}
		return v.Lag
	}
	if _, err := f.CreatePush(t.Context(), store.Actor{}, store.NewPush{Kind: record.Text, Payload: secret.New("x"), Days: &one}); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ by, want time.Duration }{{0, 0}, {24 * time.Hour, 0}, {time.Minute, time.Minute}} {
		f.Clock.Advance(step.by)
		if got := lag(); got != step.want {
			t.Errorf("after %v more it is %v, not %v", step.by, got, step.want)
		}
	}
	f.SweepAll()
	if got := lag(); got != 0 {
		t.Errorf("after a sweep it is %v", got)
	}
}

func TestAPingIsAnsweredWhileTheStoreWorksAndChangesNothing(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	before, err := f.Engine().LatestTime(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	if after, err := f.Engine().LatestTime(t.Context()); err != nil || !after.Equal(before) {
		t.Errorf("the time kept is %v, was %v; %v", after, before, err)
	}
	if err := f.Engine().Close(); err != nil {
		t.Fatal(err)
	}
	f.Abandon()
	if err := f.Ping(t.Context()); !errors.Is(err, record.ErrClosed) {
		t.Error(err)
	}
}
