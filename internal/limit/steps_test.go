package limit

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pushbox/internal/testkit/env"
)

func TestAClientCountsForTheNetworksAroundIt(t *testing.T) {
	t.Parallel()
	for client, want := range map[string]string{
		"192.0.2.77":                 "[{192.0.2.77 1} {192.0.2.0/24 8}]",
		"2001:db8:1:2345::/64":       "[{2001:db8:1:2345::/64 1} {2001:db8:1:2300::/56 4} {2001:db8:1::/48 16}]",
		"2001:db8:ffff:ffff::/64":    "[{2001:db8:ffff:ffff::/64 1} {2001:db8:ffff:ff00::/56 4} {2001:db8:ffff::/48 16}]",
		"":                           "[{ 1}]",
		"account 7":                  "[{account 7 1}]",
		"192.0.2.0/24":               "[{192.0.2.0/24 1}]",
		"::ffff:192.0.2.1":           "[{::ffff:192.0.2.1 1}]",
		"0000:db8::/64 and the rest": "[{0000:db8::/64 and the rest 1}]",
	} {
		env.Equal(t, client, fmt.Sprint(Steps(client)), want)
	}
}

// addresses returns n clients of a network. Each is in as many of the smaller networks as
// there are.
func addresses(format string, n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf(format, i))
	}
	return all
}

// The clients of a network may do a multiple of what one may, and not one thing more.
func TestANetworkHasAMultipleOfTheHitsOfAClient(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		clients []string
		most    int
		outside string
	}{
		{"one address", addresses("192.0.2.%[1]d", 1), 3, "192.0.2.200"},
		{"a /24", addresses("192.0.2.%d", 100), 24, "192.0.3.1"},
		{"a /64", addresses("2001:db8:1:%x::/64", 1), 3, "2001:db8:1:1::/64"},
		{"a /56", addresses("2001:db8:1:%x::/64", 256), 12, "2001:db8:1:100::/64"},
		{"a /48", addresses("2001:db8:1:%x00::/64", 256), 48, "2001:db8:2::/64"},
	} {
		var now time.Duration
		clock := func() time.Duration { return now }
		w, r := NewWindow(3, time.Minute, 1000, clock), NewRate(3, 1000, clock)
		hits, events := 0, 0
		for range 4 {
			for _, client := range c.clients {
				if full, wait := w.TakeFor(client); !full {
					hits++
				} else if wait != time.Minute {
					t.Errorf("%s waits %v", c.name, wait)
				}
				if ok, _ := r.AllowFor(client); ok {
					events++
				}
			}
		}
		if hits != c.most || events != c.most {
			t.Errorf("%s got %d hits and %d events, not %d", c.name, hits, events, c.most)
		}
		if full, _ := w.FullFor(c.clients[0]); !full {
			t.Errorf("%s is not full", c.name)
		}
		if full, _ := w.TakeFor(c.outside); full {
			t.Errorf("%s is full for its neighbour", c.name)
		}
		if ok, _ := r.AllowFor(c.outside); !ok {
			t.Errorf("%s has no events left for its neighbour", c.name)
		}
	}
}

func TestANetworkHasAtMostHalfOfTheSlots(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		clients      []string
		total, taken int
	}{
		{addresses("192.0.2.%d", 100), 100, 16},
		{addresses("192.0.2.%d", 100), 20, 10},
		{addresses("2001:db8:1:%x::/64", 256), 100, 8},
		{addresses("2001:db8:1:%x00::/64", 256), 1000, 32},
		{addresses("2001:db8:1:%x00::/64", 256), 40, 20},
	} {
		s, taken := NewSlots(0), []string{}
		s.Resize(c.total, 2)
		for _, client := range append(c.clients, c.clients...) {
			if s.Take(Holder{Client: client}) {
				taken = append(taken, client)
			}
		}
		if len(taken) != c.taken || !s.Take(Holder{Client: "198.51.100.1"}) {
			t.Errorf("of %d slots a network took %d, not %d, or none is left", c.total, len(taken), c.taken)
		}
		s.Free(Holder{Client: "198.51.100.1"})
		for _, client := range taken {
			s.Free(Holder{Client: client})
		}
		if s.Taken() != 0 || len(s.shares.of) != 0 {
			t.Errorf("%d slots stay taken, by %v", s.Taken(), s.shares.of)
		}
	}
}

func TestANetworkHasItsShareOfAQueue(t *testing.T) {
	t.Parallel()
	q := NewPool(1).NewQueue(1, 16, 8)
	first := env.Must(q.Join("192.0.2.1"))(t)
	var places []*Place
	for _, c := range []struct {
		client string
		ok     bool
	}{
		{"192.0.2.2", true},
		{"192.0.2.3", true},
		{"192.0.2.4", false},
		{"192.0.3.4", true},
		{"2001:db8:1:1::/64", true},
		{"2001:db8:1:ff01::/64", true},
		{"2001:db8:1:ff02::/64", false},
		{"2001:db8:2::/64", true},
	} {
		p, err := q.Join(c.client)
		if (err == nil) != c.ok || err != nil && !errors.Is(err, ErrBusy) {
			t.Errorf("%s: %v", c.client, err)
		}
		if err == nil {
			places = append(places, p)
		}
	}
	places[0].Leave() // without a turn
	if p, err := q.Join("192.0.2.4"); err != nil {
		t.Errorf("a place that was given up was not free: %v", err)
	} else {
		places = append(places, p)
	}
	first.Leave()
	var all sync.WaitGroup
	for _, p := range places[1:] {
		all.Go(func() {
			defer p.Leave()
			if err := p.Wait(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// Networks take turns, and so do queues, so no one waits behind all that another sent.
func TestNetworksAndQueuesTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pool := NewPool(1)
		a, b := pool.NewQueue(1, 100, 1), pool.NewQueue(1, 100, 1)
		held, order := make(chan struct{}), make(chan string, 10)
		start := func(q *Queue, client, name string) {
			go func() {
				_ = q.Do(t.Context(), client, func() error {
					<-held
					order <- name
					return nil
				})
			}()
			synctest.Wait()
		}
		start(a, "192.0.2.1", "a1")
		for _, name := range []string{"a2", "a3", "a4"} {
			start(a, "192.0.2.2", name)
		}
		start(a, "198.51.100.1", "A1")
		start(b, "192.0.2.9", "b1")
		start(b, "192.0.2.9", "b2")
		close(held)
		synctest.Wait()
		close(order)
		got := ""
		for name := range order {
			got += name + " "
		}
		env.Equal(t, "they ran in the order", got, "a1 a2 b1 A1 b2 a3 a4 ")
	})
}

// Where two may run at a time and each queue may run one, a queue always finds its own.
func TestAQueueLeavesRoomForTheOther(t *testing.T) {
	t.Parallel()
	pool := NewPool(2)
	a, b := pool.NewQueue(1, 1, 1), pool.NewQueue(1, 1, 1)
	runs := func(p *Place) bool {
		select {
		case <-p.turn:
			return true
		default:
			return false
		}
	}
	join := func(q *Queue) *Place {
		return env.Must(q.Join(""))(t)
	}
	first, second, other := join(a), join(a), join(b)
	if !runs(first) || runs(second) || !runs(other) {
		t.Errorf("they run: %t, %t, %t", runs(first), runs(second), runs(other))
	}
	first.Leave()
	if !runs(second) {
		t.Error("the second did not run after the first")
	}
	second.Leave()
	other.Leave()
}
