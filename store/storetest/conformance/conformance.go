// Package conformance has the suites that every record.Engine must pass, one for each of
// its roles.
package conformance

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"reflect"
	"testing"
	"time"

	"pushbox/store/cold"
	"pushbox/store/record"
)

// A suite is the tests of one role of an engine, by what they test. Each test gets an
// empty engine.
type suite map[string]func(*testing.T, record.Engine)

// suites are the suites of all roles. What UpkeepEngine does with space is for the
// tests of each engine; every test here ends with its Check. The tests of package cold are a suite
// for tables, too.
var suites = map[string]suite{
	"pushes":  pushSuite,
	"files":   fileSuite,
	"tables":  tableSuite,
	"outbox":  outboxSuite,
	"tries":   tallySuite,
	"keys":    keySuite,
	"renewal": resealSuite,
	"engine":  engineSuite,
}

// Run runs the suites that every record.Engine must pass. Each test opens an empty
// engine of its own, and ends with a check that must find nothing.
func Run(t *testing.T, open func(t *testing.T) record.Engine) {
	t.Helper()
	for role, s := range suites {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			s.run(t, open)
		})
	}
}

func (s suite) run(t *testing.T, open func(t *testing.T) record.Engine) {
	t.Helper()
	for name, test := range s {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := open(t)
			t.Cleanup(func() {
				if err := e.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			})
			test(t, e)
			CheckClean(t, e)
		})
	}
}

// CheckClean fails the test for everything that the engine's check reports. It leaves
// an engine alone that the test closed.
func CheckClean(t *testing.T, e record.Engine) {
	t.Helper()
	err := e.Check(t.Context(), func(problem string) { t.Errorf("check: %s", problem) })
	if err != nil && !errors.Is(err, record.ErrClosed) {
		t.Errorf("check: %v", err)
	}
}

// epoch is when the first push of the suites begins.
var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// pushID is the ID of the n-th push. Later ones are greater.
func pushID(n int) (id record.ID) {
	binary.BigEndian.PutUint64(id[:8], uint64(epoch.UnixMilli()+int64(n))<<16)
	mac := sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(n)))
	copy(id[6:], mac[:])
	return id
}

// livePush is the n-th push, as a store would create it: created n milliseconds after
// epoch, ending n hours after that.
func livePush(n int, owner record.AccountID) record.Push {
	created := epoch.Add(time.Duration(n) * time.Millisecond)
	var link []byte
	if owner != 0 {
		link = []byte("sealed link")
	}
	return record.Push{
		ID: pushID(n), Kind: record.Text, State: record.Live, Owner: owner,
		CreatedAt: created, UpdatedAt: created, ExpiresAt: created.Add(time.Duration(n) * time.Hour),
		Days: 7, ViewLimit: 5, RetrievalStep: true, Seq: 1,
		Wrap: []byte("sealed key"), Link: link, Details: []byte("sealed details"),
	}
}

// Told is an event for changes of which no test reads the event.
var Told = record.AdminEvent{Kind: record.AdminAccountCreate, At: epoch, Sealed: []byte("sealed actor")}

func payloadOf(n int) []byte { return binary.BigEndian.AppendUint64([]byte("payload "), uint64(n)) }

func creation(p record.Push) record.Entry {
	return record.Entry{Kind: record.EntryCreation, At: p.CreatedAt, Sealed: []byte("sealed sender")}
}

// create keeps the n-th push and returns it.
func create(t *testing.T, e record.Engine, n int, owner record.AccountID) record.Push {
	t.Helper()
	p := livePush(n, owner)
	Must(t, e.CreatePush(t.Context(), p, payloadOf(n), creation(p)))
	return p
}

// account keeps an active account of that address.
func account(t *testing.T, e record.Engine, email string) record.AccountID {
	t.Helper()
	id, err := cold.CreateAccount(t.Context(), e, record.Account{Email: email, PasswordHash: "$argon2id$", CreatedAt: epoch}, Told)
	Must(t, err)
	return id
}

// change applies a rule that must not fail.
func change(t *testing.T, e record.Engine, id record.ID, r record.Rule) record.Change {
	t.Helper()
	c, err := e.Change(t.Context(), id, r)
	Must(t, err)
	return c
}

var errLimit = errors.New("no view is left")

// view counts a view, or fails where none is left. The last one ends the push.
func view(p record.Push) (record.Push, record.Entry, error) {
	if !p.Live() {
		return p, record.Entry{}, errLimit
	}
	p.Views++
	p.Seq++
	p.UpdatedAt = p.UpdatedAt.Add(time.Second)
	e := record.Entry{Kind: record.EntryView, At: p.UpdatedAt, Sealed: []byte("sealed viewer")}
	if p.Views >= p.ViewLimit {
		p = ended(p, record.Expired)
	}
	return p, e, nil
}

// fail counts a wrong passphrase.
func fail(p record.Push) (record.Push, record.Entry, error) {
	p.Seq++
	p.Minor++
	return p, record.Entry{Kind: record.EntryFailedPassphrase, At: p.UpdatedAt}, nil
}

// end ends a push in that state, without an entry.
func end(s record.State) record.Rule {
	return func(p record.Push) (record.Push, record.Entry, error) {
		if p.Live() {
			p = ended(p, s)
		}
		return p, record.Entry{}, nil
	}
}

func ended(p record.Push, s record.State) record.Push {
	p.State, p.ExpiredAt, p.Wrap, p.Link = s, p.UpdatedAt.Add(time.Minute), nil, nil
	return p
}

func leave(p record.Push) (record.Push, record.Entry, error) { return p, record.Entry{}, nil }

func purge(p record.Push) (record.Push, record.Entry, error) {
	p.State = record.Purged
	return p, record.Entry{}, nil
}

// Must ends the test if there is an error.
func Must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// WantErr fails the test unless err is want.
func WantErr(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got error %v, want %v", err, want)
	}
}

// Same fails the test unless the two are deeply equal.
func Same(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}
