package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"pushbox/internal/admin"
	"pushbox/store"
)

// A doomed is a data directory whose servers are killed, with the clients of
// those.
type doomed struct {
	crowd
	dir    string
	server *victim
	rng    *rand.Rand
	usual  time.Duration // that a start takes
	toll
}

// A toll is what the kills met.
type toll struct {
	compactions  atomic.Int64 // that ended
	halfCopied   int          // compactions that were killed
	halfUploaded int          // uploads that were killed, of those that were looked for
}

// String tells it.
func (t *toll) String() string {
	return fmt.Sprintf("%d compactions ended and %d were killed; %d uploads left chunks, which a start took away",
		t.compactions.Load(), t.halfCopied, t.halfUploaded)
}

func newDoomed(t *testing.T, seed uint64) *doomed {
	t.Helper()
	d := &doomed{dir: t.TempDir(), rng: rand.New(rand.NewPCG(seed, crashClients))}
	d.crowd.t, d.ledger, d.seed = t, newLedger(), seed
	begun := time.Now()
	d.server = startVictim(t, d.dir)
	d.usual = time.Since(begun)
	d.bearer = apiToken(t, d.dir)
	return d
}

// start begins another cycle of load.
func (d *doomed) start() *load {
	d.next(d.server.url)
	return d.crowd.start(leastAnswers + d.rng.Int64N(answersSpread))
}

// kill kills the server when there were enough answers, and looks what that left
// behind.
func (d *doomed) kill(l *load) {
	d.t.Helper()
	d.server.pass(l.enough, longestLoad)
	d.server.pass(nil, time.Duration(d.rng.Int64N(int64(killSpread))))
	d.killed.Store(true)
	d.server.kill9()
	l.Wait()
	d.halfCopied += len(d.leftovers())
	checkFile(d.t, d.dir)
}

// compact compacts the file over and over, until the server is gone.
func (d *doomed) compact() {
	client, err := admin.NewClient(admin.SocketPath(filepath.Join(d.dir, "data")))
	for err == nil || errors.Is(err, store.ErrBusy) && !d.killed.Load() {
		if _, err = admin.Compact.Call(d.t.Context(), client, admin.None{}); err == nil {
			d.compactions.Add(1)
		}
	}
	if !d.killed.Load() {
		d.t.Errorf("a compaction: %v", err)
	}
}

// restart starts the next server and looks at all that was used. Where sweeps is
// set it makes sure that the server takes away what uploads have left.
func (d *doomed) restart(sweeps bool) {
	d.t.Helper()
	if sweeps {
		d.halfUploaded += orphans(d.t, d.dir)
	}
	d.server = startVictim(d.t, d.dir)
	if left := d.leftovers(); len(left) > 0 {
		d.t.Errorf("P9: a start leaves %q", left)
	}
	d.reach(d.server.url)
	d.verify(d.ledger.touched())
	if sweeps && !d.t.Failed() {
		d.awaitSweep()
	}
}

// awaitSweep restarts the server until its sweep at the start has come to its
// end, after which no chunk is of no push.
func (d *doomed) awaitSweep() {
	d.t.Helper()
	n := 0
	for range 10 {
		d.server.stop()
		checkFile(d.t, d.dir)
		n = orphans(d.t, d.dir)
		d.server = startVictim(d.t, d.dir)
		d.reach(d.server.url)
		if n == 0 {
			return
		}
		d.server.pass(nil, d.usual)
	}
	d.t.Errorf("P9: the starts leave chunks of %d uploads", n)
}

// leftovers are the copies that compactions have not finished.
func (d *doomed) leftovers() []string {
	names, err := filepath.Glob(filepath.Join(d.dir, "data", "pushbox.db.*"))
	if err != nil {
		d.t.Error(err)
	}
	return names
}
