package store_test

import (
	"encoding/json"
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

// goldenRoot has a directory for each schema that was ever released: a database as
// that version left it, its key, and what has to come out of it.
const goldenRoot = "../testdata/databases"

// The files in each.
const (
	goldenDatabase = "pushbox.db"
	goldenKey      = "master.key"
	goldenSays     = "expect.json"
)

// A golden is what has to come out of a database.
type golden struct {
	Schema   int       // that it was written with
	At       time.Time // when, by its clock
	Pushes   []goldenPush
	Accounts []goldenAccount
	Entries  int // audit entries of all pushes
	Views    int // counted
	Hooks    int `json:",omitempty"` // webhooks
	Waiting  int `json:",omitempty"` // messages for them
}

// goldenHook is where a webhook sends to, whom nobody asks.
const goldenHook = "https://hooks.example.com/golden"

// A goldenPush is what there is to know of a push.
type goldenPush struct {
	What       string // it is, for people
	Token      string
	Owner      string `json:",omitempty"` // address
	Kind       string
	State      store.State
	Payload    string       `json:",omitempty"`
	Passphrase string       `json:",omitempty"`
	Name, Note string       `json:",omitempty"`
	Views      int          // counted
	Audit      string       // kinds of its entries; of owned ones
	Files      []goldenFile `json:",omitempty"`
	Grant      string       `json:",omitempty"`
}

// A goldenFile is content(Seed, Size).
type goldenFile struct {
	Name string
	Seed uint64
	Size int
}

// A goldenAccount is what its owner knows.
type goldenAccount struct {
	Email, Password string
	TOTP            string   `json:",omitempty"` // the secret of the second factor
	Recovery        []string `json:",omitempty"`
	Session         string   `json:",omitempty"`
	Sessions        int
	Token           string // of the API
	Revoked         string `json:",omitempty"` // a token that is not valid any more
	Disabled        bool
}

// openGolden opens a store in a directory, or makes one. notes are what the engine
// said.
func openGolden(t *testing.T, dir string, at time.Time, options func(*bolt.Options)) *storetest.Fixture {
	t.Helper()
	f := &storetest.Fixture{Clock: storetest.NewClock(), Path: filepath.Join(dir, goldenDatabase)}
	f.Clock.Jump(at.Sub(f.Clock.Now()))
	key, err := seal.LoadKeyFile(filepath.Join(dir, goldenKey))
	if err != nil {
		t.Fatal(err)
	}
	o := bolt.Options{Path: f.Path}
	if options != nil {
		options(&o)
	}
	engine, _, err := bolt.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	f.Store, err = store.Open(t.Context(), engine, key, store.Options{
		Clock: f.Clock, Terms: storetest.Terms(), Guessing: store.Guessing{PerClient: 5, PerPush: 20, Queue: 64, Clients: 100},
		Files:    store.FileLimits{MaxCount: 10, MaxSize: 1 << 30, Window: 15 * time.Minute},
		Sessions: store.SessionLimits{Idle: 12 * time.Hour, MaxAge: 30 * day},
		Hooks:    store.HookOptions{Queue: 100, GiveUp: day},
		Root:     store.RootKeeper{File: filepath.Join(dir, goldenKey)},
	})
	if err != nil {
		_ = engine.Close()
		t.Fatal(err)
	}
	return f
}

func readGolden(t *testing.T, dir string) (g golden) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, goldenSays))
	if err == nil {
		err = json.Unmarshal(b, &g)
	}
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// copyGolden copies a database and its key to a new directory, with the modes that
// they need; git keeps none.
func copyGolden(t *testing.T, from string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range []string{goldenDatabase, goldenKey} {
		b, err := os.ReadFile(filepath.Join(from, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func (p goldenPush) token(t *testing.T) store.Token {
	t.Helper()
	token, err := store.ParseToken(p.Token)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func (p goldenPush) content() (files [][]byte) {
	for _, f := range p.Files {
		files = append(files, content(f.Seed, f.Size))
	}
	return files
}

// actorOf is the account of that address; nobody for none.
func actorOf(t *testing.T, f *storetest.Fixture, address string) store.Actor {
	t.Helper()
	all, err := f.Accounts(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if a.Email == address {
			return store.Actor{Account: a.ID, Client: "192.0.2.1", IP: "192.0.2.1", UserAgent: "Browser/1.0"}
		}
	}
	return nobody
}

func (a goldenAccount) session() secret.Text { return secret.New(a.Session) }
