package bolt_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"

	"pushbox/internal/testkit/env"
	"pushbox/store/bolt"
	"pushbox/store/cold"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

// victimEnv makes this test binary the other process of a test: its value is the kind
// of process.
const victimEnv = "PUSHBOX_TEST_VICTIM"

func TestMain(m *testing.M) {
	victims := map[string]func(path string) error{"write": writeAndCompact, "wait": waitForFile}
	if run := victims[os.Getenv(victimEnv)]; run != nil {
		if err := run(os.Getenv(victimEnv + "_PATH")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// A victim is another process that works on a file.
type victim struct {
	*exec.Cmd
	lines *bufio.Scanner
}

func startVictim(t *testing.T, kind, path string) *victim {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), victimEnv+"="+kind, victimEnv+"_PATH="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	env.OK(t, err)
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return &victim{Cmd: cmd, lines: bufio.NewScanner(out)}
}

const victimWriters = 4

// victimSteps are a writer's operations on each of its pushes.
var victimSteps = []record.Rule{nil, view, view, purge} // nil creates it; every second push is not purged

// victimStep returns the push and the operation of a writer's n-th step.
func victimStep(writer, n int) (push, step int) {
	pair, step := n/(2*len(victimSteps)-1), n%(2*len(victimSteps)-1)
	push = 2 * pair
	if step >= len(victimSteps) {
		push, step = push+1, step-len(victimSteps)
	}
	return push*victimWriters + writer, step
}

// writeAndCompact writes from several goroutines and compacts, and reports each step
// and each compaction when it is done.
func writeAndCompact(path string) error {
	ctx := context.Background()
	db, _, err := bolt.OpenUnlocked(ctx, bolt.Options{Path: path})
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	errs := make([]error, victimWriters+1)
	for w := range victimWriters {
		wg.Go(func() {
			for n := 0; errs[w] == nil; n++ {
				push, step := victimStep(w, n)
				if rule := victimSteps[step]; rule == nil {
					errs[w] = conformance.Made(db.CreatePush(ctx, newPush(push), make([]byte, 9000), record.Entry{Kind: record.EntryCreation}))
				} else {
					_, errs[w] = db.Change(ctx, id(push), rule)
				}
				if errs[w] == nil {
					_, errs[w] = fmt.Printf("%d %d\n", w, n)
				}
			}
		})
	}
	wg.Go(func() {
		for err := error(nil); err == nil || errors.Is(err, record.ErrBusy); {
			if err = db.CompactWith(ctx, bolt.CompactOptions{Bounds: &bolt.Bounds{Batch: 50_000, Rows: 20, Unsynced: 100_000, Pending: 50_000, Behind: 100_000, Rest: 10_000}}); err == nil {
				_, err = fmt.Printf("%d %d\n", victimWriters, 0)
			}
			errs[victimWriters] = err
		}
	})
	wg.Wait()
	return errors.Join(errs...)
}

// killAfter kills the victim after that many lines of output, and returns each writer's
// last step that was reported, and the number of compactions.
func (v *victim) killAfter(t *testing.T, lines int) (done [victimWriters]int, compactions int) {
	t.Helper()
	for w := range done {
		done[w] = -1
	}
	for n := 0; v.lines.Scan(); n++ {
		var w, step int
		if _, err := fmt.Sscan(v.lines.Text(), &w, &step); err != nil {
			t.Fatalf("%q: %v", v.lines.Text(), err)
		}
		if w < victimWriters {
			done[w] = step
		} else {
			compactions++
		}
		if n == lines {
			env.OK(t, v.Process.Kill())
		}
	}
	if err := v.lines.Err(); err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	_ = v.Wait()
	if v.ProcessState.Exited() {
		t.Fatalf("it ended by itself: %v", v.ProcessState)
	}
	return done, compactions
}

// waitForFile opens a file that another process has open, and reports the number of
// accounts in it.
func waitForFile(path string) error {
	ctx := context.Background()
	db, _, err := bolt.OpenUnlocked(ctx, bolt.Options{Path: path})
	if err != nil {
		return err
	}
	list, err := cold.Accounts(ctx, db, 0, 1000)
	if err == nil {
		_, err = fmt.Println(len(list))
	}
	return errors.Join(err, db.Close())
}
