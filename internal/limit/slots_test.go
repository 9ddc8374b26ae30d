package limit

import "testing"

func TestSlotsAreLimitedInTotalAndPerClient(t *testing.T) {
	t.Parallel()
	s := NewSlots(16, 2)
	take := func(client string, want bool) {
		t.Helper()
		if s.Take(client) != want {
			t.Errorf("%q: Take returned %t, with %v taken", client, !want, s.of)
		}
	}
	take("a", true)
	take("a", true)
	take("a", false)
	for range 14 {
		take("", true) // a client without a name
	}
	take("b", false)
	take("", false)
	s.Free("a")
	take("b", true)
	s.Free("b")
	s.Free("a")
	for range 14 {
		s.Free("")
	}
	if s.taken != 0 || len(s.of) != 0 {
		t.Errorf("%d slots stay taken, by %v", s.taken, s.of)
	}
	if one := NewSlots(1, 0); !one.Take("a") || one.Take("b") {
		t.Error("a single slot was not taken exactly once")
	}
}

func TestSlotsCanBeResized(t *testing.T) {
	t.Parallel()
	s := NewSlots(2, 1)
	if !s.Take("a") || !s.Take("b") {
		t.Fatal("fewer than two slots are free")
	}
	s.Resize(3, 2)
	if !s.Take("a") || s.Take("c") {
		t.Error("there are not three slots, two of them for one client")
	}
	s.Resize(1, 0)
	s.Free("a")
	s.Free("b")
	if s.Take("c") {
		t.Error("there is more than one slot")
	}
	if s.Free("a"); !s.Take("c") || s.Take("c") {
		t.Error("a freed slot cannot be taken, or more than one can")
	}
}
