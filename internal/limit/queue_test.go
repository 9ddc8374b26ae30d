package limit

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"pushbox/internal/testkit/env"
)

func TestAQueueLimitsItsWaiters(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q, held := NewPool(1).NewQueue(1, 1, 1), make(chan struct{})
		done := make(chan error, 2)
		for range 2 { // one runs, one waits
			go func() {
				done <- q.Do(t.Context(), "", func() error {
					<-held
					return nil
				})
			}()
		}
		synctest.Wait()
		env.ErrorIs(t, "one too many", q.Do(t.Context(), "", nil), ErrBusy)
		close(held)
		if err := errors.Join(<-done, <-done); err != nil {
			t.Error(err)
		}
		ran := false
		if err := q.Do(t.Context(), "", func() error { ran = true; return nil }); err != nil || !ran {
			t.Errorf("afterwards: %v", err)
		}
	})
}

func TestAWaiterWhoseContextEndsDoesNotRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q, held := NewPool(1).NewQueue(1, 1, 1), make(chan struct{})
		first := make(chan error, 1)
		go func() { first <- q.Do(t.Context(), "", func() error { <-held; return nil }) }()
		synctest.Wait()
		ctx, leave := context.WithCancel(t.Context())
		second := make(chan error, 1)
		go func() { second <- q.Do(ctx, "", nil) }()
		synctest.Wait()
		leave()
		env.ErrorIs(t, "the error", <-second, context.Canceled)
		close(held)
		if err := <-first; err != nil {
			t.Error(err)
		}
	})
}

func TestANetworkRunsHalfOfAQueue(t *testing.T) {
	t.Parallel()
	q := NewPool(4).NewQueue(4, 8, 2)
	join := func(client string) *Place { return env.Must(q.Join(client))(t) }
	crowd := []*Place{join("192.0.2.1"), join("192.0.2.2"), join("192.0.2.3"), join("192.0.2.4")}
	runs := func(p *Place) bool { return p.runs }
	if !runs(crowd[0]) || !runs(crowd[1]) || runs(crowd[2]) || runs(crowd[3]) {
		t.Error("of four operations of one network, two do not run")
	}
	others := []*Place{join("198.51.100.1"), join("203.0.113.1")}
	if !runs(others[0]) || !runs(others[1]) {
		t.Error("the operations of others wait")
	}
	others[0].Leave()
	if runs(crowd[2]) {
		t.Error("a third operation of the network runs")
	}
	if crowd[0].Leave(); !runs(crowd[2]) || runs(crowd[3]) {
		t.Error("after the end of an operation of the network, its next one does not run")
	}
	for _, p := range []*Place{crowd[1], crowd[2], crowd[3], others[1]} {
		p.Leave()
	}
	if q.running.held != 0 || len(q.running.of) != 0 || len(q.lines) != 0 {
		t.Errorf("%+v stays", q)
	}
}

func TestAQueueCanBeResized(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q, held := NewPool(1).NewQueue(1, 2, 1), make(chan struct{})
		done := make(chan error, 4)
		enter := func() { go func() { done <- q.Do(t.Context(), "", func() error { <-held; return nil }) }() }
		for range 3 { // one runs, two wait
			enter()
		}
		synctest.Wait()
		q.SetWaiting(1)
		env.ErrorIs(t, "one too many", q.Do(t.Context(), "", nil), ErrBusy)
		q.SetWaiting(3)
		enter()
		synctest.Wait()
		env.ErrorIs(t, "one too many for a longer queue", q.Do(t.Context(), "", nil), ErrBusy)
		close(held)
		for range 4 { // every waiter runs
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
}

func TestSlotsAreLimitedInTotalAndPerClient(t *testing.T) {
	t.Parallel()
	s := NewSlots(16)
	take := func(client string, want bool) {
		t.Helper()
		if s.Take(Holder{Client: client}) != want {
			t.Errorf("%q: Take returned %t, with %v taken", client, !want, s.shares.of)
		}
	}
	take("a", true)
	take("a", true)
	take("a", false)
	for range 14 {
		take("", true) // a holder without a name
	}
	take("b", false)
	take("", false)
	s.Free(Holder{Client: "a"})
	take("b", true)
	s.Free(Holder{Client: "b"})
	s.Free(Holder{Client: "a"})
	for range 14 {
		s.Free(Holder{Client: ""})
	}
	if s.Taken() != 0 || len(s.shares.of) != 0 {
		t.Errorf("%d slots stay taken, by %v", s.Taken(), s.shares.of)
	}
	if one := NewSlots(1); !one.Take(Holder{Client: "a"}) || one.Take(Holder{Client: "b"}) {
		t.Error("a single slot was not taken exactly once")
	}
}

// A sender who answers requests needs no account, and may come from many networks: a quarter is
// left to those who answer none, and half to those who answer requests of other accounts.
func TestThoseWhoAnswerRequestsLeaveSomeToOthers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		asker uint64
		most  int
		other Holder
	}{
		{0, 12, Holder{Client: "b", Account: 1}},
		{1, 8, Holder{Client: "b", Link: "another", Asker: 2}},
	} {
		s, taken := NewSlots(16), 0
		for i := range 16 {
			if name := string(rune('a' + i)); s.Take(Holder{Client: name, Link: name, Asker: c.asker}) {
				taken++
			}
		}
		if taken != c.most || !s.Take(c.other) {
			t.Errorf("they take %d of 16, not %d, or %+v has none", taken, c.most, c.other)
		}
	}
}

func TestSlotsCanBeResized(t *testing.T) {
	t.Parallel()
	s := NewSlots(2)
	if !s.Take(Holder{Client: "a"}) || !s.Take(Holder{Client: "b"}) {
		t.Fatal("fewer than two slots are free")
	}
	s.Resize(3, 2)
	if !s.Take(Holder{Client: "a"}) || s.Take(Holder{Client: "c"}) {
		t.Error("there are not three slots, two of them for one client")
	}
	s.Resize(1, 0)
	s.Free(Holder{Client: "a"})
	s.Free(Holder{Client: "b"})
	if s.Take(Holder{Client: "c"}) {
		t.Error("there is more than one slot")
	}
	if s.Free(Holder{Client: "a"}); !s.Take(Holder{Client: "c"}) || s.Take(Holder{Client: "c"}) {
		t.Error("a freed slot cannot be taken, or more than one can")
	}
}
