package bolt_test

import (
	"testing"

	"pushbox/internal/testkit/env"
	"pushbox/store/bolt"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

func TestEngine(t *testing.T) {
	t.Parallel()
	conformance.Run(t, func(t *testing.T) record.Engine { return openNew(t) })
}

// openNew opens a new database. The caller closes it.
func openNew(t *testing.T) *bolt.DB {
	t.Helper()
	db, created, err := bolt.OpenUnlocked(t.Context(), bolt.Options{Path: newPath(t)})
	env.OK(t, err)
	if !created {
		t.Error("a new file is reported as an existing one")
	}
	return db
}
