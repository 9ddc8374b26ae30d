package server

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"pushbox/config"
)

func aRequest(ctx context.Context) *request {
	return &request{ctx: ctx}
}

// mustEnter has a body enter that takes n bytes, which there are.
func (b *bodies) mustEnter(t *testing.T, n int64) *share {
	t.Helper()
	s := b.enter(aRequest(t.Context()))
	if err := s.hold(n); err != nil {
		t.Fatalf("a body of %d bytes: %v", n, err)
	}
	return s
}

// crowded fails the test unless errCrowded comes, and comes when it should.
func crowded(t *testing.T, ask func() error) {
	t.Helper()
	begin := time.Now()
	if err := ask(); !errors.Is(err, errCrowded) || time.Since(begin) != bodyWait {
		t.Errorf("after %v: %v", time.Since(begin), err)
	}
}

func TestLargeBodiesShareTheirMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBodies(4 * smallBody)
		first, second := b.mustEnter(t, 2*smallBody), b.mustEnter(t, 2*smallBody) // all there is
		b.mustEnter(t, 0).done()
		third := b.enter(aRequest(t.Context()))
		crowded(t, func() error { return third.hold(smallBody + 1) })
		time.AfterFunc(bodyWait/2, first.done)
		b.mustEnter(t, smallBody+1).done()
		second.done()
		b.mustEnter(t, 1<<40).done() // no more than there is
		b.mustEnter(t, 2*smallBody).done()
	})
}

func TestABodyGivesBackWhatItDoesNotNeed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBodies(4 * smallBody)
		large := b.mustEnter(t, 4*smallBody)
		if err := large.hold(smallBody); err != nil {
			t.Fatal(err)
		}
		other := b.mustEnter(t, 3*smallBody)
		crowded(t, func() error { return large.hold(smallBody + 1) })
		time.AfterFunc(bodyWait/2, other.done)
		if err := large.hold(4 * smallBody); err != nil {
			t.Errorf("there was memory again: %v", err)
		}
		if err := large.hold(9 * smallBody); err != nil {
			t.Errorf("one body alone must get on: %v", err)
		}
		large.done()
		b.mustEnter(t, 4*smallBody).done()
	})
}

func TestUploadsThatWaitForEachOtherEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBodies(4 * smallBody)
		one := b.mustEnter(t, 2*smallBody)
		two := b.mustEnter(t, 2*smallBody)
		begin := time.Now()
		ended := make(chan error)
		go func() { ended <- two.hold(3 * smallBody) }()
		err := one.hold(3 * smallBody)
		if other := <-ended; !errors.Is(err, errCrowded) || !errors.Is(other, errCrowded) || time.Since(begin) != bodyWait {
			t.Errorf("after %v: %v and %v", time.Since(begin), err, other)
		}
		one.done()
		two.done()
		b.mustEnter(t, 4*smallBody).done()
	})
}

func TestAWaitForMemoryEndsWithTheRequest(t *testing.T) {
	t.Parallel()
	b := newBodies(2 * smallBody)
	defer b.mustEnter(t, 2*smallBody).done()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.enter(aRequest(ctx)).hold(1); !errors.Is(err, errCrowded) {
		t.Errorf("the error is %v", err)
	}
}

// Sixty-four uploads at once fit into what bodies have by default.
func TestUploadsTakeLittleMemory(t *testing.T) {
	t.Parallel()
	limits := config.Default().Limits
	b := newBodies(int64(limits.BodyMemory))
	for range 64 {
		s := b.mustEnter(t, 0)
		if err := s.hold(uploadMemory + smallBody); err != nil {
			t.Fatal(err)
		}
		defer s.done()
	}
}
