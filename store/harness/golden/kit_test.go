package golden

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// databases has a directory for each older schema: a database as a
// version of that time left it, its key, and what it must contain.
const databases = "../../../testdata/databases"

const day = 24 * time.Hour

var ctx = context.Background()

// The files in each directory, beside the key.
const (
	databaseFile    = "pushbox.db"
	expectationFile = "expect.json"
)

// An expectation is what a database must contain.
type expectation struct {
	Schema   int       // with which it was written
	At       time.Time // when, by its clock
	Pushes   []push
	Accounts []account
	Entries  int // audit entries of all pushes
	Views    int // counted
	Hooks    int `json:",omitempty"` // webhooks
	Waiting  int `json:",omitempty"` // messages for them, and mail
	Events   int `json:",omitempty"` // of the instance log

	Newcomer *newcomer `json:",omitempty"`
	Requests []request `json:",omitempty"`
}

// A request is what is known of a request of the newcomer.
type request struct {
	Token, Text string
	Answers     []string `json:",omitempty"`
	Ended       bool     `json:",omitempty"`
}

// A newcomer has signed up, and has a code for the address.
type newcomer struct{ Email, Password, Code string }

// hookURL is the address of a webhook that is never called.
const hookURL = "https://hooks.example.com/golden"

// A push is everything known of a push.
type push struct {
	What       string // a description for people
	Token      string
	Owner      string `json:",omitempty"` // address
	Kind       string
	State      record.State
	Payload    string `json:",omitempty"`
	Passphrase string `json:",omitempty"`
	Name, Note string `json:",omitempty"`
	Views      int    // counted
	Audit      string // kinds of its entries; of owned ones
	Files      []file `json:",omitempty"`
	Grant      string `json:",omitempty"`
}

// A file is storetest.Content(Seed, Size).
type file struct {
	Name string
	Seed uint64
	Size int
}

// An account is everything that its owner knows.
type account struct {
	Email, Password string
	TOTP            string   `json:",omitempty"` // the secret of the second factor
	Recovery        []string `json:",omitempty"`
	Session         string   `json:",omitempty"`
	Sessions        int
	Token           string // of the API
	Revoked         string `json:",omitempty"` // a token that was revoked
	Disabled        bool
	Subject         string `json:",omitempty"` // by which a sign-in provider knows the account
}

// external is what the provider says of the account's user.
func (a account) external() store.External {
	return store.External{
		Identity: record.Identity{Issuer: "https://id.example.com", Subject: a.Subject}, Provider: "Golden",
		Email: a.Email, Verified: true, Link: true,
	}
}

func readExpectation(t *testing.T, dir string) (g expectation) {
	t.Helper()
	env.OK(t, json.Unmarshal(env.Read(t, filepath.Join(dir, expectationFile)), &g))
	return g
}

// copyDatabase copies a database and its key to a new directory, with the modes that
// they need; git keeps none.
func copyDatabase(t *testing.T, from string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range []string{databaseFile, storetest.KeyFile} {
		env.OK(t, os.WriteFile(filepath.Join(dir, name), env.Read(t, filepath.Join(from, name)), 0o600))
	}
	return dir
}

func (p push) token(t *testing.T) store.Token {
	t.Helper()
	return env.Must(store.ParseToken(p.Token))(t)
}

func (p push) content() (files [][]byte) {
	for _, f := range p.Files {
		files = append(files, storetest.Content(f.Seed, f.Size))
	}
	return files
}

// actorOf returns the account of that address; storetest.Anonymous for "".
func actorOf(t *testing.T, f *storetest.Fixture, address string) store.Actor {
	t.Helper()
	all := env.Must(f.Accounts(ctx))(t)
	for _, a := range all {
		if a.Email == address {
			return store.Actor{Account: a.ID, Client: "192.0.2.1", IP: "192.0.2.1", UserAgent: "Browser/1.0"}
		}
	}
	return storetest.Anonymous
}

func (a account) session() secret.Text { return secret.New(a.Session) }
