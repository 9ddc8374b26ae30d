package soak

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pushbox/internal/proctest"
	"pushbox/internal/testkit/env"
)

const (
	soakRate    = 12 // pushes a second: 1,036,800 in a day
	soakClients = 16
	soakWindow  = time.Minute      // how long a grant is valid: the shortest that there is
	soakTwice   = 90 * time.Second // from this length on a server checks twice whether to compact
	soakLong    = 10 * time.Minute // from this length on the mean shows whether memory grows
)

// A server has a steady mixed load for PUSHBOX_TEST_SOAK seconds. During the load
// pushes end by views, by a delete, and by time; for the latter some were created
// before, under a clock that was behind. After the load memory, descriptors, goroutines
// and disk must be back to where they were. PUSHBOX_TEST_SEED sets the clients'
// choices.
func TestWhatALoadTakesComesBack(t *testing.T) {
	t.Parallel()
	length := time.Duration(env.Length(t, "PUSHBOX_TEST_SOAK")) * time.Second
	s := newSoak(t, env.Seed(t), length)
	w := startMonitor(t, s)
	s.run(length)
	s.endAll()
	s.verifyEarlier()
	w.stop()
	s.awaitMemory(w)
	s.compact()
	s.HTTP.CloseIdleConnections()
	w.settle()
	w.judge()
	s.verifyStacks()
	s.verifyFile(w)
	t.Log(s)
}

// A soak is a load on one server.
type soak struct {
	proctest.Caller
	t       *testing.T
	dir     string
	server  *proctest.Server
	begun   time.Time
	length  time.Duration
	seed    uint64
	bearer  string
	idle    []string // goroutines of an idle server
	earlier earlierPushes

	waiting   waiting
	made      atomic.Int64 // pushes
	late      int          // pushes that were not created because all clients were busy
	views     atomic.Int64
	downloads atomic.Int64
	pages     atomic.Int64
	expired   atomic.Int64 // pushes of this load that had expired by time when they were read
}

func newSoak(t *testing.T, seed uint64, length time.Duration) *soak {
	t.Helper()
	s := &soak{t: t, dir: t.TempDir(), length: length, seed: seed, idle: idleStacks(t)}
	s.earlier = createEarlier(t, s.dir, length)
	s.bearer = s.earlier.bearer
	env.OK(t, os.Mkdir(s.temp(), 0o700))
	s.server = proctest.StartServer(t, s.dir, "PUSHBOX_PURGE_AFTER="+purgeAfter.String(),
		"PUSHBOX_FILES_DOWNLOAD_WINDOW="+soakWindow.String(), "TMPDIR="+s.temp())
	s.begun = time.Now()
	s.Reach(s.server.URL)
	return s
}

// temp is the directory for the server's temporary files. It must stay empty.
func (s *soak) temp() string { return filepath.Join(s.dir, "tmp") }

// run lets the clients work for that long. A client that is late does not catch up: the
// rate is a maximum.
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
