package kill

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pushbox/internal/admin"
	"pushbox/internal/proctest"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/pgtest"
	"pushbox/store/record"
)

const (
	killsOfOne    = 20 // data directory
	leastAnswers  = 20 // before a kill
	answersSpread = 300
	longestLoad   = 2 * time.Second
	killSpread    = 3 * time.Millisecond // after the last of those answers
)

// A server is killed under load and started again, PUSHBOX_TEST_KILLS times.
// PUSHBOX_TEST_SEED sets the clients' choices and the moments of the kills.
func TestAKillLosesNothing(t *testing.T) {
	t.Parallel()
	left, seed := env.Length(t, "PUSHBOX_TEST_KILLS"), env.Seed(t)
	for round := uint64(0); left > 0; round++ {
		kills := min(left, killsOfOne)
		left -= kills
		if !t.Run(strconv.FormatUint(round, 10), func(t *testing.T) { killOften(t, kills, seed+round) }) {
			return
		}
	}
}

// killOften kills the servers of one data directory: some while they compact the file,
// and some while they start.
func killOften(t *testing.T, kills, seed uint64) {
	d := newKillRun(t, seed)
	for n := range kills {
		load := d.start()
		compacts := n%4 == 1
		if compacts {
			load.Go(d.compact)
		}
		if n == 1 {
			env.Eventually(t, "the file is compacted under load", func() bool { return d.compactions.Load() > 0 })
		}
		d.kill(load)
		if n%5 == 2 {
			cutStart(t, d.dir, time.Duration(d.rng.Int64N(int64(d.usual))))
		}
		d.restart(n%5 == 4)
		if t.Failed() {
			return
		}
	}
	d.VerifyLists()
	d.Verify(d.Ledger.All())
	proctest.CheckFile(t, d.dir) // through the server
	d.server.Stop()
	proctest.CheckFile(t, d.dir)
	t.Log(d.Ledger)
	t.Log(&d.tally)
}

// A first start makes the key and the database; a later one checks that they fit. After
// a kill at any point of a start, the next start must work.
func TestAKillDuringAStartDoesNoHarm(t *testing.T) {
	t.Parallel()
	seed := env.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	begun := time.Now()
	proctest.StartServer(t, t.TempDir()).Stop()
	usual := time.Since(begun)
	for range 4 {
		dir := t.TempDir()
		for range 4 {
			cutStart(t, dir, time.Duration(rng.Int64N(int64(usual))))
		}
		server := proctest.StartServer(t, dir)
		c := &proctest.Crowd{T: t, Ledger: proctest.NewLedger(), Bearer: proctest.APIToken(t, dir)}
		c.Next(server.URL)
		for range 3 {
			env.OK(t, c.Create(rng))
		}
		c.Verify(c.Ledger.All())
		server.Stop()
		proctest.CheckFile(t, dir)
	}
}

func TestMain(m *testing.M) { proctest.Main(withCluster{m}) }

// withCluster runs tests, and then stops the PostgreSQL that they started.
type withCluster struct{ m *testing.M }

// Run runs the tests and returns the exit code.
func (c withCluster) Run() int { return pgtest.Main(c.m) }

const fileClients = 48 // as many uploads as one account may have at a time

// TestAKillLosesNoFileAndLeavesNone kills a server at random moments while 48
// clients send and fetch files. PUSHBOX_TEST_FILE_KILLS sets how often.
func TestAKillLosesNoFileAndLeavesNone(t *testing.T) {
	t.Parallel()
	kills := env.Length(t, "PUSHBOX_TEST_FILE_KILLS")
	dir := t.TempDir()
	v := proctest.StartServer(t, dir)
	token := proctest.APIToken(t, dir)
	var kept proctest.Stash
	for range kills {
		c := proctest.NewFileClient(t, v.URL, token)
		ctx, cancel := context.WithCancel(t.Context())
		var clients sync.WaitGroup
		sent := kept.Sent()
		for range fileClients {
			clients.Go(func() { work(ctx, t, c, &kept) })
		}
		env.Eventually(t, "files are sent", func() bool { return kept.Sent() > sent })
		v.Wait(nil, 200*time.Millisecond+rand.N(800*time.Millisecond))
		v.KillNow()
		cancel()
		clients.Wait()
		v = proctest.StartServer(t, dir)
		for _, x := range kept.All {
			if err := proctest.NewFileClient(t, v.URL, token).Compare(t.Context(), x); err != nil {
				t.Errorf("after a kill: %v", err)
			}
		}
		v.Stop()
		proctest.CheckFile(t, dir)
		proctest.WantNoOrphans(t, dir)
		v = proctest.StartServer(t, dir)
	}
	t.Logf("%d files, %d of them sent in the last round and not fetched", kept.Next, len(kept.All))
	v.Stop()
}

// work sends or downloads one file after the other, until the server is gone.
func work(ctx context.Context, t *testing.T, c *proctest.FileClient, kept *proctest.Stash) {
	for ctx.Err() == nil {
		if x, ok := kept.Take(); ok && rand.IntN(2) == 0 {
			err := c.Compare(ctx, x)
			if err == nil || isTransport(err) {
				kept.Add(x)
			}
			if err != nil {
				if !isTransport(err) {
					t.Errorf("fetch: %v", err)
				}
				return
			}
			continue
		} else if ok {
			kept.Add(x)
		}
		x := proctest.StoredFile{Seed: kept.Seed(), Size: rand.Int64N(3 << 20)}
		var err error
		if x.Token, err = c.Push(ctx, proctest.Multipart, proctest.Content(x.Seed, x.Size)); err != nil {
			if !isTransport(err) {
				t.Errorf("push: %v", err)
			}
			return
		}
		kept.Add(x)
	}
}

// isTransport reports whether an error comes from a connection that ended.
func isTransport(err error) bool {
	var gone *url.Error
	var broken *net.OpError
	return errors.As(err, &gone) || errors.As(err, &broken) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, context.Canceled)
}

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
