package bolt

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"pushbox/internal/testkit/env"
	"pushbox/store/cold"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

// dayOne is a time that rows have.
var dayOne = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// filled is a database with rows in every bucket with tags.
func filled(t *testing.T) *DB {
	t.Helper()
	db := newDB(t, Options{})
	db.KeepJournal(t, 100)
	conformance.Fill(t, db)
	env.OK(t, db.do(t.Context(), 0, func(t *tx) error {
		return errors.Join(t.tables().Put(record.Quotas.Table, record.QuotaCount{Of: 1, Day: 1, N: 1}), t.tables().Put(record.Messages.Table, record.Message{Route: record.ByWebhook, NextAt: dayOne}))
	}))
	if _, err := cold.CreateHook(t.Context(), db, record.Hook{Owner: 1}, conformance.Told); err != nil {
		t.Fatal(err)
	}
	if found := problems(t, db); len(found) > 0 {
		t.Fatalf("before anything was changed: %q", found)
	}
	return db
}

// forge changes a bucket of the file past the engine, as an attacker without keys can.
func forge(t *testing.T, db *DB, b bucket, change func(*bbolt.Bucket) error) {
	t.Helper()
	env.OK(t, db.Raw(func(tx *bbolt.Tx) error { return change(tx.Bucket(bucketNames[b])) }))
}

// stored returns the rows of a bucket as they are in the file, without those that have no
// tag.
func stored(t *testing.T, db *DB, b bucket) (rows []row) {
	t.Helper()
	err := db.raw().View(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucketNames[b]).ForEach(func(k, v []byte) error {
			if hasTag(b, k) {
				rows = append(rows, row{key: bytes.Clone(k), value: bytes.Clone(v)})
			}
			return nil
		})
	})
	env.OK(t, err)
	return rows
}

// walk reads all rows of a bucket that have a tag.
func walk(t *testing.T, db *DB, b bucket) error {
	t.Helper()
	return db.view(t.Context(), func(t *tx) error {
		for c, k := t.cursor(b), []byte(nil); ; {
			if k == nil {
				k, _ = c.First()
			} else {
				k, _ = c.Next()
			}
			if k == nil {
				return nil
			}
		}
	})
}

// wantFound checks that a check finds one problem, of a bucket.
func wantFound(t *testing.T, db *DB, b bucket, want string) {
	t.Helper()
	found := problems(t, db)
	if !slices.ContainsFunc(found, func(p string) bool { return strings.Contains(p, b.String()+": ") && strings.Contains(p, want) }) {
		t.Errorf("%s: a check finds %q", b, found)
	}
}

func eachTagged(t *testing.T, try func(t *testing.T, b bucket)) {
	t.Helper()
	for b := range bucketCount {
		if tagged[b] {
			t.Run(b.String(), func(t *testing.T) {
				t.Parallel()
				try(t, b)
			})
		}
	}
}

func TestARowThatWasChangedIsNotBelieved(t *testing.T) {
	t.Parallel()
	eachTagged(t, func(t *testing.T, b bucket) {
		db := filled(t)
		rows := stored(t, db, b)
		if len(rows) == 0 {
			t.Fatal("the bucket is empty")
		}
		r := rows[0]
		r.value[0] ^= 1
		forge(t, db, b, func(in *bbolt.Bucket) error { return in.Put(r.key, r.value) })
		if err := walk(t, db, b); !errors.Is(err, record.ErrCorrupt) {
			t.Errorf("it is read: %v", err)
		}
		wantFound(t, db, b, errRow.Error())
		if _, err := db.KeepTime(t.Context(), dayOne.AddDate(9, 0, 0)); err != nil && b != meta {
			t.Errorf("the store stopped: %v", err)
		}
	})
}

func TestARowThatWasRemovedIsMissed(t *testing.T) {
	t.Parallel()
	eachTagged(t, func(t *testing.T, b bucket) {
		db := filled(t)
		r := stored(t, db, b)[0]
		forge(t, db, b, func(in *bbolt.Bucket) error { return in.Delete(r.key) })
		wantFound(t, db, b, "rows are missing")
	})
}

func TestARowOfAnotherTimeIsFound(t *testing.T) {
	t.Parallel()
	eachTagged(t, func(t *testing.T, b bucket) {
		db := filled(t)
		before := stored(t, db, b)[0]
		env.OK(t, db.do(t.Context(), 0, func(t *tx) error { return t.put(b, before.key, []byte("later")) }))
		forge(t, db, b, func(in *bbolt.Bucket) error { return in.Put(before.key, before.value) })
		wantFound(t, db, b, "or from another time")
	})
}

// With a lower sequence, a new account would get the ID of another and own its pushes.
func TestANumberIsNotGivenOutTwice(t *testing.T) {
	t.Parallel()
	db := filled(t)
	forge(t, db, accounts, func(in *bbolt.Bucket) error { return in.SetSequence(0) })
	if _, err := cold.CreateAccount(t.Context(), db, record.Account{Email: "mallory@example.com"}, conformance.Told); !errors.Is(err, record.ErrCorrupt) {
		t.Errorf("an account is made: %v", err)
	}
	wantFound(t, db, accounts, "its last number is too low")
}

// Commits continue without the sums, and never make new ones.
func TestSumsThatWereChangedStayAsTheyAre(t *testing.T) {
	t.Parallel()
	db := filled(t)
	forge(t, db, meta, func(in *bbolt.Bucket) error {
		v := bytes.Clone(in.Get([]byte(metaSums)))
		v[0] ^= 1
		return in.Put([]byte(metaSums), v)
	})
	if err := createSize(t, db, 999, 1); err != nil {
		t.Errorf("a push is not made: %v", err)
	}
	if _, err := cold.CreateAccount(t.Context(), db, record.Account{Email: "mallory@example.com"}, conformance.Told); !errors.Is(err, record.ErrCorrupt) {
		t.Errorf("an account is made: %v", err)
	}
	wantFound(t, db, meta, errRow.Error())
}

// versions are keys of several versions.
type versions struct{ oldest, newest uint16 }

func (v versions) RowVersion() uint16 { return v.newest }

func (v versions) RowSum(version uint16, bucket string, key, value []byte) (sum [32]byte, ok bool) {
	if version < v.oldest || version > v.newest {
		return sum, false
	}
	if version > 1 {
		bucket = fmt.Sprintf("%d %s", version, bucket)
	}
	return conformance.Keys{}.RowSum(1, bucket, key, value)
}

func TestRowsOfTwoKeysAreReadSideBySide(t *testing.T) {
	t.Parallel()
	db := filled(t)
	use := func(v versions) {
		t.Helper()
		env.OK(t, db.SetKeyRing(t.Context(), []byte("ring"), v, conformance.Told))
	}
	use(versions{1, 2})
	a, err := cold.CreateAccount(t.Context(), db, record.Account{Email: "new@example.com"}, conformance.Told)
	env.OK(t, err)
	if _, err := cold.ChangeAccount(t.Context(), db, 1, record.SessionDigest{}, func(a record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
		a.Disabled = !a.Disabled
		return a, record.SessionChange{}, conformance.Told, nil
	}); err != nil {
		t.Fatal(err)
	}
	if found := problems(t, db); len(found) > 0 {
		t.Errorf("with two keys: %q", found)
	}
	use(versions{2, 2})
	for _, id := range []record.AccountID{1, a} {
		if _, err := cold.Account(t.Context(), db, id); err != nil {
			t.Errorf("account %d, under the second key: %v", id, err)
		}
	}
	if err := walk(t, db, pushes); !errors.Is(err, record.ErrCorrupt) {
		t.Errorf("pushes under the first: %v", err)
	}
	use(versions{1, 2}) // for the check at the end
}

// A push that cannot be folded keeps its rows in the journal, and nothing else: what the
// ends of other pushes destroy goes all the same.
func TestAForgedPushDoesNotKeepWhatOthersLoseAtTheirEnd(t *testing.T) {
	t.Parallel()
	const all, forged = 40, 7
	path := filepath.Join(t.TempDir(), "pushbox.db")
	open := func() *DB {
		db, _, err := OpenUnlocked(t.Context(), Options{Path: path})
		env.OK(t, err)
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
	db := open()
	db.KeepJournal(t, 1000)
	for n := 1; n <= all; n++ {
		env.OK(t, createSize(t, db, n, 100))
	}
	change := func(n int, r record.Rule) error {
		_, err := db.Change(t.Context(), record.ID{21: byte(n)}, r)
		return err
	}
	counted := func(p record.Push) (record.Push, record.Entry, error) {
		p.Seq, p.Minor = p.Seq+1, p.Minor+1
		return p, record.Entry{Kind: record.EntryFailedPassphrase}, nil
	}
	over := func(p record.Push) (record.Push, record.Entry, error) {
		p.Seq, p.State, p.Wrap, p.ExpiredAt = p.Seq+1, record.Expired, nil, dayOne
		return p, record.Entry{Kind: record.EntryExpire}, nil
	}
	for n := 1; n <= all; n++ {
		env.OK(t, change(n, counted))
	}
	key := record.ID{21: forged}
	var was []byte
	forge(t, db, pushes, func(in *bbolt.Bucket) error {
		was = bytes.Clone(in.Get(key[:]))
		other := bytes.Clone(was)
		other[len(other)-1]++
		return in.Put(key[:], other)
	})
	rows := func(b bucket) (n int) {
		forge(t, db, b, func(in *bbolt.Bucket) error { n = in.Stats().KeyN; return nil })
		return n
	}
	for n := 1; n < all; n++ {
		if err := change(n, over); (n == forged) != errors.Is(err, record.ErrCorrupt) || n != forged && err != nil {
			t.Errorf("the end of push %d: %v", n, err)
		}
	}
	for range 2 { // and the second time nothing changes
		db.FoldJournal(t)
		if p, j := rows(payloads), rows(journalRows); p != 2 || j != 1 {
			t.Errorf("%d payloads and %d rows of the journal are left", p, j)
		}
	}
	if err := errors.Join(change(all, over), db.Close()); err != nil { // which folds ends
		t.Fatal(err)
	}

	db = open()
	if p, j := rows(payloads), rows(journalRows); p != 1 || j != 1 {
		t.Errorf("after a stop %d payloads and %d rows of the journal are left", p, j)
	}
	forge(t, db, pushes, func(in *bbolt.Bucket) error { return in.Put(key[:], was) })
	db.FoldJournal(t)
	if p, err := conformance.Push(t.Context(), db, key); err != nil || p.Minor != 1 || rows(journalRows) != 0 {
		t.Errorf("as it was, the push has %d changes and %d rows of the journal are left: %v", p.Minor, rows(journalRows), err)
	}
	if found := problems(t, db); len(found) > 0 {
		t.Errorf("in the end: %q", found)
	}
}
