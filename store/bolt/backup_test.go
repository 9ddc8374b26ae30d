package bolt_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.etcd.io/bbolt"

	"pushbox/internal/testkit/env"
	"pushbox/store/bolt"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

// backup makes a backup beside path and opens it. The backup is removed when the test
// ends.
func backup(t *testing.T, db *bolt.DB, path string) (b *bolt.DB, temp string) {
	t.Helper()
	e, temp, err := db.Backup(t.Context(), path, func(_, _ int64) {})
	env.OK(t, err)
	b = e.(*bolt.DB)
	env.OK(t, b.Unlock(t.Context(), conformance.Keys{}, nil, nil))
	t.Cleanup(func() {
		if err := errors.Join(b.Close(), os.Remove(temp)); err != nil {
			t.Error(err)
		}
	})
	return b, temp
}

func TestABackupHoldsTheSameAndNothingOfWhatWasDeleted(t *testing.T) {
	t.Parallel()
	path := filled(t)
	db := open(t, bolt.Options{Path: path, NoErase: true})
	deleted := bytes.Repeat([]byte("deleted!"), 4096)
	env.OK(t, conformance.Made(db.CreatePush(t.Context(), newPush(200), deleted, record.Entry{Kind: record.EntryCreation})))
	if _, err := db.Change(t.Context(), id(200), purge); err != nil {
		t.Fatal(err)
	}
	elsewhere := filepath.Join(t.TempDir(), "copy")
	b, temp := backup(t, db, elsewhere)
	if info, err := os.Stat(temp); err != nil || info.Mode() != 0o600 || !strings.HasPrefix(temp, elsewhere+".new-") {
		t.Errorf("%s: %v, %v", temp, info, err)
	}
	conformance.CheckFilled(t, b)
	conformance.CheckClean(t, b)
	if !maps.Equal(db.Rows(t), b.Rows(t)) {
		t.Error("it has other rows")
	}
	if !bytes.Contains(env.Read(t, path), deleted[:4000]) || bytes.Contains(env.Read(t, temp), []byte("deleted!")) {
		t.Error("a deleted row is in it, or was not in the file before")
	}
	if db.Recording() {
		t.Error("the committer still records what it writes")
	}
	mustCreate(t, db, 1) // and the database keeps working, by itself
	if has(t, b, 1) {
		t.Error("a later push is in the backup")
	}
	wantOnlyFile(t, path)
}

func TestABackupBesideWritersHoldsWhatWasAnsweredBefore(t *testing.T) {
	t.Parallel()
	db := open(t, bolt.Options{Path: filled(t)})
	done := make(chan struct{})
	var writers sync.WaitGroup
	var mu sync.Mutex
	answered := 0
	for w := range 8 {
		writers.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
				}
				if err := create(context.Background(), db, 1000*(w+1)+n%1000); err != nil && !errors.Is(err, record.ErrExists) {
					t.Error(err)
					return
				}
				mu.Lock()
				answered++
				mu.Unlock()
			}
		})
	}
	for range 3 {
		before := db.Rows(t)
		b, _ := backup(t, db, filepath.Join(t.TempDir(), "copy"))
		conformance.CheckClean(t, b)
		rows := b.Rows(t)
		for key := range before {
			if _, there := rows[key]; !there && !strings.HasPrefix(key, "journal/") {
				t.Fatalf("a row of %s is missing", key[:strings.IndexByte(key, '/')])
			}
		}
	}
	close(done)
	writers.Wait()
	if answered == 0 {
		t.Error("nothing was written during the backup")
	}
}

func TestABackupAndACompactionTakeTurns(t *testing.T) {
	t.Parallel()
	path := filled(t)
	db := open(t, bolt.Options{Path: path})
	var second, third error
	temp, err := db.BackupWith(t.Context(), "", bolt.CompactOptions{Bounds: bolt.TinyBounds(), Progress: func(done, total int64) {
		if done < total {
			second = db.Compact(t.Context(), nil)
			_, _, third = db.Backup(t.Context(), "", nil)
		}
	}})
	if err != nil || !errors.Is(second, record.ErrBusy) || !errors.Is(third, record.ErrBusy) {
		t.Errorf("the first: %v, the second: %v, the third: %v", err, second, third)
	}
	mustCompact(t, db)
	if filepath.Dir(temp) != filepath.Dir(path) {
		t.Errorf("it is %s, the database %s", temp, path)
	}
	remove(t, temp)
	wantOnlyFile(t, path)
}

func TestABackupNeedsSpaceAndStopsWithoutIt(t *testing.T) {
	t.Parallel()
	path := filled(t)
	db := open(t, bolt.Options{Path: path})
	for name, first := range map[string]int64{"none at first": bolt.CopyReserve, "less and less": 1 << 40} {
		asked := 0
		_, err := db.BackupWith(t.Context(), "", bolt.CompactOptions{Bounds: bolt.TinyBounds(), Free: func(string) (int64, bool, error) {
			if asked++; asked == 1 {
				return first, true, nil
			}
			return bolt.CopyReserve - 1, true, nil
		}})
		if !errors.Is(err, record.ErrFull) {
			t.Errorf("%s: %v", name, err)
		}
		wantOnlyFile(t, path)
	}
}

func TestABackupThatFailsLeavesNoCopyAndTheStoreUnchanged(t *testing.T) {
	t.Parallel()
	path := filled(t)
	db := open(t, bolt.Options{Path: path})
	for step := range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		left := step
		_, err := db.BackupWith(ctx, "", bolt.CompactOptions{Bounds: bolt.TinyBounds(), Progress: func(_, _ int64) {
			if left--; left < 0 {
				cancel()
			}
		}})
		cancel()
		if !errors.Is(err, context.Canceled) || db.Recording() {
			t.Errorf("cancelled at step %d: %v", step, err)
		}
		wantOnlyFile(t, path)
	}
	conformance.CheckFilled(t, db)
	hurt, _ := damaged(t, "audit")
	if _, _, err := hurt.Backup(t.Context(), "", func(_, _ int64) {}); !errors.Is(err, record.ErrCorrupt) {
		t.Errorf("of a damaged file: %v", err)
	}
	_ = hurt.Close()
}

func TestAKeyRingIsReadWithoutTouchingTheFile(t *testing.T) {
	t.Parallel()
	path := filled(t)
	before := env.Read(t, path)
	env.OK(t, os.Chmod(path, 0o400))
	ring, err := bolt.SealedRing(path)
	if err != nil || string(ring) != "sealed" || !bytes.Equal(before, env.Read(t, path)) {
		t.Errorf("%q, %v", ring, err)
	}
}

func TestAFileThatCannotBeRestoredIsRefusedWithItsReason(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(t *testing.T, path string)
		want  error
	}{
		"of a later version": {func(t *testing.T, path string) {
			setSchema(t, path, []byte{0, 0, 1, 0})
		}, record.ErrSchema},
		"not a database": {func(t *testing.T, path string) { write(t, path, []byte("no database\n")) }, record.ErrCorrupt},
		"empty":          {func(t *testing.T, path string) { write(t, path, nil) }, record.ErrCorrupt},
		"cut":            {func(t *testing.T, path string) { cut(t, path, 3*pageSize) }, record.ErrCorrupt},
		"no ring": {func(t *testing.T, path string) {
			rawUpdate(t, path, func(b *bbolt.Tx) error { return b.Bucket([]byte("meta")).Delete([]byte("key_ring")) })
		}, record.ErrCorrupt},
	} {
		path := filled(t)
		c.spoil(t, path)
		if _, err := bolt.SealedRing(path); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	older := filled(t)
	setSchema(t, older, []byte{0, 0, 0, 1})
	if _, err := bolt.SealedRing(older); err != nil {
		t.Errorf("a file of an earlier version is left to Open: %v", err)
	}
}
