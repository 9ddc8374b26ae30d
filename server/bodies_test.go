package server

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

func sized(t *testing.T, n int64) *request {
	t.Helper()
	return &request{Request: (&http.Request{ContentLength: n}).WithContext(t.Context())}
}

func TestLargeBodiesShareTheirMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBodies(4*smallBody, 2*smallBody)
		enter := func(n int64) func() {
			t.Helper()
			done, err := b.enter(sized(t, n))
			if err != nil {
				t.Fatalf("a body of %d bytes: %v", n, err)
			}
			return done
		}
		first, unknown := enter(2*smallBody), enter(-1) // all there is
		enter(smallBody)()                              // a small one is not counted
		begin := time.Now()
		if _, err := b.enter(sized(t, smallBody+1)); !errors.Is(err, errCrowded) || time.Since(begin) != bodyWait {
			t.Errorf("after %v: %v", time.Since(begin), err)
		}
		time.AfterFunc(bodyWait/2, first)
		enter(smallBody + 1)()
		unknown()
	})
}
