package bolt_test

import (
	"path/filepath"
	"testing"

	"pushbox/store"
	"pushbox/store/bolt"
	"pushbox/store/storetest"
)

func TestEngine(t *testing.T) {
	t.Parallel()
	storetest.Conformance(t, func(t *testing.T) store.Engine {
		db, created, err := bolt.Open(t.Context(), bolt.Options{Path: filepath.Join(t.TempDir(), "pushbox.db")})
		if err != nil {
			t.Fatal(err)
		}
		if !created {
			t.Error("a new file is said to be old")
		}
		return db
	})
}
