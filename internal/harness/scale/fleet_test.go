package scale

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pushbox/internal/proctest"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/pgtest"
	"pushbox/store/record"
)

// A fleet is servers over one database, each in a process of its own, with clients for
// each. One ledger judges the answers of all.
type fleet struct {
	*testing.T
	primary secret.Text // where to ask the database
	environ []string
	dirs    []string
	servers []*proctest.Server
	crowds  []*proctest.Crowd
	ledger  *proctest.Ledger
	bearer  string
}

// newFleet starts n servers over the database at url, with more variables in their
// environment.
func newFleet(t *testing.T, url secret.Text, n int, seed uint64, environ ...string) *fleet {
	t.Helper()
	key := t.TempDir()
	proctest.Run(t, key, "", "key", "generate", "master.key")
	f := &fleet{
		T: t, primary: url, ledger: proctest.NewLedger(),
		environ: append(environ, "PUSHBOX_DATABASE_URL="+url.Reveal(), "PUSHBOX_MASTER_KEY_FILE="+filepath.Join(key, "master.key")),
	}
	for i := range n {
		f.dirs = append(f.dirs, t.TempDir())
		f.servers = append(f.servers, nil)
		f.start(i)
		f.crowds = append(f.crowds, &proctest.Crowd{T: t, Ledger: f.ledger, Seed: seed + uint64(i)<<32})
	}
	f.bearer = proctest.APIToken(t, f.dirs[0])
	for _, c := range f.crowds {
		c.Bearer = f.bearer
	}
	return f
}

// start starts a server.
func (f *fleet) start(n int) {
	f.Helper()
	f.servers[n] = proctest.StartServer(f.T, f.dirs[n], f.environ...)
}

// work has all clients make requests, and returns when each server has answered that
// many.
func (f *fleet) work(answers int64) (loads []*proctest.Load) {
	f.Helper()
	f.crowds[0].Next(f.servers[0].URL) // another cycle of the ledger
	f.reach()
	for _, c := range f.crowds {
		loads = append(loads, c.Start(answers))
	}
	for i, l := range loads {
		f.servers[i].Wait(l.Enough, proctest.Patience)
	}
	return loads
}

// end ends the work of all clients, and then verifies what they used, by several servers.
func (f *fleet) end(loads []*proctest.Load) {
	f.Helper()
	for _, l := range loads {
		l.End()
	}
	f.awaitQuiet()
	used := f.ledger.Touched()
	var all sync.WaitGroup
	for i, c := range f.crowds { // each push by one
		share := used[i*len(used)/len(f.crowds) : (i+1)*len(used)/len(f.crowds)]
		all.Go(func() { c.Verify(share) })
	}
	all.Wait()
}

// awaitQuiet waits until no statement runs: one of a server that was killed may still.
func (f *fleet) awaitQuiet() {
	f.Helper()
	env.Eventually(f.T, "the statements of a killed server end", func() bool {
		return pgtest.Running(f.T, f.primary) == 0
	})
}

// phase logs how long something took.
func (f *fleet) phase(what string) func() {
	begun := time.Now()
	return func() { f.Logf("%s: %s", what, time.Since(begun).Round(10*time.Millisecond)) }
}

// verify verifies everything that the clients did.
func (f *fleet) verify() {
	f.Helper()
	f.crowds[0].VerifyLists()
	f.crowds[len(f.crowds)-1].Verify(f.ledger.All())
	f.Log(f.ledger)
}

// stop checks the database and stops all servers.
func (f *fleet) stop() {
	f.Helper()
	for i, s := range f.servers {
		proctest.CheckFile(f.T, f.dirs[i]) // through the server
		s.Stop()
	}
}

// away says to all clients whether the database may be away. Servers log that it is.
func (f *fleet) away(may bool) {
	for _, s := range f.servers {
		s.Expect = []string{record.ErrUnavailable.Error(), record.ErrStandby.Error(), context.DeadlineExceeded.Error()}
	}
	for _, c := range f.crowds {
		c.Away.Store(may)
	}
}

// judgeLogs fails the test unless each server told once that the database did not answer, and
// once that it did again, and logged nothing else of that than the requests that it put off.
func (f *fleet) judgeLogs() {
	f.Helper()
	const over = `"message":"the database can be used again"`
	for _, s := range f.servers {
		env.Eventually(f.T, "a server tells that the database is back", func() bool { return strings.Contains(s.Log(), over) })
		away, back := 0, 0
		for line := range strings.Lines(s.Log()) {
			switch {
			case strings.Contains(line, `"message":"`+record.ErrUnavailable.Error()):
				away++
			case strings.Contains(line, over):
				back++
			case strings.Contains(line, "failed") && !strings.Contains(line, `"message":"request"`):
				f.Errorf("it is logged: %s", line)
			}
		}
		if away != 1 || back != 1 {
			f.Errorf("a server told %d times that the database is away, and %d times that it is back", away, back)
		}
	}
}

const (
	briefRequests = "PUSHBOX_LIMITS_REQUEST_TIMEOUT=15s" // for servers whose database goes away
	longest       = proctest.Patience                    // for a request while no database answers
)

// judgeAway fails the test if an answer took too long.
func (f *fleet) judgeAway() {
	f.Helper()
	var put int64
	var slowest time.Duration
	for _, c := range f.crowds {
		put += c.Put.Load()
		slowest = max(slowest, time.Duration(c.Slowest.Load()))
	}
	f.Logf("%d answers were 503, and the slowest answer took %s", put, slowest.Round(10*time.Millisecond))
	if slowest > longest {
		f.Errorf("an answer took %s", slowest)
	}
}

// await503 waits until the API and a page of each server answer 503 with Retry-After, and
// readiness too.
func (f *fleet) await503() {
	f.Helper()
	defer f.phase("until each server answered 503")()
	var all sync.WaitGroup
	for _, s := range f.servers {
		for _, path := range []string{proctest.PushesPath + "/anything-at-all", "/p/anything-at-all", "/readyz"} {
			all.Go(func() {
				begun := time.Now()
				err := want503(s.URL + path)
				for err != nil && time.Since(begun) < longest {
					err = want503(s.URL + path)
				}
				if err != nil {
					f.Errorf("%s: %v", path, err)
				}
			})
		}
	}
	all.Wait()
}

// await200 waits until each server is ready.
func (f *fleet) await200() {
	f.Helper()
	defer f.phase("until each server was ready")()
	for _, s := range f.servers {
		env.Eventually(f.T, "a server is ready", func() bool {
			res, _ := env.Ask(f, http.MethodGet, s.URL+"/readyz", "")
			return res.StatusCode == http.StatusOK
		})
	}
}

// want503 asks once.
func want503(url string) error {
	client := &http.Client{Timeout: longest}
	res, err := client.Get(url)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(res.Body)
	if err := errors.Join(err, res.Body.Close()); err != nil {
		return err
	}
	if res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") == "" {
		return fmt.Errorf("status %d, Retry-After %q: %s", res.StatusCode, res.Header.Get("Retry-After"), strings.TrimSpace(string(body)))
	}
	return nil
}
