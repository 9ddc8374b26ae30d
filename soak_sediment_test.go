package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/store"
	"pushbox/store/bolt"
	"pushbox/store/seal"
	"pushbox/store/storetest"
)

const (
	settledStay  = time.Hour        // how long expired pushes of an account stay, here
	anonymous    = 24 * time.Hour   // and those of nobody
	shortestLife = 15 * time.Minute // of a push
	fileOfSoak   = 4 << 20          // bytes
	firstLook    = 40 * time.Second // before a server looks for the second time whether to compact
)

// A sediment is what a data directory had before a soak, all of which a server
// must take away while that lasts.
type sediment struct {
	bearer  string
	expires []string // url_tokens of pushes whose time ends
	goes    []string // and of pushes that are removed, long after they expired
	bytes   int64    // of the database with all of it
}

// A layer is pushes of one kind, made so long ago that what is to happen with
// them happens during the soak.
type layer struct {
	age    time.Duration // of the push, when it happens
	by     store.Actor
	file   bool
	count  int
	spread time.Duration // over which it happens
	tokens *[]string
}

// layDown makes a data directory with pushes that end during a soak of that
// length: the store makes them, under a clock that is behind.
func layDown(t *testing.T, dir string, length time.Duration) (s sediment) {
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
	for _, l := range []layer{
		{anonymous + shortestLife, store.Actor{}, false, count, spread, &s.goes},
		{settledStay + shortestLife, owner, false, count, spread, &s.goes},
		{shortestLife, owner, true, files, min(spread/2, firstLook), &s.expires},
		{shortestLife, owner, false, count, spread / 2, &s.expires},
	} {
		clock.Advance(max(0, start.Add(-l.age).Sub(clock.Now())))
		if _, err := st.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		l.lay(t, st, clock)
	}
	if err := st.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.bytes = databaseSize(t, dir)
	return s
}

func (l layer) lay(t *testing.T, st *store.Store, clock *storetest.Clock) {
	t.Helper()
	for i := range l.count {
		clock.Advance(l.spread / time.Duration(l.count))
		in := store.NewPush{Kind: store.Text, Payload: secret.New("correct horse battery staple"), Lifetime: shortestLife}
		if l.file {
			in.Kind, in.Files = store.File, st.NewUpload()
			if err := in.Files.Add(t.Context(), content(uint64(i), fileOfSoak)); err != nil {
				t.Fatal(err)
			}
		}
		p, err := st.CreatePush(t.Context(), l.by, in)
		if in.Files != nil && err == nil {
			err = in.Files.Close(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		*l.tokens = append(*l.tokens, p.Token.Reveal())
	}
}

// openAt makes a data directory whose store goes by a clock.
func openAt(t *testing.T, dir string, clock store.Clock) *store.Store {
	t.Helper()
	data := filepath.Join(dir, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	key, err := seal.CreateKeyFile(filepath.Join(data, "master.key"))
	if err != nil {
		t.Fatal(err)
	}
	engine, _, err := bolt.Open(t.Context(), bolt.Options{Path: filepath.Join(data, "pushbox.db")})
	if err != nil {
		t.Fatal(err)
	}
	terms := store.Terms{Enabled: true, Days: store.Range{Default: 7, Min: 1, Max: 90}, Views: store.Range{Default: 5, Min: 1, Max: 100}}
	st, err := store.Open(t.Context(), engine, key, store.Options{
		Clock: clock,
		Terms: map[store.Kind]store.Terms{store.Text: terms, store.File: terms},
		Files: store.FileLimits{MaxCount: 1, MaxSize: fileOfSoak, Window: shortestLife},
	})
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// account makes the account of a soak, and its API token.
func account(t *testing.T, st *store.Store, s *sediment) store.Actor {
	t.Helper()
	a, err := st.AddAccount(t.Context(), soakEmail, secret.New(soakPassword))
	if err != nil {
		t.Fatal(err)
	}
	token, err := st.CreateToken(t.Context(), soakEmail, "soak", 0)
	if err != nil {
		t.Fatal(err)
	}
	s.bearer = token.Secret.Reveal()
	return store.Actor{Account: a.ID}
}

// verifySediment waits until all of it has ended, as it must have soon: what is
// purged is not found, what has expired gives nothing.
func (s *soak) verifySediment() {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	for _, token := range s.settled.goes {
		s.await(ctx, "a push is removed", func() error {
			_, err := s.fetch(http.MethodGet, apiPushes+"/"+token+"/preview", "", http.StatusNotFound)
			return err
		})
	}
	for _, token := range s.settled.expires {
		if r, err := s.show(&soaked{token: token}); err != nil || !r.Expired || r.Payload != nil || r.Deleted {
			s.t.Errorf("P5: a push whose time is over: expired %t, with a payload %t, %v", r.Expired, r.Payload != nil, err)
		}
	}
}

// await tries again until there is no error, and fails the test when ctx ends
// before.
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
			s.t.Error(fmt.Errorf("P12: %s: not within %v: %w", what, patience, err))
			return
		}
	}
}
