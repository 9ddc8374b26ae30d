package server

import "testing"

func TestSlotsAreBoundedInAllAndForAClient(t *testing.T) {
	t.Parallel()
	s := newSlots(16, 2)
	enter := func(client string, want bool) {
		t.Helper()
		if s.enter(client) != want {
			t.Errorf("%q: entered %t, with %v", client, !want, s.of)
		}
	}
	enter("a", true)
	enter("a", true)
	enter("a", false)
	for range 14 {
		enter("", true) // this machine itself
	}
	enter("b", false)
	enter("", false)
	s.leave("a")
	enter("b", true)
	s.leave("b")
	s.leave("a")
	for range 14 {
		s.leave("")
	}
	if s.all != 0 || len(s.of) != 0 {
		t.Errorf("%d are left, of %v", s.all, s.of)
	}
	if one := newSlots(1, 0); !one.enter("a") || one.enter("b") {
		t.Error("a single slot is not for one alone")
	}
}

func TestSlotsCanBeMadeFewerAndMore(t *testing.T) {
	t.Parallel()
	s := newSlots(2, 1)
	if !s.enter("a") || !s.enter("b") {
		t.Fatal("there are fewer than two")
	}
	s.resize(3, 2)
	if !s.enter("a") || s.enter("c") {
		t.Error("it was not made three, two of which a client may have")
	}
	s.resize(1, 0)
	s.leave("a")
	s.leave("b")
	if s.enter("c") {
		t.Error("it was not made one")
	}
	if s.leave("a"); !s.enter("c") || s.enter("c") {
		t.Error("what was given back is not to be had, or too much is")
	}
}
