package store

import (
	"sync"
	"testing"
)

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestATurnWaitsForTheOperationsBeforeItAndForNoOther(t *testing.T) {
	t.Parallel()
	var e epochs
	if !isClosed(e.turn()) {
		t.Error("with no operation it waits")
	}
	first, nested := e.enter(), e.enter()
	one := e.turn()
	later := e.enter()
	two := e.turn()
	e.leave(nested)
	if isClosed(one) || isClosed(two) {
		t.Error("it did not wait")
	}
	e.leave(first)
	if !isClosed(one) || isClosed(two) {
		t.Error("the first waits for a later operation, or the second does not wait")
	}
	e.leave(later)
	if !isClosed(two) || !isClosed(e.turn()) {
		t.Error("it still waits")
	}
}

func TestTurnsEndUnderLoad(t *testing.T) {
	t.Parallel()
	var e epochs
	var g sync.WaitGroup
	stop := make(chan struct{})
	for range 4 {
		g.Go(func() {
			for !isClosed(stop) {
				e.leave(e.enter())
			}
		})
	}
	for range 1000 {
		<-e.turn()
	}
	close(stop)
	g.Wait()
	if !isClosed(e.turn()) {
		t.Error("an operation was not counted out")
	}
}
