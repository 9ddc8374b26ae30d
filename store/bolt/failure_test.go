package bolt_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
	"pushbox/store/bolt"
	"pushbox/store/cold"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

func wantFailed(t *testing.T, db *bolt.DB, cause error) {
	t.Helper()
	select {
	case <-db.Failed():
	case <-time.After(env.Patience):
		t.Fatal("the failure is not reported")
	}
	conformance.WantFromAll(t.Context(), t, db, record.ErrFailed)
	if cause != nil {
		conformance.WantFromAll(t.Context(), t, db, cause)
	}
}

func TestACommitOfUnknownOutcomeFailsTheStore(t *testing.T) {
	t.Parallel()
	path := filled(t)
	db, _, err := bolt.OpenUnlocked(t.Context(), bolt.Options{Path: path})
	env.OK(t, err)
	env.OK(t, db.CloseFile())
	if err := create(t.Context(), db, 1); !errors.Is(err, record.ErrFailed) || !errors.Is(err, os.ErrClosed) {
		t.Errorf("got error %v", err)
	}
	wantFailed(t, db, nil)
	_ = db.Close() // the file is closed already
	if err := create(t.Context(), db, 2); !errors.Is(err, record.ErrFailed) {
		t.Errorf("after Close: got error %v", err)
	}
	again := open(t, bolt.Options{Path: path})
	conformance.CheckFilled(t, again)
	if has(t, again, 1) || has(t, again, 2) {
		t.Error("a create that was not acknowledged is there, though nothing could be written")
	}
}

// damaged opens a database with a damaged page in a bucket.
func damaged(t *testing.T, bucket string) (db *bolt.DB, path string) {
	t.Helper()
	path = filled(t)
	db = open(t, bolt.Options{Path: path})
	page := db.RootPage(t, bucket)
	closeDB(t, db)
	damage(t, path, page)
	return open(t, bolt.Options{Path: path}), path
}

func TestADamagedPageFailsTheReadThatMeetsIt(t *testing.T) {
	t.Parallel()
	db, path := damaged(t, "pushes")
	if _, err := conformance.Push(t.Context(), db, id(1)); !errors.Is(err, record.ErrCorrupt) || !errors.Is(err, record.ErrFailed) {
		t.Errorf("got error %v", err)
	}
	wantFailed(t, db, record.ErrCorrupt)
	closeDB(t, db)
	closeDB(t, open(t, bolt.Options{Path: path})) // the lock is free again
}

func TestADamagedPageFailsTheChangeThatMeetsIt(t *testing.T) {
	t.Parallel()
	db, path := damaged(t, "pushes")
	if err := create(t.Context(), db, 1); !errors.Is(err, record.ErrCorrupt) || !errors.Is(err, record.ErrFailed) {
		t.Errorf("got error %v", err)
	}
	wantFailed(t, db, record.ErrCorrupt)
	closeDB(t, db)
	closeDB(t, open(t, bolt.Options{Path: path}))
}

func TestAPageBeyondTheFileIsAnError(t *testing.T) {
	t.Parallel()
	path := filled(t)
	db := open(t, bolt.Options{Path: path})
	cut(t, path, 2*pageSize) // under a mapping that is in use
	if _, err := conformance.Push(t.Context(), db, id(1)); !errors.Is(err, record.ErrCorrupt) {
		t.Errorf("got error %v", err)
	}
	wantFailed(t, db, record.ErrCorrupt)
}

func TestACheckReportsADamagedPageAndDoesNotFail(t *testing.T) {
	t.Parallel()
	for _, bucket := range []string{"pushes", "audit", "payloads"} {
		db, _ := damaged(t, bucket)
		var problems []string
		if err := db.Check(t.Context(), func(p string) { problems = append(problems, p) }); err != nil {
			t.Errorf("%s: %v", bucket, err)
		}
		if len(problems) == 0 || !strings.Contains(problems[0], record.ErrCorrupt.Error()) {
			t.Errorf("%s: reported %q", bucket, problems)
		}
		if err := db.SetKeyRing(t.Context(), []byte("sealed"), conformance.Keys{}, conformance.Told); err != nil {
			t.Errorf("%s: the store stopped: %v", bucket, err)
		}
		_ = db.Close()
	}
}

func TestACheckReportsWhatBboltFindsWithoutTheKeys(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	db := open(t, bolt.Options{Path: path})
	for n := range 100 {
		if _, err := cold.CreateAccount(t.Context(), db, record.Account{Email: fmt.Sprintf("marker-%03d", n)}, conformance.Told); err != nil {
			t.Fatal(err)
		}
	}
	closeDB(t, db)
	write(t, path, bytes.ReplaceAll(env.Read(t, path), []byte("marker-050"), []byte("marker-999")))
	db, _, err := bolt.OpenUnlocked(t.Context(), bolt.Options{Path: path})
	env.OK(t, err)
	var problems []string
	if err := db.Check(t.Context(), func(p string) { problems = append(problems, p) }); err != nil {
		t.Error(err)
	}
	all := strings.Join(problems, "\n")
	if !strings.Contains(all, "page structure: ") || strings.Contains(all, "marker") || strings.Contains(all, fmt.Sprintf("%x", "marker")) {
		t.Errorf("reported:\n%s", all)
	}
	closeDB(t, db)
}
