package soak

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pushbox/internal/proctest"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/bolt"
	"pushbox/store/record"
	"pushbox/store/seal"
	"pushbox/store/storetest"

	"pushbox/store/clock"
)

const (
	purgeAfter   = time.Hour        // how long expired pushes of an account stay in this test
	anonymous    = 24 * time.Hour   // and anonymous ones
	shortestLife = 15 * time.Minute // of a push
	fileOfSoak   = 4 << 20          // bytes
	firstLook    = 40 * time.Second // before a server checks for the second time whether to compact
)

// earlierPushes are in the data directory before the load begins. The server must
// expire or remove all of them during the load.
type earlierPushes struct {
	bearer  string
	expires []string // url_tokens of pushes whose time ends
	goes    []string // and of pushes that are removed, long after they expired
	bytes   int64    // of the database with all of it
}

// A batch is pushes of one kind, so old that they expire or are purged during the soak.
type batch struct {
	age    time.Duration // of the push when it ends
	by     store.Actor
	file   bool
	count  int
	spread time.Duration // over which the ends are spread
	tokens *[]string
}

// createEarlier makes a data directory with pushes that end during a soak of that
// length. A store with a clock that is behind creates them.
func createEarlier(t *testing.T, dir string, length time.Duration) (s earlierPushes) {
	t.Helper()
	count, files, start := 100, 20, time.Now()
	spread := min(length, 10*time.Minute) * 6 / 10
	if length < soakTwice {
		count, files = 20, 1
	}
	clock := storetest.NewClock()
	clock.Advance(start.Add(-anonymous - time.Hour).Sub(clock.Now()))
	st := openAt(t, dir, clock)
	owner := account(t, st, &s)
	for _, l := range []batch{
		{anonymous + shortestLife, store.Actor{}, false, count, spread, &s.goes},
		{purgeAfter + shortestLife, owner, false, count, spread, &s.goes},
		{shortestLife, owner, true, files, min(spread/2, firstLook), &s.expires},
		{shortestLife, owner, false, count, spread / 2, &s.expires},
	} {
		clock.Advance(max(0, start.Add(-l.age).Sub(clock.Now())))
		env.Must(st.Sweep(t.Context()))(t)
		l.create(t, st, clock)
	}
	env.OK(t, st.Close(t.Context()))
	s.bytes = env.Must(os.Stat(databaseOf(dir)))(t).Size()
	return s
}

func (l batch) create(t *testing.T, st *store.Store, clock *storetest.Clock) {
	t.Helper()
	for i := range l.count {
		clock.Advance(l.spread / time.Duration(l.count))
		in := store.NewPush{Kind: record.Text, Payload: secret.New("correct horse battery staple"), Lifetime: shortestLife}
		if l.file {
			in.Kind, in.Files = record.File, st.NewUpload(st.Policy(""))
			env.OK(t, in.Files.Add(t.Context(), proctest.Content(uint64(i), fileOfSoak)))
		}
		p, err := st.CreatePush(t.Context(), l.by, in)
		if in.Files != nil && err == nil {
			err = in.Files.Close(t.Context())
		}
		env.OK(t, err)
		*l.tokens = append(*l.tokens, p.Token.Reveal())
	}
}

// openAt makes a data directory whose store uses the clock.
func openAt(t *testing.T, dir string, clock clock.Clock) *store.Store {
	t.Helper()
	data := filepath.Join(dir, "data")
	env.OK(t, os.Mkdir(data, 0o700))
	key := env.Must(seal.CreateKeyFile(filepath.Join(data, "master.key")))(t)
	engine, _, err := bolt.Open(t.Context(), bolt.Options{Path: filepath.Join(data, "pushbox.db")})
	env.OK(t, err)
	terms := store.Terms{Enabled: true, Days: store.Range{Default: 7, Min: 1, Max: 90}, Views: store.Range{Default: 5, Min: 1, Max: 100}}
	st, err := store.Open(t.Context(), engine, key, store.Options{
		Clock: clock,
		Terms: map[record.Kind]store.Terms{record.Text: terms, record.File: terms},
		Files: store.FileLimits{MaxCount: 1, MaxSize: fileOfSoak, Window: shortestLife},
	})
	env.OK(t, err)
	return st
}

// account creates the account of a soak, and its API token.
func account(t *testing.T, st *store.Store, s *earlierPushes) store.Actor {
	t.Helper()
	a := env.Must(st.AddAccount(t.Context(), storetest.Operator, proctest.Email, secret.New(proctest.Password)))(t)
	token := env.Must(st.CreateToken(t.Context(), storetest.Operator, proctest.Email, store.TokenTerms{Label: "soak"}))(t)
	s.bearer = token.Secret.Reveal()
	return store.Actor{Account: a.ID}
}

// verifyEarlier waits until all earlier pushes have ended, which must be soon. A purged
// push is not found, an expired one has no payload.
func (s *soak) verifyEarlier() {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), proctest.Patience)
	defer cancel()
	for _, token := range s.earlier.goes {
		s.await(ctx, "a push is removed", func() error {
			_, err := s.fetch(http.MethodGet, proctest.PushesPath+"/"+token+"/preview", "", http.StatusNotFound)
			return err
		})
	}
	for _, token := range s.earlier.expires {
		if s.length > purgeAfter { // some were purged during the load
			if _, err := s.fetch(http.MethodGet, proctest.PushesPath+"/"+token+"/preview", "", http.StatusNotFound); err == nil {
				continue
			}
		}
		if r, err := s.show(&knownPush{token: token}); err != nil || !r.Expired || r.Payload != nil || r.Deleted {
			s.t.Errorf("P5: a push whose time is over: expired %t, with a payload %t, %v", r.Expired, r.Payload != nil, err)
		}
	}
}

// await tries again until there is no error, and fails the test if ctx ends before.
func (s *soak) await(ctx context.Context, what string, try func() error) {
	s.t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	err := try()
	for err != nil {
		select {
		case <-tick.C:
			err = try()
		case <-ctx.Done():
			s.t.Error(fmt.Errorf("P12: %s: not in time: %w", what, err))
			return
		}
	}
}
