package bolt_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/bolt"
	"pushbox/store/record"
	"pushbox/store/seal"
	"pushbox/store/storetest/conformance"
)

// olderDatabase copies the database of schema 4 that testdata has.
func olderDatabase(t *testing.T) (path string, image []byte) {
	t.Helper()
	image = env.Read(t, "../../testdata/databases/schema-4/pushbox.db")
	path = newPath(t)
	write(t, path, image)
	return path, image
}

// keyOfOlder copies the key of olderDatabase to a file with the mode that it needs.
func keyOfOlder(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "master.key")
	write(t, path, env.Read(t, "../../testdata/databases/schema-4/master.key"))
	return path
}

// upgrade opens a database, closes it, and returns the notes of the opening.
func upgrade(t *testing.T, path string) (notes []string, err error) {
	t.Helper()
	db, created, err := bolt.Open(t.Context(), bolt.Options{Path: path, Note: func(say string) { notes = append(notes, say) }})
	if err != nil {
		return notes, err
	}
	key, err := seal.LoadKeyFile(keyOfOlder(t))
	if err == nil {
		_, err = store.Open(t.Context(), db, key, store.Options{})
	}
	if err != nil {
		return notes, errors.Join(err, db.Close())
	}
	if created {
		t.Error("a database was made")
	}
	conformance.CheckClean(t, db)
	closeDB(t, db)
	return notes, nil
}

// names are the names of the files beside a database.
func names(t *testing.T, path string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	env.OK(t, err)
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func schemaAndJournal(t *testing.T, path string) (schema uint32, journal int) {
	t.Helper()
	rawUpdate(t, path, func(b *bbolt.Tx) error {
		schema, journal = binary.BigEndian.Uint32(b.Bucket([]byte("meta")).Get([]byte("schema"))), b.Bucket([]byte("journal")).Stats().KeyN
		return nil
	})
	return schema, journal
}

func TestAnOlderDatabaseIsCopiedAndUpgradedOnce(t *testing.T) {
	t.Parallel()
	path, image := olderDatabase(t)
	was := newPath(t)
	write(t, was, image)
	if schema, journal := schemaAndJournal(t, was); schema != 4 || journal == 0 {
		t.Errorf("the old one has schema %d, and %d rows in its journal", schema, journal)
	}
	notes, err := upgrade(t, path)
	if err != nil || len(notes) != 2 || !strings.Contains(notes[1], path+".schema4") || !strings.Contains(notes[1], "from schema 4 to 10") {
		t.Fatalf("%q, %v", notes, err)
	}
	kept := path + ".schema4"
	if info, err := os.Stat(kept); err != nil || info.Mode().Perm() != 0o600 || !slices.Equal(env.Read(t, kept), image) {
		t.Errorf("the copy: %v", err)
	}
	if notes, err := upgrade(t, path); err != nil || len(notes) > 0 {
		t.Errorf("the second time: %q, %v", notes, err)
	}
	if found := names(t, path); !slices.Equal(found, []string{"pushbox.db", "pushbox.db.schema4"}) {
		t.Errorf("there are %q", found)
	}
	if schema, _ := schemaAndJournal(t, path); schema != 10 {
		t.Errorf("it has schema %d", schema)
	}
}

func TestAnUpgradeIsFoundWithoutMakingIt(t *testing.T) {
	t.Parallel()
	path, image := olderDatabase(t)
	found, err := bolt.FindUpgrade(path, env.Patience)
	if err != nil || found == nil || found.From != 4 || found.To != 10 || found.Room < 32<<20 || found.Room > 32<<20+2*int64(len(image)) {
		t.Errorf("got %+v, %v", found, err)
	}
	if !slices.Equal(env.Read(t, path), image) || len(names(t, path)) != 1 {
		t.Error("something was written")
	}
	setSchema(t, path, binary.BigEndian.AppendUint32(nil, 11))
	if found, err := bolt.FindUpgrade(path, env.Patience); found != nil || !errors.Is(err, record.ErrSchema) {
		t.Errorf("of a later version: %+v, %v", found, err)
	}
	if found, err := bolt.FindUpgrade(path+"x", env.Patience); found != nil || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a file: %+v, %v", found, err)
	}
	present := filled(t)
	if found, err := bolt.FindUpgrade(present, env.Patience); found != nil || err != nil {
		t.Errorf("of this version: %+v, %v", found, err)
	}
	open(t, bolt.Options{Path: present})
	if found, err := bolt.FindUpgrade(present, time.Millisecond); found != nil || !errors.Is(err, record.ErrInUse) {
		t.Errorf("in use: %+v, %v", found, err)
	}
}

// A copy that a killed upgrade left serves the next one. A different copy stays, and
// the next one gets another name.
func TestCopiesOfUpgradesAreNeverReplaced(t *testing.T) {
	t.Parallel()
	path, image := olderDatabase(t)
	write(t, path+".schema4", image)
	if notes, err := upgrade(t, path); err != nil || len(notes) != 2 || len(names(t, path)) != 2 {
		t.Errorf("with the same copy: %q, %v", notes, err)
	}
	for n := 2; n <= 9; n++ { // back and forward again
		write(t, path, image)
		other := append(slices.Clone(image), byte(n))
		write(t, path, other)
		notes, err := upgrade(t, path)
		if err != nil || !strings.Contains(strings.Join(notes, " "), fmt.Sprintf("%s.schema4-%d;", path, n)) {
			t.Fatalf("time %d: %q, %v", n, notes, err)
		}
		if !slices.Equal(env.Read(t, fmt.Sprintf("%s.schema4-%d", path, n)), other) {
			t.Errorf("time %d: the copy is another", n)
		}
	}
	write(t, path, append(slices.Clone(image), 10))
	if _, err := upgrade(t, path); !errors.Is(err, record.ErrFull) || !strings.Contains(err.Error(), "remove those that you do not need") {
		t.Errorf("the tenth: %v", err)
	}
	if !slices.Equal(env.Read(t, path+".schema4"), image) || !slices.Equal(env.Read(t, path), append(slices.Clone(image), 10)) {
		t.Error("a file was changed")
	}
}

// Opening removes the half copy of a killed upgrade.
func TestHalfACopyIsRemoved(t *testing.T) {
	t.Parallel()
	path, image := olderDatabase(t)
	write(t, path+".new-77", image[:5000])
	if _, err := upgrade(t, path); err != nil {
		t.Fatal(err)
	}
	if found := names(t, path); !slices.Equal(found, []string{"pushbox.db", "pushbox.db.schema4"}) {
		t.Errorf("there are %q", found)
	}
}

func TestASchemaThatCannotBeUpgradedIsRefusedWithBothNumbers(t *testing.T) {
	t.Parallel()
	for schema, want := range map[uint32]string{
		11:      "its schema number is 11; this version knows 10 and none after it",
		1 << 31: "its schema number is 2147483648; this version knows 10",
		3:       "its schema number is 3; this version knows 10 and can upgrade from 4 or later; open it first with a version in between",
		0:       "its schema number is 0; this version knows 10 and can upgrade from 4",
	} {
		path, _ := olderDatabase(t)
		setSchema(t, path, binary.BigEndian.AppendUint32(nil, schema))
		before := env.Read(t, path)
		notes, err := upgrade(t, path)
		if !errors.Is(err, record.ErrSchema) || !strings.Contains(err.Error(), want) || len(notes) > 0 {
			t.Errorf("schema %d: %q, %v", schema, notes, err)
		}
		if !slices.Equal(env.Read(t, path), before) || len(names(t, path)) != 1 {
			t.Errorf("schema %d: something was written", schema)
		}
	}
}

func TestADamagedOlderDatabaseIsNotUpgraded(t *testing.T) {
	t.Parallel()
	path, _ := olderDatabase(t)
	dropBucket(t, path, "expiry")
	before := env.Read(t, path)
	if _, err := upgrade(t, path); !errors.Is(err, record.ErrCorrupt) {
		t.Errorf("got %v", err)
	}
	if !slices.Equal(env.Read(t, path), before) {
		t.Error("the file was changed")
	}
}
