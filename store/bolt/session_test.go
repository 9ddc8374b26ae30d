package bolt

import (
	"errors"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
	"pushbox/store/cold"
	"pushbox/store/record"
)

// Damaged sessions are reported, and do not fail the store.
func TestDamagedSessionsAreReported(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		harm        func(t *tx) error
		find, clear error
	}{
		"a malformed record": {
			func(t *tx) error { return t.put(sessions, testSession[:], []byte("?")) }, record.ErrCorrupt, record.ErrCorrupt,
		},
		"a key of another length": {
			func(t *tx) error { return t.put(sessions, []byte("?"), nil) }, nil, record.ErrCorrupt,
		},
		"a row that leads to another length": {
			func(t *tx) error {
				return errors.Join(t.put(sessions, []byte("?"), nil), t.put(sessionOwners, record.PairKey(1, 2), []byte("?")))
			}, nil, record.ErrCorrupt,
		},
		"no account": {
			func(t *tx) error { return t.delete(accounts, uint64Key(1)) }, record.ErrNotFound, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := newDB(t, Options{})
			plant(t, db)
			env.OK(t, db.do(t.Context(), 0, c.harm))
			if _, _, err := cold.Session(t.Context(), db, testSession); !errors.Is(err, c.find) {
				t.Errorf("session: %v", err)
			}
			if _, _, err := cold.ClearSessions(t.Context(), db, record.SessionDigest{}, 9, allOver(false)); !errors.Is(err, c.clear) {
				t.Errorf("clear: %v", err)
			}
			if err := createSize(t, db, 2, 1); err != nil {
				t.Errorf("the store stopped: %v", err)
			}
		})
	}
}

// allOver is a cutoff by which all sessions have ended, or none.
func allOver(over bool) (c record.SessionCutoff) {
	if over {
		c.Begun = time.Time{}.Add(-1)
	}
	return c
}

func TestClearingNothingWritesNothing(t *testing.T) {
	t.Parallel()
	db := newDB(t, Options{NoErase: true}) // the eraser makes commits of its own
	plant(t, db)
	db.FoldJournal(t) // as folding does
	last := func() int { return db.TxID(t) }
	clear := func(over bool) {
		t.Helper()
		if _, _, err := cold.ClearSessions(t.Context(), db, record.SessionDigest{}, 9, allOver(over)); err != nil {
			t.Fatal(err)
		}
	}
	before := last()
	if clear(false); last() != before {
		t.Error("something was written")
	}
	if clear(true); last() == before {
		t.Error("nothing was written when a session was cleared")
	}
}
