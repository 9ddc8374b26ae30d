package server_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pushbox/config"
	"pushbox/internal/testkit/env"
	"pushbox/server"
	"pushbox/store/clock"
	"pushbox/store/storetest"
)

// A slow clock takes so long that the lock of a limit, which is held meanwhile, passes from
// one request to the next that waits for it.
type slowClock struct{ clock.Clock }

func (c slowClock) Elapsed() time.Duration {
	time.Sleep(2 * time.Millisecond)
	return c.Clock.Elapsed()
}

// Requests at the same moment cannot all take the last place.
func TestUnknownLinksAreLimitedToTheLastPlace(t *testing.T) {
	t.Parallel()
	const limit, rounds = 4, 8
	f := storetest.New(t)
	cfg := config.Default()
	cfg.Limits.UnknownTokensPerMinute = limit
	h, err := server.New(server.Options{Config: cfg, Store: f.Store, Log: zerolog.Nop(), Version: "3.0.0", Clock: slowClock{f.Clock}})
	env.OK(t, err)
	for round := range rounds {
		var all sync.WaitGroup
		answers := make([]int, 4*limit)
		begin := make(chan struct{})
		for n := range answers {
			all.Go(func() {
				q := httptest.NewRequest(http.MethodGet, pushes+"/nothing", nil)
				q.RemoteAddr = fmt.Sprintf("%d.7.7.7:1000", 20+round)
				w := httptest.NewRecorder()
				<-begin
				h.ServeHTTP(w, q)
				answers[n] = w.Code
			})
		}
		close(begin)
		all.Wait()
		counts := make(map[int]int)
		for _, status := range answers {
			counts[status]++
		}
		if counts[http.StatusNotFound] != limit || counts[http.StatusTooManyRequests] != len(answers)-limit {
			t.Fatalf("%d requests at once got %v; the limit is %d", len(answers), counts, limit)
		}
	}
}
