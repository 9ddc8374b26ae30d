package store_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/cold"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// For any trace of the clock, with jumps from a second to ten years, crashes and
// restarts: no push that was reported as expired comes back, a clock in doubt destroys
// nothing, no push lives beyond a time that is agreed, and the store's time never runs
// back.
//
// PUSHBOX_TEST_CLOCK_TRACES sets the number of traces.
func TestNoTraceOfTheClockBringsAnythingBackOrEndsItTooSoon(t *testing.T) {
	t.Parallel()
	n := env.Length(t, "PUSHBOX_TEST_CLOCK_TRACES")
	seen := make(map[string]int)
	storetest.CheckInBatches(t, n, func(t *testing.T, _ int) func(*rapid.T) {
		return func(check *rapid.T) { runTrace(t, check, seen) }
	})
	if t.Logf("%v", seen); n >= 100 && !t.Failed() {
		for _, what := range []string{"delivered", "expired", "doubted", "destroyed", "purged", "create doubted"} {
			if seen[what] == 0 {
				t.Errorf("nothing was %s", what)
			}
		}
	}
}

// A trace is a store, its clock, and pushes in it.
type trace struct {
	*rapid.T
	f       *storetest.Fixture
	oracle  clockOracle
	crashed atomic.Bool // the store can keep nothing
	between func()      // runs between two processes
	pushes  []*tracePush
	seen    map[string]int // what happened, in all traces
}

// A tracePush is a push, and what callers were told of it.
type tracePush struct {
	store.PushInfo
	owned bool
	ended bool // a caller was told that it has expired
	gone  bool
}

func runTrace(t *testing.T, check *rapid.T, seen map[string]int) {
	s := &property{TB: t, check: check}
	defer s.end()
	x := &trace{T: check, seen: seen}
	x.f = storetest.New(s, storetest.InMemory(s), x.setup)
	x.read()
	x.sweep(check)
	x.add(true, 10*365*day) // it is never purged, and each retrieval of it makes the store read its clock
	for range 3 {
		x.create(check)
	}
	check.Repeat(map[string]func(*rapid.T){
		"": x.look, "create": x.create, "retrieve": x.retrieve, "sweep": x.sweep,
		"time passes": x.pass, "ten minutes": x.passGrace, "ahead": x.ahead, "back": x.back,
		"restart": x.restart, "crash": x.crash,
	})
}

func (x *trace) setup(o *storetest.Setup) {
	for kind, terms := range o.Terms {
		terms.Days.Max, terms.Views.Max = 10*366, 1000
		o.Terms[kind] = terms
	}
	o.Wrap = func(e record.Engine) record.Engine {
		if x.between != nil {
			x.between()
		}
		return forgetful{e, &x.crashed}
	}
}

// A forgetful engine keeps no time while the store crashes.
type forgetful struct {
	record.Engine
	crashed *atomic.Bool
}

func (e forgetful) KeepTime(ctx context.Context, t time.Time) (time.Time, error) {
	if e.crashed.Load() {
		t = time.Time{}
	}
	return e.Engine.KeepTime(ctx, t)
}

func (x *trace) read() reading {
	r := reading{x.f.Clock.Now(), x.f.Clock.Elapsed()}
	x.oracle.read(r)
	return r
}

// span draws a time from a second to ten years, often one about which something
// changes.
func span(t *rapid.T) time.Duration {
	const year = 365 * day
	unit := rapid.SampledFrom([]time.Duration{time.Second, time.Minute, time.Hour, day, 30 * day, year}).Draw(t, "unit")
	d := min(unit*time.Duration(rapid.IntRange(1, 60).Draw(t, "units")), 10*year)
	return max(d+time.Duration(rapid.IntRange(-1, 1).Draw(t, "more"))*time.Millisecond, time.Second)
}

func (x *trace) pass(t *rapid.T) { x.f.Clock.Advance(min(span(t), 365*day)) }

func (x *trace) passGrace(t *rapid.T) {
	x.f.Clock.Advance(grace + time.Duration(rapid.IntRange(-1, 1).Draw(t, "more"))*time.Millisecond)
}

func (x *trace) ahead(t *rapid.T) { x.f.Clock.Jump(span(t)) }
func (x *trace) back(t *rapid.T)  { x.f.Clock.Jump(-span(t)) }

func (x *trace) restart(t *rapid.T) { x.start(t, false) }
func (x *trace) crash(t *rapid.T)   { x.start(t, true) }

// start has another process take over. While there is none, the clock may go anywhere.
func (x *trace) start(t *rapid.T, crashed bool) {
	x.read() // closing does
	x.crashed.Store(crashed)
	x.between = func() {
		x.crashed.Store(false)
		x.oracle.restart(crashed)
		switch rapid.SampledFrom([]string{"at once", "later", "ahead", "back"}).Draw(t, "started") {
		case "later":
			x.pass(t)
		case "ahead":
			x.ahead(t)
		case "back":
			x.back(t)
		}
	}
	x.f.Reopen()
	x.read()
	x.sweep(t)
}

func (x *trace) sweep(*rapid.T) {
	x.read()
	x.f.SweepAll()
	x.oracle.swept()
	for i, p := range x.pushes {
		if !p.gone && x.find(p).Live() && !p.ExpiresAt.After(x.oracle.certain) {
			x.Fatalf("push %d is not destroyed, although its time is over by %v", i, x.oracle.certain.Sub(p.ExpiresAt))
		}
	}
}

func (x *trace) create(t *rapid.T) {
	x.add(rapid.Bool().Draw(t, "owned"), max(span(t), time.Minute))
}

func (x *trace) add(owned bool, lifetime time.Duration) {
	r, by := x.read(), anonymous
	if owned {
		by = x.owner()
	}
	in := store.NewPush{Kind: record.Text, Payload: secret.New("s3cret"), Lifetime: lifetime, Views: ptr(1000)}
	p, err := x.f.CreatePush(ctx, by, in)
	switch {
	case errors.Is(err, record.ErrClock) && r.wall.After(x.oracle.certain.Add(trusted)):
		x.seen["create doubted"]++
	case err != nil:
		x.Fatalf("create: %v", err)
	case p.CreatedAt.Before(x.oracle.certain) || p.CreatedAt.After(latest(r.wall, x.oracle.possible)):
		x.Fatalf("it was created at %v", p.CreatedAt)
	default:
		x.pushes = append(x.pushes, &tracePush{PushInfo: p, owned: owned})
	}
}

// owner is the account that owns what is owned.
func (x *trace) owner() store.Actor {
	const email = "ann@example.com"
	a, err := cold.AccountByEmail(ctx, x.f.Engine(), email)
	if errors.Is(err, record.ErrNotFound) {
		a.Email = email
		a.ID, err = cold.CreateAccount(ctx, x.f.Engine(), a, storetest.Told(x.f.Engine()))
	}
	if err != nil {
		x.Fatal(err)
	}
	return store.Actor{Account: a.ID}
}

func (x *trace) retrieve(*rapid.T) {
	r := x.read()
	for _, p := range x.pushes {
		if !p.gone {
			x.ask(r, p)
		}
	}
}

// ask retrieves a push.
func (x *trace) ask(r reading, p *tracePush) {
	got, err := x.f.Retrieve(ctx, anonymous, p.Token, secret.Text{}, nil)
	over, open := !p.ExpiresAt.After(x.oracle.certain), p.ExpiresAt.After(latest(r.wall, x.oracle.possible))
	switch {
	case errors.Is(err, record.ErrClock) && !p.ended && !over && !open:
		x.seen["doubted"]++
	case err != nil:
		x.Fatalf("retrieve: %v %s", err, x.tell(p))
	case !got.Payload.IsZero():
		if x.seen["delivered"]++; p.ended || over || !p.ExpiresAt.After(r.wall) {
			x.Fatalf("it is delivered %s", x.tell(p))
		}
	default:
		if x.seen["expired"]++; p.ExpiresAt.After(x.oracle.possible) {
			x.Fatalf("it has expired too soon %s", x.tell(p))
		}
		p.ended = true
	}
}

// look compares what is kept of each push with what may be.
func (x *trace) look(*rapid.T) {
	x.read()
	for _, p := range x.pushes {
		if p.gone {
			continue
		}
		got := x.find(p)
		switch {
		case p.gone:
			continue
		case got.Live() && p.ended:
			x.Fatalf("it has come back %s", x.tell(p))
		case !got.Live() && !p.ended:
			if x.seen["destroyed"]++; p.ExpiresAt.After(x.oracle.possible) {
				x.Fatalf("it was destroyed too soon %s", x.tell(p))
			}
			p.ended = true
		}
		if got.At.Before(x.oracle.certain) {
			x.Fatalf("the time went back to %v %s", got.At, x.tell(p))
		}
	}
}

// find looks a push up, and records if it is gone. An anonymous push may be gone
// a day after its end.
func (x *trace) find(p *tracePush) store.PushInfo {
	got, err := x.f.Preview(ctx, p.Token)
	switch {
	case errors.Is(err, record.ErrNotFound):
		if p.gone = true; p.owned || p.ExpiresAt.Add(day).After(x.oracle.possible) {
			x.Fatalf("it was purged too soon %s", x.tell(p))
		}
		x.seen["purged"]++
	case err != nil:
		x.Fatalf("preview: %v", err)
	}
	return got
}

// tell is what is needed to see the cause of a failure.
func (x *trace) tell(p *tracePush) string {
	now := x.oracle.seen[len(x.oracle.seen)-1]
	return fmt.Sprintf("(clock %v, running for %v; certain %v, possible %v; push until %v, ended %t)",
		now.wall, now.mono, x.oracle.certain, x.oracle.possible, p.ExpiresAt, p.ended)
}

// A property is a testing.TB that lasts for one check of a property: a fixture that is
// made with it fails that check. Its maker defers end.
type property struct {
	testing.TB
	check *rapid.T
	after []func()
}

func (p *property) Helper()                           {}
func (p *property) Errorf(format string, args ...any) { p.check.Errorf(format, args...) }
func (p *property) Error(args ...any)                 { p.check.Error(args...) }
func (p *property) Fatalf(format string, args ...any) { p.check.Fatalf(format, args...) }
func (p *property) Fatal(args ...any)                 { p.check.Fatal(args...) }
func (p *property) Failed() bool                      { return p.check.Failed() }
func (p *property) Cleanup(f func())                  { p.after = append(p.after, f) }

// end runs what Cleanup registered, last first.
func (p *property) end() {
	for len(p.after) > 0 {
		last := p.after[len(p.after)-1]
		p.after = p.after[:len(p.after)-1]
		last()
	}
}
