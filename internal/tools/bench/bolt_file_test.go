package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"

	"pushbox/internal/testkit/env"
)

// A heap is the size of a bucket.
type heap struct{ rows, keys, values int }

// heaps measures the buckets of a database that is not open.
func heaps(t *testing.T, path string) map[string]heap {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: env.Patience, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	all := make(map[string]heap)
	err = db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
			var h heap
			defer func() { all[string(name)] = h }()
			return b.ForEach(func(k, v []byte) error {
				h = heap{h.rows + 1, h.keys + len(k), h.values + len(v)}
				return nil
			})
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestABareCreateWritesTheRowsOfACreate(t *testing.T) {
	t.Parallel()
	o := options{stored: 3, payload: 100, only: boltOnly, dir: t.TempDir(), subjects: []spec{{name: "p", path: os.Args[0], api: apis["v2"]}}}
	b, err := newBench(o, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := b.close(); err != nil {
			t.Error(err)
		}
	}()
	s := b.subjects[1]
	if err := b.ready(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	path, err := b.copyStore(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	before := heaps(t, path)
	f, err := openBareFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := f.create(); err != nil {
			t.Error(err)
		}
	}
	b.o.stored = 2
	if err := errors.Join(f.close(), s.fill(t.Context(), b.o), s.stop()); err != nil {
		t.Fatal(err)
	}
	bare, box := heaps(t, path), heaps(t, filepath.Join(s.dataDir(b.dir), "pushbox.db"))
	for name := range box {
		if name != "meta" && bare[name] != box[name] { // pushbox keeps the time there, now and then
			t.Errorf("%s: before it was %v, bare it is %v, with pushbox %v", name, before[name], bare[name], box[name])
		}
	}
	if bare[pushesBucket].rows != 5 {
		t.Errorf("there are %d pushes", bare[pushesBucket].rows)
	}
}

func TestABareViewWritesARowOfTheJournal(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: env.Patience})
	if err != nil {
		t.Fatal(err)
	}
	id := []byte("an ID of 22 characters")
	err = db.Update(func(tx *bbolt.Tx) error {
		return errors.Join(makeBuckets(tx),
			put(tx, pushesBucket, id, []byte("record")), put(tx, payloadsBucket, id, []byte("payload")),
			put(tx, auditBucket, auditKey(id, 0), []byte("entry")), put(tx, expiryBucket, append(make([]byte, 9), id...), nil))
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	before := heaps(t, path)
	f, err := openBareFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.view(), f.view(), f.close()); err != nil {
		t.Fatal(err)
	}
	before[journalBucket] = heap{2, 2 * 8, 2 * (22 + countsLen + len("entry"))}
	for name, want := range before {
		if got := heaps(t, path)[name]; got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}

func TestADatabaseOfAnotherLayoutIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	for _, step := range []func(*bbolt.Tx) error{
		func(*bbolt.Tx) error { return nil },
		makeBuckets,
		func(tx *bbolt.Tx) error { return put(tx, pushesBucket, []byte("short"), nil) },
	} {
		db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: env.Patience})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(db.Update(step), db.Close()); err != nil {
			t.Fatal(err)
		}
		if _, err := openBareFile(path); !errors.Is(err, errShape) {
			t.Errorf("got %v", err)
		}
	}
}

func makeBuckets(tx *bbolt.Tx) error {
	var errs []error
	for _, name := range []string{pushesBucket, payloadsBucket, auditBucket, expiryBucket, journalBucket} {
		_, err := tx.CreateBucket([]byte(name))
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
