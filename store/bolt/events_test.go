package bolt

import (
	"errors"
	"slices"
	"testing"

	"pushbox/internal/testkit/env"
	"pushbox/store/cold"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

// rewrite changes an event past the engine. The database has the events 1 to 3.
func rewrite(t *tx, number uint64, change func(*record.AdminEvent)) error {
	e := record.AdminEvent{Number: number}
	if err := t.find(events, uint64Key(number), &e); err != nil {
		return err
	}
	change(&e)
	return putRecord(t, events, uint64Key(e.Number), e)
}

// rechain gives the events from one on the chain that they would have, as a forger would
// give them without changing the ends of the log.
func rechain(t *tx, from uint64) error {
	before := record.AdminEvent{Number: from - 1}
	if err := t.find(events, uint64Key(from-1), &before); err != nil {
		return err
	}
	chain := before.Chain
	for n := from; n <= 3; n++ {
		err := rewrite(t, n, func(e *record.AdminEvent) {
			e.Chain = e.Link(chain)
			chain = e.Chain
		})
		if err != nil {
			return err
		}
	}
	return nil
}

var eventFaults = map[string]struct {
	harm func(t *tx) error
	want []string
}{
	"sealed anew": {
		func(t *tx) error {
			return rewrite(t, 2, func(e *record.AdminEvent) { e.Sealed = []byte("under another key") })
		}, nil,
	},
	"the oldest gone": {
		func(t *tx) error { return t.delete(events, uint64Key(1)) },
		[]string{"event 1: it is missing"},
	},
	"one gone": {
		func(t *tx) error { return t.delete(events, uint64Key(2)) },
		[]string{"event 2: it is missing"},
	},
	"the newest gone": {
		func(t *tx) error { return t.delete(events, uint64Key(3)) },
		[]string{"event 3: it is missing"},
	},
	"all gone": {
		func(t *tx) error { return t.deletePrefix(events, nil) },
		[]string{"events 1 to 3: they are missing"},
	},
	"another kind": {
		func(t *tx) error {
			return rewrite(t, 2, func(e *record.AdminEvent) { e.Kind = record.AdminReload })
		},
		[]string{"event 2: it was changed"},
	},
	"another time": {
		func(t *tx) error {
			return rewrite(t, 3, func(e *record.AdminEvent) { e.At = e.At.Add(1e9) })
		},
		[]string{"event 3: it was changed"},
	},
	"another actor": {
		func(t *tx) error {
			return rewrite(t, 1, func(e *record.AdminEvent) { e.Digest[0]++ })
		},
		[]string{"event 1: it was changed"},
	},
	"changed, with a chain that fits": {
		func(t *tx) error {
			return errors.Join(rewrite(t, 2, func(e *record.AdminEvent) { e.Subject++ }), rechain(t, 2))
		},
		[]string{"event 3: it is not the last one that was written"},
	},
	"two swapped": {
		func(t *tx) error {
			return errors.Join(
				rewrite(t, 2, func(e *record.AdminEvent) { e.Number = 9 }), rewrite(t, 3, func(e *record.AdminEvent) { e.Number = 2 }),
				rewrite(t, 9, func(e *record.AdminEvent) { e.Number = 3 }), t.delete(events, uint64Key(9)),
			)
		},
		[]string{"event 2: it was changed", "event 3: it was changed", "event 3: it is not the last one that was written"},
	},
	"one too many": {
		func(t *tx) error {
			return rewrite(t, 3, func(e *record.AdminEvent) {
				e.Number++
				e.Chain = e.Link(e.Chain)
			})
		},
		[]string{"event 4: it is not the last one that was written"},
	},
	"one before the first": {
		func(t *tx) error { return rewrite(t, 1, func(e *record.AdminEvent) { e.Number = 0 }) },
		[]string{"event 0: it was removed once, and is there again"},
	},
	"a malformed one": {
		func(t *tx) error { return t.put(events, uint64Key(2), []byte("?")) },
		[]string{"event 2: its record is malformed"},
	},
	"a key of another length": {
		func(t *tx) error { return t.put(events, []byte("?"), nil) },
		[]string{"events: a key of 1 bytes instead of 8"},
	},
	"no ends": {
		func(t *tx) error { return t.delete(meta, []byte(metaEvents)) },
		[]string{"events: the ends of the log are missing or malformed"},
	},
	"malformed ends": {
		func(t *tx) error { return t.put(meta, []byte(metaEvents), []byte("?")) },
		[]string{"events: the ends of the log are missing or malformed"},
	},
}

func TestACheckNamesEventsThatAreMissingOrChanged(t *testing.T) {
	t.Parallel()
	for name, c := range eventFaults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantProblems(t, c.harm, c.want)
		})
	}
}

// addEvents adds events in one commit.
func addEvents(t *testing.T, db *DB, n int) {
	t.Helper()
	err := db.do(t.Context(), 0, func(t *tx) error {
		for range n {
			if err := t.addEvent(conformance.Told); err != nil {
				return err
			}
		}
		return nil
	})
	env.OK(t, err)
}

func TestTheLogKeepsTheNewestEvents(t *testing.T) {
	t.Parallel()
	db := newDB(t, Options{})
	addEvents(t, db, record.MaxAdminEvents)
	for removed := range uint64(3) {
		list, err := cold.AdminEvents(t.Context(), db, 0, record.MaxAdminEvents+1)
		if err != nil || len(list) != record.MaxAdminEvents || list[0].Number != removed+1 {
			t.Fatalf("%d events were removed: %d are there, %v", removed, len(list), err)
		}
		if found := problems(t, db); len(found) > 0 {
			t.Errorf("%d events were removed: %q", removed, found)
		}
		addEvents(t, db, 1)
	}
	err := db.do(t.Context(), 0, func(t *tx) error { return t.delete(events, uint64Key(4)) })
	env.OK(t, err)
	if found := problems(t, db); !slices.Equal(found, []string{"event 4: it is missing"}) {
		t.Errorf("the check found %q", found)
	}
}

// Where the log is damaged, nothing is done that the log could not tell.
func TestADamagedLogRefusesChanges(t *testing.T) {
	t.Parallel()
	db := newDB(t, Options{})
	addEvents(t, db, 1)
	err := db.do(t.Context(), 0, func(t *tx) error { return t.delete(meta, []byte(metaEvents)) })
	env.OK(t, err)
	if _, err := cold.CreateAccount(t.Context(), db, record.Account{Email: "a@example.org"}, conformance.Told); !errors.Is(err, record.ErrCorrupt) {
		t.Errorf("an account is added: %v", err)
	}
	if list, err := cold.Accounts(t.Context(), db, 0, 9); err != nil || len(list) > 0 {
		t.Errorf("there are %d accounts, %v", len(list), err)
	}
}
