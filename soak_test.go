package main

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pushbox/internal/testenv"
)

const (
	soakRate    = 12 // pushes a second: 1,036,800 in a day
	soakClients = 16
	soakWindow  = time.Minute      // how long a grant is good for
	soakTwice   = 90 * time.Second // from which on a server looks twice whether to compact
	soakLong    = 10 * time.Minute // from which on the mean of its memory tells whether that grows
)

// A server has a steady mixed load for as many seconds as PUSHBOX_TEST_SOAK says.
// All the while pushes expire, by their views, by hand, and by time: some were
// made before, by the same code under a clock that ran earlier. Then memory,
// descriptors, goroutines and disk are back where they were. PUSHBOX_TEST_SEED
// sets what the clients choose.
func TestWhatALoadTakesComesBack(t *testing.T) {
	t.Parallel()
	length := time.Duration(testenv.Length(t, "PUSHBOX_TEST_SOAK", 120, 5)) * time.Second
	s := newSoak(t, testenv.Seed(t), length)
	w := watch(t, s)
	s.run(length)
	s.endAll()
	s.verifySediment()
	w.stop()
	s.awaitMemory(w)
	s.compact()
	s.http.CloseIdleConnections()
	w.settle()
	w.judge()
	s.verifyStacks()
	s.verifyRest(w)
	t.Log(s)
}

// A soak is a load on one server.
type soak struct {
	caller
	t       *testing.T
	dir     string
	server  *victim
	begun   time.Time
	length  time.Duration
	seed    uint64
	bearer  string
	idle    []string // the goroutines of a server that has done nothing
	settled sediment

	waiting   waiting
	made      atomic.Int64 // pushes
	late      int          // pushes not made, since all clients were busy
	views     atomic.Int64
	downloads atomic.Int64
	pages     atomic.Int64
	expired   atomic.Int64 // pushes of this load that were seen to have expired by time
}

func newSoak(t *testing.T, seed uint64, length time.Duration) *soak {
	t.Helper()
	s := &soak{t: t, dir: t.TempDir(), length: length, seed: seed, idle: idleStacks(t)}
	s.settled = layDown(t, s.dir, length)
	s.bearer = s.settled.bearer
	if err := os.Mkdir(s.temp(), 0o700); err != nil {
		t.Fatal(err)
	}
	s.server = startVictim(t, s.dir, "PUSHBOX_PURGE_AFTER="+settledStay.String(),
		"PUSHBOX_FILES_DOWNLOAD_WINDOW="+soakWindow.String(), "TMPDIR="+s.temp())
	s.begun = time.Now()
	s.reach(s.server.url)
	return s
}

// temp is where the server's temporary files would be, if it made any.
func (s *soak) temp() string { return filepath.Join(s.dir, "tmp") }

// run has the clients live for that long. A client that is late does not make up
// for it: the rate is the most there is.
func (s *soak) run(length time.Duration) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), length)
	defer cancel()
	lives := make(chan uint64)
	var clients sync.WaitGroup
	for range soakClients {
		clients.Go(func() {
			for n := range lives {
				if err := s.live(n, rand.New(rand.NewPCG(s.seed, n))); err != nil {
					s.t.Errorf("life %d: %v", n, err)
					cancel()
				}
			}
		})
	}
	tick := time.NewTicker(time.Second / soakRate)
	defer tick.Stop()
	for n := uint64(0); ; n++ {
		select {
		case <-tick.C:
		case <-ctx.Done():
			close(lives)
			clients.Wait()
			return
		}
		select {
		case lives <- n:
		default:
			s.late++
		}
	}
}
