// Package conformance has the suites that every record.Engine must pass, one for each of
// its roles.
package conformance

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"pushbox/store/cold"
	"pushbox/store/record"
)

// A suite is the tests of one role of an engine, by what they test. Each test gets an
// empty engine.
type suite map[string]func(*testing.T, record.Engine)

// suites are the suites of all roles. What UpkeepEngine does with space is for the tests of each
// engine; every test here ends with its Check. The tests of package cold are a suite for tables,
// too. The model of the engine suite checks what methods do one after the other; the other tests
// have what it cannot reach: several goroutines, refusals, and the outbox.
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

// PushID is the ID of the n-th push. Later ones are greater.
func PushID(n int) (id record.ID) {
	binary.BigEndian.PutUint64(id[:8], uint64(epoch.UnixMilli()+int64(n))<<16)
	mac := sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(n)))
	copy(id[6:], mac[:])
	return id
}

func pushIDs(numbers ...int) (ids []record.ID) {
	for _, n := range numbers {
		ids = append(ids, PushID(n))
	}
	return ids
}

// LivePush is the n-th push, as a store would create it: created n milliseconds after
// epoch, ending n hours after that.
func LivePush(n int, owner record.AccountID) record.Push {
	created := epoch.Add(time.Duration(n) * time.Millisecond)
	var link []byte
	if owner != 0 {
		link = []byte("sealed link")
	}
	return record.Push{
		ID: PushID(n), Kind: record.Text, State: record.Live, Owner: owner,
		CreatedAt: created, UpdatedAt: created, ExpiresAt: created.Add(time.Duration(n) * time.Hour),
		Days: 7, ViewLimit: 5, RetrievalStep: true, Seq: 1,
		Wrap: []byte("sealed key"), Link: link, Details: []byte("sealed details"),
	}
}

// Told is an event for changes of which no test reads the event.
var Told = record.AdminEvent{Kind: record.AdminAccountCreate, At: epoch, Sealed: []byte("sealed actor")}

// Payload is that of the n-th push.
func Payload(n int) []byte { return binary.BigEndian.AppendUint64([]byte("payload "), uint64(n)) }

// Creation is the first entry of a push.
func Creation(p record.Push) record.Entry {
	return record.Entry{Kind: record.EntryCreation, At: p.CreatedAt, Sealed: []byte("sealed sender")}
}

// create keeps the n-th push and returns it.
func create(t *testing.T, e record.Engine, n int, owner record.AccountID) record.Push {
	t.Helper()
	p := LivePush(n, owner)
	Must(t, Made(e.CreatePush(t.Context(), p, Payload(n), Creation(p))))
	return p
}

// Push returns a push without the length of its payload.
func Push(ctx context.Context, e record.PushEngine, id record.ID) (record.Push, error) {
	p, _, err := e.Push(ctx, id)
	return p, err
}

// Made is the error of a creation.
func Made(_ record.Entry, err error) error { return err }

// RequestOf is the n-th request, which takes so many answers for a day.
func RequestOf(n int, owner record.AccountID, answers int) record.Request {
	at := epoch.Add(time.Duration(n) * time.Millisecond)
	return record.Request{
		ID: record.RequestID(PushID(n)), Owner: owner, CreatedAt: at, ExpiresAt: at.Add(24 * time.Hour),
		Texts: true, MaxAnswers: answers, Lifetime: time.Hour, Views: 3, Sealed: []byte("sealed request"),
	}
}

// AnswerTo is the n-th push, as an answer to a request.
func AnswerTo(r record.Request, n int) record.Push {
	p := LivePush(n, r.Owner)
	p.Request, p.WrappedKey = r.ID, []byte("wrapped key")
	return p
}

// EndRequest ends a request, at the time of its creation.
func EndRequest(r record.Request) (record.Request, bool, error) {
	r.EndedAt = r.CreatedAt
	return r, false, nil
}

// APIToken is the n-th API token, before it gets its ID.
func APIToken(n int, owner record.AccountID) record.APIToken {
	return record.APIToken{
		Digest: record.TokenDigest{31: byte(n), 0: byte(n) * 37}, Owner: owner, Label: fmt.Sprint("token ", n), Scopes: record.ScopeRead,
		CreatedAt: epoch, ExpiresAt: epoch.Add(time.Hour),
	}
}

// Session is the n-th session, before it gets its ID and owner. Later ones have lesser digests.
func Session(n int, pending bool) *record.Session {
	return &record.Session{
		Digest: record.SessionDigest{0: byte(200 - n), 31: byte(n)}, CreatedAt: epoch, LastUsedAt: epoch,
		ExpiresAt: epoch.Add(time.Duration(n) * time.Hour), Pending: pending, Sealed: []byte("sealed origin"),
	}
}

// account keeps an active account of that address.
func account(t *testing.T, e record.Engine, email string) record.AccountID {
	t.Helper()
	return got(cold.CreateAccount(t.Context(), e, record.Account{Email: email, PasswordHash: "$argon2id$", CreatedAt: epoch}, Told)).of(t)
}

// change applies a rule that must not fail.
func change(t *testing.T, e record.Engine, id record.ID, r record.Rule) record.Change {
	t.Helper()
	return got(e.Change(t.Context(), id, r)).of(t)
}

// ErrLimit is the error of View where no view is left.
var ErrLimit = errors.New("no view is left")

// View counts a view, or fails where none is left. The last one ends the push.
func View(p record.Push) (record.Push, record.Entry, error) {
	if !p.Live() {
		return p, record.Entry{}, ErrLimit
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

// Leave changes nothing.
func Leave(p record.Push) (record.Push, record.Entry, error) { return p, record.Entry{}, nil }

// Purge removes a push.
func Purge(p record.Push) (record.Push, record.Entry, error) {
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

// A result is what a method returned.
type result[T any] struct {
	value T
	err   error
}

func got[T any](value T, err error) result[T] { return result[T]{value, err} }

// of returns the value, and ends the test if there is an error.
func (r result[T]) of(t *testing.T) T {
	t.Helper()
	Must(t, r.err)
	return r.value
}

// fails fails the test unless the error is want.
func (r result[T]) fails(t *testing.T, want error) {
	t.Helper()
	WantErr(t, r.err, want)
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
