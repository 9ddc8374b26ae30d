package bolt_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"pushbox/internal/testkit/env"
	"pushbox/store/bolt"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

// newPath is a path for a new database.
func newPath(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "pushbox.db")
}

// open opens a database, which must succeed. It is checked and closed when the test
// ends.
func open(t *testing.T, o bolt.Options) *bolt.DB {
	t.Helper()
	db, _, err := bolt.OpenUnlocked(t.Context(), o)
	env.OK(t, err)
	t.Cleanup(func() {
		err := db.Check(context.Background(), func(problem string) { t.Errorf("check: %s", problem) })
		if err != nil && !errors.Is(err, record.ErrClosed) && !errors.Is(err, record.ErrFailed) {
			t.Errorf("check: %v", err)
		}
		if err := db.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return db
}

// filled makes a database with a few of everything and returns its path.
func filled(t *testing.T) string {
	t.Helper()
	path := newPath(t)
	db := open(t, bolt.Options{Path: path})
	conformance.Fill(t, db)
	closeDB(t, db)
	return path
}

func closeDB(t *testing.T, db *bolt.DB) {
	t.Helper()
	env.OK(t, db.Close())
}

func TestANewFileIsPrivateAndSmallAndAlone(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	db, created, err := bolt.OpenUnlocked(t.Context(), bolt.Options{Path: path})
	if err != nil || !created {
		t.Fatalf("created %t, error %v", created, err)
	}
	defer closeDB(t, db)
	info, err := os.Stat(path)
	env.OK(t, err)
	if info.Mode() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	if info.Size() > 1<<20 {
		t.Errorf("an empty database has %d bytes", info.Size())
	}
	wantOnlyFile(t, path)
}

func wantOnlyFile(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	env.OK(t, err)
	if len(entries) != 1 || entries[0].Name() != filepath.Base(path) {
		t.Errorf("files in the directory: %v", entries)
	}
}

func TestOpeningAgainKeepsEverythingAndChangesNoByte(t *testing.T) {
	t.Parallel()
	path := filled(t)
	before := env.Read(t, path)
	db, created, err := bolt.OpenUnlocked(t.Context(), bolt.Options{Path: path})
	if err != nil || created {
		t.Fatalf("created %t, error %v", created, err)
	}
	conformance.CheckFilled(t, db)
	conformance.CheckClean(t, db)
	closeDB(t, db)
	if !bytes.Equal(before, env.Read(t, path)) {
		t.Error("the file was changed by opening and reading it")
	}
}

func TestLeftoversOfACreationAreRemoved(t *testing.T) {
	t.Parallel()
	for name, existing := range map[string]bool{"with a database": true, "without one": false} {
		path := newPath(t)
		if existing {
			path = filled(t)
		}
		env.OK(t, os.WriteFile(path+".new-123", []byte("half a file"), 0o600))
		db, created, err := bolt.OpenUnlocked(t.Context(), bolt.Options{Path: path})
		if err != nil || created == existing {
			t.Fatalf("%s: created %t, error %v", name, created, err)
		}
		closeDB(t, db)
		wantOnlyFile(t, path)
	}
}

// A badFile is a file that must not open.
type badFile struct {
	spoil func(t *testing.T, path string)
	want  error
}

var badFiles = map[string]badFile{
	"empty":               {func(t *testing.T, path string) { cut(t, path, 0) }, record.ErrCorrupt},
	"a byte":              {func(t *testing.T, path string) { cut(t, path, 1) }, record.ErrCorrupt},
	"half a header":       {func(t *testing.T, path string) { cut(t, path, 60) }, record.ErrCorrupt},
	"one header page":     {func(t *testing.T, path string) { cut(t, path, pageSize) }, record.ErrCorrupt},
	"two header pages":    {func(t *testing.T, path string) { cut(t, path, 2*pageSize) }, record.ErrCorrupt},
	"a page too short":    {func(t *testing.T, path string) { cut(t, path, usedBytes(t, path)-1) }, record.ErrCorrupt},
	"both headers torn":   {func(t *testing.T, path string) { tear(t, path, 0); tear(t, path, 1) }, record.ErrCorrupt},
	"not a database":      {func(t *testing.T, path string) { write(t, path, bytes.Repeat([]byte("text "), 9999)) }, record.ErrCorrupt},
	"not a file":          {func(t *testing.T, path string) { remove(t, path); mkdir(t, path) }, nil},
	"a directory missing": {func(t *testing.T, path string) { removeAll(t, filepath.Dir(path)) }, fs.ErrNotExist},
	"a later schema":      {func(t *testing.T, path string) { setSchema(t, path, binary.BigEndian.AppendUint32(nil, 11)) }, record.ErrSchema},
	"too old a schema":    {func(t *testing.T, path string) { setSchema(t, path, binary.BigEndian.AppendUint32(nil, 3)) }, record.ErrSchema},
	"schema 0":            {func(t *testing.T, path string) { setSchema(t, path, make([]byte, 4)) }, record.ErrSchema},
	"a malformed schema":  {func(t *testing.T, path string) { setSchema(t, path, []byte("1")) }, record.ErrSchema},
	"no schema":           {func(t *testing.T, path string) { setSchema(t, path, nil) }, record.ErrSchema},
	"another program's":   {func(t *testing.T, path string) { dropBucket(t, path, "meta") }, record.ErrSchema},
	"a bucket missing":    {func(t *testing.T, path string) { dropBucket(t, path, "expiry") }, record.ErrCorrupt},
	"no chunks":           {func(t *testing.T, path string) { dropBucket(t, path, "chunks") }, record.ErrCorrupt},
	"no grants":           {func(t *testing.T, path string) { dropBucket(t, path, "grants") }, record.ErrCorrupt},
	"another build's": {func(t *testing.T, path string) {
		setSchema(t, path, binary.BigEndian.AppendUint32(nil, 6))
		dropBucket(t, path, "identities")
	}, record.ErrSchema},
	"a damaged first page": {func(t *testing.T, path string) { damage(t, path, rootPage(t, path)) }, record.ErrCorrupt},
	"a damaged freelist":   {func(t *testing.T, path string) { damage(t, path, freelistPage(t, path)) }, record.ErrCorrupt},
}

func TestABadFileIsRefusedWithAReasonAndNotChanged(t *testing.T) {
	t.Parallel()
	for name, c := range badFiles {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filled(t)
			c.spoil(t, path)
			before, readErr := os.ReadFile(path)
			for range 2 { // the second shows that the first released the lock
				_, created, err := bolt.OpenUnlocked(t.Context(), bolt.Options{Path: path})
				if err == nil || created || c.want != nil && !errors.Is(err, c.want) {
					t.Fatalf("created %t, error %v, want %v", created, err, c.want)
				}
				if !bytes.Contains([]byte(err.Error()), []byte(path)) {
					t.Errorf("the error does not name the file: %v", err)
				}
			}
			if after, _ := os.ReadFile(path); readErr == nil && !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
		})
	}
}

func TestAFileWithOneTornHeaderOpens(t *testing.T) {
	t.Parallel()
	for page := range 2 {
		path := filled(t)
		tear(t, path, page)
		conformance.CheckClean(t, open(t, bolt.Options{Path: path}))
	}
}

func TestAFileInUseIsRefused(t *testing.T) {
	t.Parallel()
	path := filled(t)
	first := open(t, bolt.Options{Path: path})
	_, _, err := bolt.OpenUnlocked(t.Context(), bolt.Options{Path: path, Timeout: 100 * time.Millisecond})
	if !errors.Is(err, record.ErrInUse) {
		t.Errorf("got error %v, want %v", err, record.ErrInUse)
	}
	conformance.CheckFilled(t, first)
	closeDB(t, first)
	conformance.CheckFilled(t, open(t, bolt.Options{Path: path}))
}

func TestOpeningHeedsItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	path := newPath(t)
	if _, _, err := bolt.OpenUnlocked(ctx, bolt.Options{Path: path}); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was created: %v", err)
	}
}

func setSchema(t *testing.T, path string, number []byte) {
	t.Helper()
	rawUpdate(t, path, func(b *bbolt.Tx) error {
		if number == nil {
			return b.Bucket([]byte("meta")).Delete([]byte("schema"))
		}
		return b.Bucket([]byte("meta")).Put([]byte("schema"), number)
	})
}

func dropBucket(t *testing.T, path, name string) {
	t.Helper()
	rawUpdate(t, path, func(b *bbolt.Tx) error { return b.DeleteBucket([]byte(name)) })
}

func rawUpdate(t *testing.T, path string, fn func(*bbolt.Tx) error) {
	t.Helper()
	b, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: env.Patience})
	env.OK(t, err)
	env.OK(t, errors.Join(b.Update(fn), b.Close()))
}
