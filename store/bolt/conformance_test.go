package bolt_test

import (
	"testing"

	"pushbox/store"
	"pushbox/store/bolt"
	"pushbox/store/storetest"
)

func TestEngine(t *testing.T) {
	t.Parallel()
	storetest.Conformance(t, func(t *testing.T) store.Engine { return openNew(t) })
}

// openNew opens a database that must be a new one. Whoever asks for it closes it.
func openNew(t *testing.T) *bolt.DB {
	t.Helper()
	db, created, err := bolt.Open(t.Context(), bolt.Options{Path: newPath(t)})
	if err != nil {
		t.Fatal(err)
	}
	if !created {
		t.Error("a new file is said to be old")
	}
	return db
}
