package bolt

import (
	"errors"
	"testing"

	"go.etcd.io/bbolt"

	"pushbox/store"
)

// Damage among sessions is told, and is no reason to stop the store.
func TestDamagedSessionsAreTold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		harm        func(t *tx) error
		find, clear error
	}{
		"a malformed record": {
			func(t *tx) error { return t.put(sessions, testSession[:], []byte("?")) }, store.ErrCorrupt, store.ErrCorrupt,
		},
		"a key of another length": {
			func(t *tx) error { return t.put(sessions, []byte("?"), nil) }, nil, store.ErrCorrupt,
		},
		"a row that leads to another length": {
			func(t *tx) error {
				return errors.Join(t.put(sessions, []byte("?"), nil), t.put(sessionOwners, sessionOwnerKey(1, 2), []byte("?")))
			}, nil, store.ErrCorrupt,
		},
		"no account": {
			func(t *tx) error { return t.delete(accounts, uint64Key(1)) }, store.ErrNotFound, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := newDB(t, Options{})
			plant(t, db)
			if err := db.raw().Update(func(b *bbolt.Tx) error { return c.harm(&tx{bolt: b}) }); err != nil {
				t.Fatal(err)
			}
			if _, _, err := db.Session(t.Context(), testSession); !errors.Is(err, c.find) {
				t.Errorf("session: %v", err)
			}
			over := func(store.Session) bool { return false }
			if _, _, err := db.ClearSessions(t.Context(), store.SessionDigest{}, 9, over); !errors.Is(err, c.clear) {
				t.Errorf("clear: %v", err)
			}
			if err := createSize(t, db, 2, 1); err != nil {
				t.Errorf("the store stopped: %v", err)
			}
		})
	}
}

func TestClearingNothingWritesNothing(t *testing.T) {
	t.Parallel()
	db := newDB(t, Options{})
	plant(t, db)
	last := func() (id int) {
		if err := db.raw().View(func(b *bbolt.Tx) error { id = b.ID(); return nil }); err != nil {
			t.Fatal(err)
		}
		return id
	}
	clear := func(over bool) {
		t.Helper()
		if _, _, err := db.ClearSessions(t.Context(), store.SessionDigest{}, 9, func(store.Session) bool { return over }); err != nil {
			t.Fatal(err)
		}
	}
	before := last()
	if clear(false); last() != before {
		t.Error("something was written")
	}
	if clear(true); last() == before {
		t.Error("nothing was written where a session went")
	}
}
