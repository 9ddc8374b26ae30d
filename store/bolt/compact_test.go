package bolt_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"sync"
	"testing"

	"go.etcd.io/bbolt"

	"pushbox/internal/testkit/env"
	"pushbox/store/bolt"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

// payloadPush creates a push with a payload of that many bytes.
func payloadPush(t *testing.T, db *bolt.DB, n, size int) {
	t.Helper()
	payload := make([]byte, size)
	for i := range payload {
		payload[i] = byte(i * n)
	}
	env.OK(t, conformance.Made(db.CreatePush(t.Context(), newPush(n), payload, record.Entry{Kind: record.EntryCreation})))
}

// sparse stores pushes with payloads of size and purges nine of ten.
func sparse(t *testing.T, db *bolt.DB, pushes, size int) {
	t.Helper()
	for n := range pushes {
		payloadPush(t, db, 100+n, size)
	}
	for n := range pushes {
		if n%10 == 0 {
			continue
		}
		if _, err := db.Change(t.Context(), id(100+n), purge); err != nil {
			t.Fatal(err)
		}
	}
}

func mustCompact(t *testing.T, db *bolt.DB) {
	t.Helper()
	env.OK(t, db.Compact(t.Context(), func(_, _ int64) {}))
}

func space(t *testing.T, db *bolt.DB) record.Space {
	t.Helper()
	s, err := db.Stats(t.Context())
	env.OK(t, err)
	return s.Space
}

func TestACompactedFileHoldsTheSameAndIsSmall(t *testing.T) {
	t.Parallel()
	path := filled(t)
	db := open(t, bolt.Options{Path: path})
	sparse(t, db, 100, 64<<10)
	before, rows := space(t, db), db.Rows(t)
	mustCompact(t, db)
	after := space(t, db)
	if before.Unused < 5<<20 || after.Size > 1<<20 || after.Unused > 128<<10 {
		t.Errorf("%d bytes with %d unused became %d with %d unused", before.Size, before.Unused, after.Size, after.Unused)
	}
	for round := range 2 {
		conformance.CheckFilled(t, db)
		conformance.CheckClean(t, db)
		if !maps.Equal(rows, db.Rows(t)) {
			t.Error("it has other rows")
		}
		if round == 0 {
			closeDB(t, db)
			db = open(t, bolt.Options{Path: path})
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o600 || info.Size() != after.Size {
		t.Errorf("mode %v, %d bytes, %v", info.Mode(), info.Size(), err)
	}
	wantOnlyFile(t, path)
}

func TestAnEmptyStoreCanBeCompactedAgainAndAgain(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	db := open(t, bolt.Options{Path: path})
	for n := range 5 {
		mustCompact(t, db)
		mustCreate(t, db, n)
	}
	for n := range 5 {
		if !has(t, db, n) {
			t.Errorf("push %d is gone", n)
		}
	}
	wantOnlyFile(t, path)
}

func TestSpaceIsTheSizeOfTheFileAndOfItsFreePages(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	db := open(t, bolt.Options{Path: path})
	payloadPush(t, db, 1, 300<<10)
	full := space(t, db)
	if info, err := os.Stat(path); err != nil || info.Size() != full.Size {
		t.Errorf("%d bytes are reported as %d: %v", info.Size(), full.Size, err)
	}
	if _, err := db.Change(t.Context(), id(1), purge); err != nil {
		t.Fatal(err)
	}
	if s := space(t, db); s.Unused < full.Unused+300<<10 || s.Unused > s.Size {
		t.Errorf("%d of %d bytes are unused, %d were before a purge of 300 KiB", s.Unused, s.Size, full.Unused)
	}
}

func TestProgressGrowsToItsTotal(t *testing.T) {
	t.Parallel()
	db := open(t, bolt.Options{Path: filled(t)})
	for _, bounds := range []*bolt.Bounds{nil, bolt.TinyBounds()} {
		var done, total int64
		calls := 0
		err := db.CompactWith(t.Context(), bolt.CompactOptions{Bounds: bounds, Progress: func(d, a int64) {
			if d < done || a < total || d > a {
				t.Errorf("%d of %d came after %d of %d", d, a, done, total)
			}
			done, total, calls = d, a, calls+1
		}})
		if err != nil || done != total || done == 0 || bounds != nil && calls < 30 {
			t.Errorf("%d calls, the last with %d of %d: %v", calls, done, total, err)
		}
	}
}

func TestASecondCompactionIsRefusedWhileOneRuns(t *testing.T) {
	t.Parallel()
	db := open(t, bolt.Options{Path: filled(t)})
	var second error
	first := db.CompactWith(t.Context(), bolt.CompactOptions{Bounds: bolt.TinyBounds(), Progress: func(done, total int64) {
		if done < total {
			second = db.Compact(t.Context(), nil)
		}
	}})
	if first != nil || !errors.Is(second, record.ErrBusy) {
		t.Errorf("the first: %v, the second: %v", first, second)
	}
	mustCompact(t, db)
}

func TestACompactionReplacesTheFileAndNotALinkToIt(t *testing.T) {
	t.Parallel()
	path := filled(t)
	link := newPath(t)
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	db := open(t, bolt.Options{Path: link})
	mustCompact(t, db)
	mustCreate(t, db, 1)
	closeDB(t, db)
	if target, err := os.Readlink(link); err != nil || target != path {
		t.Errorf("the link leads to %q: %v", target, err)
	}
	if !has(t, open(t, bolt.Options{Path: path}), 1) {
		t.Error("what was written after the compaction is not in the file")
	}
	wantOnlyFile(t, path)
	wantOnlyFile(t, link)
}

func TestAnotherFileOfThatNameIsNotReplaced(t *testing.T) {
	t.Parallel()
	path := filled(t)
	db := open(t, bolt.Options{Path: path})
	restored := env.Read(t, path)
	env.OK(t, os.Rename(path, filepath.Join(t.TempDir(), "aside")))
	write(t, path, restored)
	mustCreate(t, db, 1)
	if err := db.Compact(t.Context(), func(_, _ int64) {}); err == nil {
		t.Error("another file of that name was replaced")
	}
	mustCreate(t, db, 2)
	if got := env.Read(t, path); string(got) != string(restored) {
		t.Error("it was changed")
	}
	wantOnlyFile(t, path)
}

func TestEveryEndOfACompactionLetsTheStoreGoOn(t *testing.T) {
	t.Parallel()
	path := filled(t)
	db := open(t, bolt.Options{Path: path})
	broken := errors.New("broken")
	for step := range 40 {
		ctx, cancel := context.WithCancel(t.Context())
		left := step
		err := db.CompactWith(ctx, bolt.CompactOptions{Bounds: bolt.TinyBounds(), Progress: func(_, _ int64) {
			if left--; left < 0 {
				cancel()
			}
		}})
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled at step %d: %v", step, err)
		}
		wantOnlyFile(t, path)
	}
	for name, o := range map[string]bolt.CompactOptions{
		"the file cannot be renamed": {Replace: func(_, _ string) (bool, error) { return false, broken }},
		"free space cannot be read": {Free: func(string) (int64, bool, error) {
			return 0, false, broken
		}},
	} {
		if err := db.CompactWith(t.Context(), o); !errors.Is(err, broken) {
			t.Errorf("%s: %v", name, err)
		}
		wantOnlyFile(t, path)
	}
	if db.Recording() {
		t.Error("the committer still records what it writes")
	}
	conformance.CheckFilled(t, db)
	mustCompact(t, db)
	conformance.CheckFilled(t, db)
}

func TestClosingEndsACompaction(t *testing.T) {
	t.Parallel()
	path := filled(t)
	db := open(t, bolt.Options{Path: path})
	var closing sync.WaitGroup
	begin := sync.OnceFunc(func() {
		closing.Go(func() {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
		for create(t.Context(), db, 1) == nil { // until it does close
		}
	})
	err := db.CompactWith(t.Context(), bolt.CompactOptions{Bounds: bolt.TinyBounds(), Progress: func(_, _ int64) { begin() }})
	if !errors.Is(err, record.ErrClosed) {
		t.Errorf("got error %v", err)
	}
	closing.Wait()
	wantOnlyFile(t, path)
	if err := db.Compact(t.Context(), nil); !errors.Is(err, record.ErrClosed) {
		t.Errorf("after: %v", err)
	}
	conformance.CheckFilled(t, open(t, bolt.Options{Path: path}))
}

func TestAFailedStoreIsNotCompacted(t *testing.T) {
	t.Parallel()
	path := filled(t)
	db, _, err := bolt.OpenUnlocked(t.Context(), bolt.Options{Path: path})
	env.OK(t, err)
	fail := sync.OnceFunc(func() { db.MidCommit()(os.ErrInvalid) })
	err = db.CompactWith(t.Context(), bolt.CompactOptions{Bounds: bolt.TinyBounds(), Progress: func(_, _ int64) { fail() }})
	if !errors.Is(err, record.ErrFailed) || !errors.Is(err, os.ErrInvalid) {
		t.Errorf("it failed in the middle: %v", err)
	}
	if err := db.Compact(t.Context(), nil); !errors.Is(err, record.ErrFailed) {
		t.Errorf("it had failed: %v", err)
	}
	if _, err := db.Stats(t.Context()); !errors.Is(err, record.ErrFailed) {
		t.Errorf("space: %v", err)
	}
	closeDB(t, db)
	wantOnlyFile(t, path)
	conformance.CheckFilled(t, open(t, bolt.Options{Path: path}))
}

// After a rename without a sync of the directory, a power cut may bring the old file
// back.
func TestAReplacementThatMayNotLastFailsTheStore(t *testing.T) {
	t.Parallel()
	path := filled(t)
	db := open(t, bolt.Options{Path: path})
	broken := errors.New("broken")
	err := db.CompactWith(t.Context(), bolt.CompactOptions{Replace: func(temp, path string) (bool, error) {
		return true, errors.Join(os.Rename(temp, path), broken)
	}})
	if !errors.Is(err, record.ErrFailed) || !errors.Is(err, broken) {
		t.Errorf("got error %v", err)
	}
	wantFailed(t, db, broken)
	closeDB(t, db)
	wantOnlyFile(t, path)
	conformance.CheckFilled(t, open(t, bolt.Options{Path: path}))
}

func TestADamagedPageEndsACompactionAndNotTheStore(t *testing.T) {
	t.Parallel()
	for _, bucket := range []string{"pushes", "audit", "payloads"} {
		db, path := damaged(t, bucket)
		if err := db.Compact(t.Context(), func(_, _ int64) {}); !errors.Is(err, record.ErrCorrupt) {
			t.Errorf("%s: %v", bucket, err)
		}
		if err := db.SetKeyRing(t.Context(), []byte("sealed"), conformance.Keys{}, conformance.Told); err != nil {
			t.Errorf("%s: the store stopped: %v", bucket, err)
		}
		wantOnlyFile(t, path)
		_ = db.Close()
	}
}

func TestACompactionRefusesUnknownBuckets(t *testing.T) {
	t.Parallel()
	db := open(t, bolt.Options{Path: filled(t)})
	err := db.Raw(func(b *bbolt.Tx) error {
		_, err := b.CreateBucket([]byte("another"))
		return err
	})
	env.OK(t, err)
	if err := db.Compact(t.Context(), func(_, _ int64) {}); !errors.Is(err, record.ErrSchema) {
		t.Errorf("got error %v", err)
	}
	env.OK(t, db.Raw(func(b *bbolt.Tx) error { return b.DeleteBucket([]byte("another")) }))
}

// A process that compacts, perhaps as root, must keep the owner of the database.
func TestACompactedFileKeepsItsOwnerAndMode(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pushbox.db")
	db, _, err := bolt.OpenUnlocked(t.Context(), bolt.Options{Path: path})
	env.OK(t, err)
	env.OK(t, os.Chmod(path, 0o640))
	_ = os.Chown(path, 65534, 65534) // only root can; without it the mode is compared
	before := ownerOf(t, path)
	env.OK(t, db.Compact(t.Context(), func(int64, int64) {}))
	if after := ownerOf(t, path); after != before {
		t.Errorf("%s became %s", before, after)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

func ownerOf(t *testing.T, path string) string {
	t.Helper()
	info, err := os.Stat(path)
	env.OK(t, err)
	owner := reflect.Indirect(reflect.ValueOf(info.Sys()))
	return fmt.Sprint(info.Mode(), owner.FieldByName("Uid"), owner.FieldByName("Gid"))
}

// A file without its name works, and says that it will not outlast the process. A compaction,
// which gives the name to another file, is no loss.
func TestAFileThatHasLostItsNameIsNotReady(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be removed there")
	}
	path := newPath(t)
	db := open(t, bolt.Options{Path: path})
	conformance.Fill(t, db)
	env.OK(t, db.Compact(t.Context(), func(_, _ int64) {}))
	if err := db.Ready(t.Context()); err != nil {
		t.Errorf("after a compaction: %v", err)
	}
	remove(t, path)
	if err := db.Ready(t.Context()); !errors.Is(err, record.ErrLost) {
		t.Errorf("without its name: %v", err)
	}
	conformance.CheckFilled(t, db)
	write(t, path, []byte("another"))
	if err := db.Ready(t.Context()); !errors.Is(err, record.ErrLost) {
		t.Errorf("with another file of that name: %v", err)
	}
}
