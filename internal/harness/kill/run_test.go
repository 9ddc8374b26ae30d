package kill

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"pushbox/internal/admin"
	"pushbox/internal/proctest"
	"pushbox/store/record"
)

// A killRun is a data directory whose servers are killed, with its clients.
type killRun struct {
	proctest.Crowd
	dir    string
	server *proctest.Server
	rng    *rand.Rand
	usual  time.Duration // duration of a start
	tally
}

// A tally counts what the kills met.
type tally struct {
	compactions  atomic.Int64 // that ended
	halfCopied   int          // compactions that were killed
	halfUploaded int          // uploads that were killed, as far as the run looked for them
}

// String is the tally as text.
func (t *tally) String() string {
	return fmt.Sprintf("%d compactions ended and %d were killed; %d uploads left chunks, which a start took away",
		t.compactions.Load(), t.halfCopied, t.halfUploaded)
}

func newKillRun(t *testing.T, seed uint64) *killRun {
	t.Helper()
	d := &killRun{dir: t.TempDir(), rng: rand.New(rand.NewPCG(seed, proctest.Clients))}
	d.Crowd.T, d.Ledger, d.Seed = t, proctest.NewLedger(), seed
	begun := time.Now()
	d.server = proctest.StartServer(t, d.dir)
	d.usual = time.Since(begun)
	d.Bearer = proctest.APIToken(t, d.dir)
	return d
}

// start begins another cycle of load.
func (d *killRun) start() *proctest.Load {
	d.Next(d.server.URL)
	return d.Crowd.Start(leastAnswers + d.rng.Int64N(answersSpread))
}

// kill kills the server after enough answers, and looks at what is left behind.
func (d *killRun) kill(l *proctest.Load) {
	d.T.Helper()
	d.server.Wait(l.Enough, longestLoad)
	d.server.Wait(nil, time.Duration(d.rng.Int64N(int64(killSpread))))
	d.Killed.Store(true)
	d.server.KillNow()
	l.Wait()
	d.halfCopied += len(d.leftovers())
	proctest.CheckFile(d.T, d.dir)
}

// compact compacts the file again and again, until the server is gone.
func (d *killRun) compact() {
	client, err := admin.NewClient(admin.SocketPath(filepath.Join(d.dir, "data")))
	for err == nil || errors.Is(err, record.ErrBusy) && !d.Killed.Load() {
		if _, err = admin.Compact.Call(d.T.Context(), client, admin.None{}); err == nil {
			d.compactions.Add(1)
		}
	}
	if !d.Killed.Load() {
		d.T.Errorf("a compaction: %v", err)
	}
}

// restart starts the next server and verifies all pushes that were used. If sweeps is
// set, it also checks that the server removes what uploads have left.
func (d *killRun) restart(sweeps bool) {
	d.T.Helper()
	if sweeps {
		d.halfUploaded += proctest.Orphans(d.T, d.dir)
	}
	d.server = proctest.StartServer(d.T, d.dir)
	if left := d.leftovers(); len(left) > 0 {
		d.T.Errorf("P9: a start leaves %q", left)
	}
	d.Reach(d.server.URL)
	d.Verify(d.Ledger.Touched())
	if sweeps && !d.T.Failed() {
		d.awaitSweep()
	}
}

// awaitSweep restarts the server until its sweep at the start has finished: then every
// chunk belongs to a push.
func (d *killRun) awaitSweep() {
	d.T.Helper()
	n := 0
	for end := time.Now().Add(proctest.Patience); time.Now().Before(end); {
		d.server.Stop()
		proctest.CheckFile(d.T, d.dir)
		n = proctest.Orphans(d.T, d.dir)
		d.server = proctest.StartServer(d.T, d.dir)
		d.Reach(d.server.URL)
		if n == 0 {
			return
		}
		d.server.Wait(nil, d.usual)
	}
	d.T.Errorf("P9: the starts leave chunks of %d uploads", n)
}

// leftovers are the copies of unfinished compactions.
func (d *killRun) leftovers() []string {
	names, err := filepath.Glob(filepath.Join(d.dir, "data", "pushbox.db.*"))
	if err != nil {
		d.T.Error(err)
	}
	return names
}

// cutStart starts a server in dir and kills it after some time, at any point of its
// start.
func cutStart(t *testing.T, dir string, after time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), after)
	defer cancel()
	cmd := exec.CommandContext(ctx, "pushbox", "serve", "--listen", "127.0.0.1:0")
	cmd.Dir, cmd.Env = dir, proctest.LoadEnviron()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err := cmd.Run()
	if ctx.Err() == nil {
		t.Errorf("it ended by itself: %v\n%s", err, &stderr)
	}
}
