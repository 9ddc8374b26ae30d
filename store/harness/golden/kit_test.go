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
	Pushes   []storetest.Sent
	Accounts []storetest.Member
	Entries  int // audit entries of all pushes
	Views    int // counted
	Hooks    int `json:",omitempty"` // webhooks
	Waiting  int `json:",omitempty"` // messages for them, and mail
	Events   int `json:",omitempty"` // of the instance log

	Newcomer *newcomer `json:",omitempty"`
	Requests []request `json:",omitempty"`
	Once     string    `json:",omitempty"` // the url_token of a push that was made under the key once
}

// once is the key of a create that is repeated.
var once = store.RepeatKey{Key: secret.New("a key of a golden database"), Fields: [32]byte{1}}

// A request is what is known of a request.
type request struct {
	Token, Text string
	Owner       string   `json:",omitempty"` // address; empty: the newcomer's
	Answers     []string `json:",omitempty"`
	Ended       bool     `json:",omitempty"`
}

// A newcomer has signed up, and has a code for the address.
type newcomer struct{ Email, Password, Code string }

// hookURL is the address of a webhook that is never called.
const hookURL = "https://hooks.example.com/golden"

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
