package store

import (
	"context"
	"errors"
	"testing"
)

func TestAGuessThatIsGivenUpWaitsForNoOther(t *testing.T) {
	t.Parallel()
	g := newGuesser(Guessing{Queue: 1}, 1)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	turns := 0
	turn := func() error { turns++; return nil }
	if err := g.inTurn(t.Context(), "a", func() error { return g.inTurn(gone, "a", turn) }); !errors.Is(err, context.Canceled) || turns != 0 {
		t.Errorf("behind another: %v, after %d turns", err, turns)
	}
	if err := g.inTurn(t.Context(), "a", turn); err != nil || turns != 1 {
		t.Errorf("afterwards: %v, after %d turns", err, turns)
	}
}
