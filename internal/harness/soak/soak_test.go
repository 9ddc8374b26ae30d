package soak

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pushbox/internal/proctest"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/pgtest"
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

func TestMain(m *testing.M) { proctest.Main(pgtest.Tests{M: m}) }

func (s *soak) formRequest(method, path, form string) (*http.Request, error) {
	req, err := http.NewRequest(method, s.URL+path, strings.NewReader(form))
	if err == nil && form != "" {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return req, err
}

// reveal opens a push on its page, as a person does.
func (s *soak) reveal(p *knownPush) error {
	s.pages.Add(1)
	page, err := s.fetch(http.MethodPost, "/p/"+p.token, "passphrase=", http.StatusOK)
	if err == nil && p.payload != "" && !bytes.Contains(page, []byte(p.payload)) {
		err = fmt.Errorf("P7: the page of a %s push does not show it", p.kind)
	}
	return err
}

// expireOnPage expires a push with the button for its viewers. A url push has no
// button: its owner deletes it.
func (s *soak) expireOnPage(p *knownPush) error {
	s.pages.Add(1)
	if p.kind == "url" {
		p.deleted = p.owned
		if p.owned {
			return s.Call(http.MethodDelete, proctest.PushesPath+"/"+p.token, s.bearer, nil, http.StatusOK, &proctest.Record{})
		}
		return s.useUp(p)
	}
	req, err := s.formRequest(http.MethodPost, "/p/"+p.token+"/expire", "x=")
	if err != nil {
		return err
	}
	status, answer, err := s.Send(req)
	if err == nil && status >= http.StatusBadRequest {
		err = fmt.Errorf("to expire a %s push: status %d: %s", p.kind, status, answer)
	}
	return err
}

// signInAndOut signs in, opens the pages of an account, and signs out.
func (s *soak) signInAndOut() error {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
	browser := http.Client{Transport: s.HTTP.Transport, Jar: jar, Timeout: proctest.Patience}
	form := url.Values{"email": {proctest.Email}, "password": {proctest.Password}}.Encode()
	for _, step := range []struct{ method, path, form, shows string }{
		{http.MethodPost, "/users/sign_in", form, ""},
		{http.MethodGet, "/p", "", "/users/sign_out"},
		{http.MethodGet, "/users/sessions", "", "/users/sign_out"},
		{http.MethodPost, "/users/sign_out", "x=", ""},
	} {
		req, err := s.formRequest(step.method, step.path, step.form)
		if err != nil {
			return err
		}
		s.pages.Add(1)
		res, err := browser.Do(req)
		if err != nil {
			return s.Cut(err)
		}
		var page bytes.Buffer
		_, err = page.ReadFrom(res.Body)
		if err = errors.Join(err, res.Body.Close()); err != nil {
			return s.Cut(err)
		}
		if res.StatusCode != http.StatusOK || !strings.Contains(page.String(), step.shows) {
			return fmt.Errorf("%s: status %d", step.path, res.StatusCode)
		}
	}
	return nil
}
