package bolt_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
	"pushbox/store/bolt"
	"pushbox/store/cold"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

// TestAKilledCompactionLosesNothingThatWasAcknowledged kills a process that
// writes and compacts without end.
func TestAKilledCompactionLosesNothingThatWasAcknowledged(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(env.Seed(t), 0))
	path := newPath(t)
	compactions, steps, leftovers := 0, 0, 0
	for round := 0; round < 15 || compactions == 0 || leftovers == 0; round++ { // until a compaction ended, and one was killed
		removeAll(t, path)
		done, n := startVictim(t, "write", path).killAfter(t, r.IntN(300))
		compactions += n
		if found, err := filepath.Glob(path + ".new-*"); err != nil {
			t.Fatal(err)
		} else if len(found) > 0 {
			leftovers++
		}
		db := open(t, bolt.Options{Path: path})
		wantOnlyFile(t, path)
		conformance.CheckClean(t, db)
		for w, last := range done {
			steps += last + 1
			wantStep(t, db, w, last)
		}
		closeDB(t, db)
	}
	t.Logf("%d steps, %d compactions, %d files left behind", steps, compactions, leftovers)
}

// wantStep fails the test unless the writer's pushes are as after the last step that it
// reported as done, or as after the next.
func wantStep(t *testing.T, db *bolt.DB, writer, last int) {
	t.Helper()
	got := make(map[int]int)
	after, next := victimState(writer, last+1), victimState(writer, last+2)
	for n := range last + 3 {
		push, _ := victimStep(writer, n)
		p, err := conformance.Push(t.Context(), db, id(push))
		if err == nil {
			got[push] = p.Views
		} else if !errors.Is(err, record.ErrNotFound) {
			t.Fatal(err)
		}
	}
	if !maps.Equal(got, after) && !maps.Equal(got, next) {
		t.Errorf("writer %d had answers for %d steps:\n got %v\nwant %v\n  or %v", writer, last+1, got, after, next)
	}
}

// victimState is the number of views of each of a writer's pushes after that many
// steps.
func victimState(writer, steps int) map[int]int {
	views := make(map[int]int)
	for n := range steps {
		switch push, step := victimStep(writer, n); step {
		case 0:
			views[push] = 0
		case len(victimSteps) - 1:
			delete(views, push)
		default:
			views[push]++
		}
	}
	return views
}

// A process that waits for the lock of a file must not open it as the database if it
// loses its name in the meantime.
func TestAProcessThatWaitedThroughACompactionOpensTheNewFile(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	path := newPath(t)
	db := open(t, bolt.Options{Path: path})
	account(t, db, "before")
	other := startVictim(t, "wait", path)
	awaitOpen(t, other.Process.Pid, path, true)
	mustCompact(t, db)
	account(t, db, "after")
	awaitOpen(t, other.Process.Pid, path+" (deleted)", false)
	awaitOpen(t, other.Process.Pid, path, true)
	account(t, db, "last")
	closeDB(t, db)
	if !other.lines.Scan() || other.lines.Text() != "3" {
		t.Errorf("the other process found %q accounts of 3: %v", other.lines.Text(), other.lines.Err())
	}
	if err := other.Wait(); err != nil {
		t.Error(err)
	}
}

// awaitOpen waits until a process has a file of that name open, or has none.
func awaitOpen(t *testing.T, pid int, name string, want bool) {
	t.Helper()
	for end := time.Now().Add(env.Patience); time.Now().Before(end); runtime.Gosched() {
		links, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		env.OK(t, err)
		found := false
		for _, link := range links {
			target, err := os.Readlink(link)
			found = found || err == nil && target == name
		}
		if found == want {
			return
		}
	}
	t.Fatalf("%s open: still not %t", filepath.Base(name), want)
}

// A process that opens the file between compactions finds it in use.
func TestAFileIsInUseWhileItIsReplaced(t *testing.T) {
	t.Parallel()
	path := filled(t)
	db := open(t, bolt.Options{Path: path})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 10 {
			if _, _, err := bolt.OpenUnlocked(t.Context(), bolt.Options{Path: path, Timeout: time.Millisecond}); !errors.Is(err, record.ErrInUse) {
				t.Errorf("got error %v", err)
			}
		}
	}()
	for running := true; running; {
		mustCompact(t, db)
		select {
		case <-done:
			running = false
		default:
		}
	}
	conformance.CheckFilled(t, db)
}

func account(t *testing.T, db *bolt.DB, email string) {
	t.Helper()
	if _, err := cold.CreateAccount(t.Context(), db, record.Account{Email: email}, conformance.Told); err != nil {
		t.Fatal(err)
	}
}
