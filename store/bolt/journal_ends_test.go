package bolt_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"pushbox/internal/testkit/env"
	"pushbox/store/bolt"
	"pushbox/store/cold"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

// What an end destroys.
const (
	endKey     = "the sealed key of a push"
	endPayload = "the sealed payload of a push"
)

var endTime = time.UnixMilli(1 << 40).UTC()

// createOwned creates a push whose key and payload can be found in the file.
func createOwned(t *testing.T, db *bolt.DB, n int, owner record.AccountID) {
	t.Helper()
	p := newPush(n)
	p.Owner, p.ViewLimit, p.Wrap, p.ExpiresAt = owner, 1<<20, []byte(endKey), endTime
	if owner != 0 {
		p.Link = []byte("sealed link")
	}
	env.OK(t, conformance.Made(db.CreatePush(t.Context(), p, []byte(endPayload), record.Entry{Kind: record.EntryCreation})))
}

// newOwner adds an account.
func newOwner(t *testing.T, db *bolt.DB) record.AccountID {
	t.Helper()
	owner, err := cold.CreateAccount(t.Context(), db, record.Account{Email: "owner@example.org", PasswordHash: "$argon2id$"}, conformance.Told)
	env.OK(t, err)
	return owner
}

// The ways in which a push ends: with an entry, or by its time alone.
var ends = map[string]record.Rule{
	"the last view": func(p record.Push) (record.Push, record.Entry, error) {
		p, e, _ := view(p)
		p.State, p.Wrap, p.Link, p.ExpiredAt = record.Expired, nil, nil, endTime.Add(-time.Hour)
		return p, e, nil
	},
	"a delete": func(p record.Push) (record.Push, record.Entry, error) {
		p.State, p.Wrap, p.Link, p.ExpiredAt = record.Deleted, nil, nil, endTime.Add(-time.Hour)
		p.Seq++
		return p, record.Entry{Kind: record.EntryExpire}, nil
	},
	"its time": func(p record.Push) (record.Push, record.Entry, error) {
		p.State, p.Wrap, p.Link, p.ExpiredAt = record.Expired, nil, nil, p.ExpiresAt
		return p, record.Entry{}, nil
	},
}

// failedView counts a view of a push that has ended.
func failedView(p record.Push) (record.Push, record.Entry, error) {
	p.Seq++
	p.Minor++
	return p, record.Entry{Kind: record.EntryFailedView}, nil
}

func mustChange(t *testing.T, db *bolt.DB, n int, r record.Rule) record.Change {
	t.Helper()
	c, err := db.Change(t.Context(), id(n), r)
	env.OK(t, err)
	return c
}

// wantOver fails the test unless every reader says that the push has ended, and the
// check finds nothing.
func wantOver(t *testing.T, db *bolt.DB, n int, owner record.AccountID) {
	t.Helper()
	p, size, err := db.Push(t.Context(), id(n))
	if err != nil || p.Live() || p.Wrap != nil || size != 0 {
		t.Errorf("the push is %+v with a payload of %d bytes, %v", p, size, err)
	}
	if c := mustChange(t, db, n, func(p record.Push) (record.Push, record.Entry, error) { return p, record.Entry{}, nil }); c.Payload != nil || c.Push.Live() {
		t.Errorf("a rule gets %+v with the payload %q", c.Push, c.Payload)
	}
	for _, live := range []bool{true, false} {
		list, err := db.Pushes(t.Context(), owner, live, record.ID{}, 0, 100)
		there := slices.ContainsFunc(list, func(p record.Push) bool { return p.ID == id(n) })
		if err != nil || there == live {
			t.Errorf("in the list of live ones (%t): %t, %v", live, there, err)
		}
	}
	for queue, want := range map[record.ExpiryQueue]bool{record.Expiring: false, record.ExpiredOwned: true} {
		due, _, err := db.Due(t.Context(), queue, record.ExpiryPlace{}, endTime.AddDate(1, 0, 0), 100)
		if err != nil || slices.Contains(due, id(n)) != want {
			t.Errorf("in queue %d: %t, %v", queue, !want, err)
		}
	}
	es, err := db.Entries(t.Context(), id(n), 0, 100)
	if err != nil || len(es) != int(p.Seq) {
		t.Errorf("it has %d entries of %d, %v", len(es), p.Seq, err)
	}
	all, err := db.Scan(t.Context(), record.ID{}, 100)
	if err != nil || slices.ContainsFunc(all, func(p record.Push) bool { return p.ID == id(n) && p.Live() }) {
		t.Errorf("a scan finds it live, %v", err)
	}
	conformance.CheckClean(t, db)
}

// rowsWith returns how many rows, of pushes and of payloads, have what an end destroys.
func rowsWith(t *testing.T, db *bolt.DB) (keys, sealed int) {
	t.Helper()
	count := func(b *bbolt.Tx, name, what string) (n int, err error) {
		err = b.Bucket([]byte(name)).ForEach(func(_, v []byte) error {
			if bytes.Contains(v, []byte(what)) {
				n++
			}
			return nil
		})
		return n, err
	}
	env.OK(t, db.Look(t.Context(), func(b *bbolt.Tx) (err error) {
		keys, err = count(b, "pushes", endKey)
		if err == nil {
			sealed, err = count(b, "payloads", endPayload)
		}
		return err
	}))
	return keys, sealed
}

func TestAnEndIsOneRowOfTheJournal(t *testing.T) {
	t.Parallel()
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := newPath(t)
			db := open(t, bolt.Options{Path: path})
			db.KeepJournal(t, 100)
			owner := newOwner(t, db)
			createOwned(t, db, 1, owner)
			createOwned(t, db, 2, owner)
			mustChange(t, db, 1, view)
			before := db.Rows(t)
			c := mustChange(t, db, 1, end)
			if string(c.Payload) != endPayload {
				t.Errorf("the end delivers %q", c.Payload)
			}
			after := db.Rows(t)
			for row, v := range before {
				if after[row] != v && row != "meta/sums" && !strings.HasPrefix(row, "room/") {
					t.Errorf("the end changed %q", row)
				}
			}
			if takes, err := db.Rooms(t.Context(), []record.Push{{Owner: owner}}); err != nil || takes[0].Pushes != 1 {
				t.Errorf("the owner has %+v, %v", takes, err)
			}
			if len(after) != len(before)+1 || db.JournalRows(t) != 2 {
				t.Errorf("%d rows became %d", len(before), len(after))
			}
			wantOver(t, db, 1, owner)
			mustChange(t, db, 1, failedView)
			if n := db.JournalRows(t); n != 3 {
				t.Errorf("%d rows are in the journal", n)
			}
			for _, db := range []*bolt.DB{db, open(t, bolt.Options{Path: asKilled(t, path)})} {
				wantOver(t, db, 1, owner)
				db.FoldJournal(t)
				wantOver(t, db, 1, owner)
				if keys, sealed := rowsWith(t, db); keys != 1 || sealed != 1 {
					t.Errorf("folded, %d keys and %d payloads are in the file", keys, sealed)
				}
			}
		})
	}
}

// A kill may come at any moment of the work on the rows, and other changes too.
func TestAnEndStaysWhateverBecomesOfItsRow(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]record.Rule{
		"nothing":       func(p record.Push) (record.Push, record.Entry, error) { return p, record.Entry{}, nil },
		"a failed view": failedView,
		"a later time": func(p record.Push) (record.Push, record.Entry, error) { // bypasses the journal
			p.ExpiredAt = p.ExpiredAt.Add(time.Minute)
			return p, record.Entry{}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for steps := range 10 {
				path := newPath(t)
				db := open(t, bolt.Options{Path: path})
				db.KeepJournal(t, 100)
				owner := newOwner(t, db)
				for n := range 4 {
					createOwned(t, db, n, owner)
					mustChange(t, db, n, view)
				}
				mustChange(t, db, 1, ends["a delete"])
				mustChange(t, db, 3, ends["its time"])
				rows := db.Journal(t)
				db.StepJournal(t, steps)
				for _, n := range []int{1, 3} {
					mustChange(t, db, n, next)
				}
				mustChange(t, db, 2, ends["the last view"]) // in the second generation
				for _, db := range []*bolt.DB{db, open(t, bolt.Options{Path: asKilled(t, path)})} {
					for range 2 {
						for n := 1; n < 4; n++ {
							wantOver(t, db, n, owner)
						}
						db.FoldJournal(t)
					}
					if keys, sealed := rowsWith(t, db); keys != 1 || sealed != 1 {
						t.Errorf("after %d steps, %d keys and %d payloads are in the file", steps, keys, sealed)
					}
				}
				if name == "nothing" { // else the rows are not as they were
					db.PutJournal(t, rows)
					again := open(t, bolt.Options{Path: asKilled(t, path)})
					again.FoldJournal(t)
					wantOver(t, again, 1, owner)
					wantOver(t, again, 3, owner)
				}
			}
		})
	}
}

func TestAPushThatEndedMayBePurgedAndMadeAgainAtAnyMoment(t *testing.T) {
	t.Parallel()
	for steps := range 10 {
		path := newPath(t)
		db := open(t, bolt.Options{Path: path})
		db.KeepJournal(t, 100)
		owner := newOwner(t, db)
		createOwned(t, db, 1, owner)
		createOwned(t, db, 2, owner)
		mustChange(t, db, 1, ends["its time"])
		db.StepJournal(t, steps)
		mustChange(t, db, 1, purge)
		if list, err := db.Pushes(t.Context(), owner, false, record.ID{}, 0, 10); err != nil || len(list) != 0 {
			t.Errorf("after %d steps %d are listed, %v", steps, len(list), err)
		}
		conformance.CheckClean(t, db)
		createOwned(t, db, 1, owner)
		for _, db := range []*bolt.DB{db, open(t, bolt.Options{Path: asKilled(t, path)})} {
			for range 2 {
				if p, size, err := db.Push(t.Context(), id(1)); err != nil || !p.Live() || size == 0 {
					t.Errorf("after %d steps: %+v, %v", steps, p, err)
				}
				if list, err := db.Pushes(t.Context(), owner, true, record.ID{}, 0, 10); err != nil || len(list) != 2 {
					t.Errorf("after %d steps %d are listed, %v", steps, len(list), err)
				}
				conformance.CheckClean(t, db)
				db.FoldJournal(t)
			}
		}
	}
}

// awaitEmpty waits until the journal is empty.
func awaitEmpty(t *testing.T, db *bolt.DB) {
	t.Helper()
	env.Eventually(t, "the journal is folded", func() bool { return db.JournalRows(t) == 0 })
}

func TestAnEndIsFoldedSoonAndAViewIsNot(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	db := open(t, bolt.Options{Path: path})
	db.KeepJournal(t, 100)
	owner := newOwner(t, db)
	for n := range 3 {
		createOwned(t, db, n, owner)
	}
	mustChange(t, db, 1, ends["its time"])
	again := open(t, bolt.Options{Path: asKilled(t, path)}) // and no operation
	db.FoldJournal(t)
	db.FoldEndsSoon(t)
	changeAll(t, db, []int{0, 2, 0, 2})
	if n := db.JournalRows(t); n != 4 {
		t.Fatalf("%d rows of 4 are in the journal", n)
	}
	mustChange(t, db, 2, ends["a delete"])
	awaitEmpty(t, db)
	awaitEmpty(t, again)
	for db, live := range map[*bolt.DB]int{db: 1, again: 2} {
		wantOver(t, db, 1, owner)
		if keys, sealed := rowsWith(t, db); keys != live || sealed != live {
			t.Errorf("%d keys and %d payloads are in the file", keys, sealed)
		}
	}
}

func TestABackupHasNothingOfAPushThatHasEnded(t *testing.T) {
	t.Parallel()
	db := open(t, bolt.Options{Path: newPath(t)})
	db.KeepJournal(t, 100)
	owner := newOwner(t, db)
	createOwned(t, db, 1, owner)
	mustChange(t, db, 1, ends["the last view"])
	backup, temp, err := db.Backup(t.Context(), "", func(int64, int64) {})
	env.OK(t, err)
	env.OK(t, errors.Join(backup.Unlock(t.Context(), conformance.Keys{}, nil, nil), backup.Close()))
	copied := open(t, bolt.Options{Path: temp})
	if keys, sealed := rowsWith(t, copied); keys != 0 || sealed != 0 {
		t.Errorf("%d keys and %d payloads are in the backup", keys, sealed)
	}
	wantOver(t, copied, 1, owner)
}

func TestTheNumberOfLivePushesLeavesOutThoseThatEndedInTheJournal(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	db := open(t, bolt.Options{Path: path})
	db.KeepJournal(t, 100)
	owner := newOwner(t, db)
	for n := range 8 {
		createOwned(t, db, n, owner)
	}
	mustChange(t, db, 1, ends["its time"])
	want := func(db *bolt.DB, n int64) {
		t.Helper()
		if got := live(t, db); got != n {
			t.Errorf("%d are live, of %d", got, n)
		}
	}
	for _, db := range []*bolt.DB{open(t, bolt.Options{Path: asKilled(t, path)}), db} {
		want(db, 7)
		mustChange(t, db, 2, ends["a delete"])
		want(db, 6)
		mustChange(t, db, 2, purge)
		mustChange(t, db, 1, failedView)
		want(db, 6)
		db.FoldJournal(t)
		want(db, 6)
	}
}

// Each list shows one moment, with at least all that was answered before.
func TestListsHaveEachPushOnceWhileItEndsAndIsFolded(t *testing.T) {
	t.Parallel()
	const writers = 8
	each := int(env.Length(t, "PUSHBOX_TEST_JOURNAL_VIEWS")) / 5
	most := writers*each + 1 // that a list may have
	db := open(t, bolt.Options{Path: newPath(t)})
	db.NoSync()
	db.TinyJournal(t)
	owner := newOwner(t, db)
	for n := range writers * each {
		createOwned(t, db, n, owner)
	}
	var answered atomic.Int64
	var writing, reading sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			for i := range each {
				end := ends[[]string{"the last view", "a delete", "its time"}[i%3]]
				if _, err := db.Change(t.Context(), id(w*each+i), end); err != nil {
					t.Error(err)
				}
				answered.Add(1)
			}
		})
	}
	done := make(chan struct{})
	for range 2 {
		reading.Go(func() {
			for before := answered.Load(); ; before = answered.Load() {
				over, err := db.Pushes(t.Context(), owner, false, record.ID{}, 0, most)
				alive, liveErr := db.Pushes(t.Context(), owner, true, record.ID{}, 0, most)
				due, _, dueErr := db.Due(t.Context(), record.ExpiredOwned, record.ExpiryPlace{}, endTime, most)
				if err := errors.Join(err, liveErr, dueErr); err != nil {
					t.Error(err)
				}
				sorted := slices.IsSortedFunc(over, func(a, b record.Push) int { return -bytes.Compare(a.ID[:], b.ID[:]) })
				if int64(len(over)) < before || len(over)+len(alive) > writers*each || len(due) < len(over) || !sorted {
					t.Errorf("after %d ends: %d have ended, then %d are live and %d due, in order: %t", before, len(over), len(alive), len(due), sorted)
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	writing.Wait()
	close(done)
	reading.Wait()
	if list, err := db.Pushes(t.Context(), owner, false, record.ID{}, 0, most); err != nil || len(list) != writers*each {
		t.Errorf("%d have ended of %d, %v", len(list), writers*each, err)
	}
	conformance.CheckClean(t, db)
}

// A page of a list is the same whether its rows are folded or not.
func TestPagesOfListsMergeWithTheJournal(t *testing.T) {
	t.Parallel()
	const pushes = 30
	random := rand.New(rand.NewPCG(1, 2))
	db := open(t, bolt.Options{Path: newPath(t)})
	db.KeepJournal(t, 1000)
	owner := newOwner(t, db)
	over := make(map[int]bool)
	for n := range pushes {
		createOwned(t, db, n, owner)
	}
	for round := range 4 {
		for range 4 {
			n := random.IntN(pushes)
			over[n] = true
			mustChange(t, db, n, func(p record.Push) (record.Push, record.Entry, error) {
				if !p.Live() {
					return failedView(p)
				}
				return ends["a delete"](p)
			})
		}
		for _, live := range []bool{true, false} {
			var all []record.ID
			for n := pushes - 1; n >= 0; n-- {
				if over[n] != live {
					all = append(all, id(n))
				}
			}
			for skip := range pushes + 1 {
				list, err := db.Pushes(t.Context(), owner, live, record.ID{}, skip, 3)
				want := all[min(skip, len(all)):min(skip+3, len(all))]
				got := fmt.Sprint(ids(list))
				if err != nil || got != fmt.Sprint(append([]record.ID(nil), want...)) {
					t.Errorf("round %d, live %t, from %d on: %v, not %v, %v", round, live, skip, got, want, err)
				}
			}
		}
		db.StepJournal(t, 5)
	}
}

func ids(list []record.Push) (ids []record.ID) {
	for _, p := range list {
		ids = append(ids, p.ID)
	}
	return ids
}
