package bolt_test

import (
	"bytes"
	"testing"

	"pushbox/internal/testkit/env"
	"pushbox/store/bolt"
	"pushbox/store/storetest/conformance"
)

func TestUntilItIsUnlockedADatabaseGivesItsKeyRingAlone(t *testing.T) {
	t.Parallel()
	path := filled(t)
	before := env.Read(t, path)
	db, _, err := bolt.Open(t.Context(), bolt.Options{Path: path})
	env.OK(t, err)
	conformance.WantLocked(t, db)
	conformance.CheckFilled(t, db)
	conformance.CheckClean(t, db)
	if err := db.Unlock(t.Context(), conformance.Keys{}, nil, nil); err == nil {
		t.Error("it is unlocked twice")
	}
	closeDB(t, db)
	if !bytes.Equal(before, env.Read(t, path)) {
		t.Error("the file was changed")
	}
}

// A database that is closed before it was unlocked, for want of the key, stays as it is:
// above all one of an older schema.
func TestADatabaseThatIsNotUnlockedIsNotChanged(t *testing.T) {
	t.Parallel()
	path, image := olderDatabase(t)
	var notes []string
	db, _, err := bolt.Open(t.Context(), bolt.Options{Path: path, Note: func(say string) { notes = append(notes, say) }})
	env.OK(t, err)
	if sealed, err := db.KeyRing(t.Context()); err != nil || len(sealed) == 0 {
		t.Errorf("the key ring has %d bytes, %v", len(sealed), err)
	}
	closeDB(t, db)
	closeDB(t, db)
	if !bytes.Equal(image, env.Read(t, path)) || len(notes) > 0 || len(names(t, path)) != 1 {
		t.Errorf("something was changed: %q, %q", notes, names(t, path))
	}
}
