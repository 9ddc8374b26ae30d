package store_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/unnamed"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// keepCopy makes a file as an upgrade at that time keeps it.
func keepCopy(t *testing.T, f *storetest.Fixture, end string, at time.Time) {
	t.Helper()
	env.OK(t, os.WriteFile(f.Path+end, []byte(strings.Repeat("old", 100)), 0o600))
	env.OK(t, os.Chtimes(f.Path+end, at, at))
}

// wantCopies removes what is due, which must be n files, and compares the names of all
// that is left beside the database.
func wantCopies(t *testing.T, f *storetest.Fixture, n int, left ...string) {
	t.Helper()
	if got, wait, err := f.RemoveCopies(ctx); got != n || wait <= 0 || err != nil {
		t.Errorf("%d files were removed, the next time is in %v: %v", got, wait, err)
	}
	found, err := filepath.Glob(f.Path + ".*")
	for i := range found {
		found[i] = strings.TrimPrefix(found[i], f.Path)
	}
	if slices.Sort(left); err != nil || !slices.Equal(found, left) {
		t.Errorf("%q are left, not %q: %v", found, left, err)
	}
}

func TestWhatAnUpgradeKeepsIsRemovedAWeekAfterIt(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	week := f.Clock.Now().Add(-record.CopiesStay)
	keepCopy(t, f, ".schema4", week.Add(-time.Second))
	keepCopy(t, f, ".schema4-2", week.Add(time.Second))
	keepCopy(t, f, ".schema5", f.Clock.Now())
	keepCopy(t, f, ".schema5-2", f.Clock.Now().Add(1000*day)) // by a clock that was wrong
	keepCopy(t, f, ".schema5.bak", week.Add(-time.Hour))
	was := unnamed.Open(t, f.Path+".schema4")
	wantCopies(t, f, 1, ".schema4-2", ".schema5", ".schema5-2", ".schema5.bak")
	was.Want(t, "the old database", "")
	f.Clock.Advance(2 * time.Second)
	wantCopies(t, f, 1, ".schema5", ".schema5-2", ".schema5.bak")
	f.Clock.Advance(record.CopiesStay)
	wantCopies(t, f, 1, ".schema5-2", ".schema5.bak")
}

// A clock that jumps removes nothing at once, as it ends no push.
func TestAJumpOfTheClockRemovesNoCopyAtOnce(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	keepCopy(t, f, ".schema5", f.Clock.Now())
	f.Clock.Jump(1000 * day)
	wantCopies(t, f, 0, ".schema5")
	f.Clock.Advance(5 * time.Minute)
	wantCopies(t, f, 0, ".schema5")
	f.Clock.Advance(6 * time.Minute)
	wantCopies(t, f, 1)
}

// What has another name is not overwritten.
func TestACopyWithAnotherNameLosesOnlyThisOne(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	keepCopy(t, f, ".schema5", f.Clock.Now().Add(-30*day))
	if err := os.Link(f.Path+".schema5", f.Path+".mine"); err != nil {
		t.Skip(err)
	}
	wantCopies(t, f, 1, ".mine")
	if mine := env.Read(t, f.Path+".mine"); !strings.HasPrefix(string(mine), "old") {
		t.Errorf("it has %.20q", mine)
	}
}
