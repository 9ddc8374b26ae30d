package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// The outcome of a trial.
type fate int

const (
	caught  fate = iota // a harness failed
	missed              // it passed
	skipped             // it cannot run on this machine
	endless             // it did not end within the limit
	absent              // the test does not exist
	broken              // the code with the fault, or the harness, does not compile
	unfit               // the patch does not fit the code
)

var fates = [...]string{"caught", "NOT CAUGHT", "SKIPPED", "NO END", "NO TEST", "NOT BUILT", "DOES NOT APPLY"}

// A verdict is the outcome of a fault, or of a harness that ran without a fault.
type verdict struct {
	fate fate
	by   harness       // that decided it
	test string        // the one that failed, with its subtests
	says string        // the test's first message, or the error before it ran
	took time.Duration // of the harness
	long bool          // it ran at the length of the long run
}

// A trial runs one fault, with files in a directory of its own. It does not change the
// source tree.
type trial struct {
	root, dir string
	limit     time.Duration
	step      func(text string) // called before each step
}

// newTrial makes a directory for the files of a trial; end removes it. Other users may
// enter the directory, because some harnesses run programs as another user.
func newTrial(root string, limit time.Duration, step func(string)) (*trial, error) {
	dir, err := os.MkdirTemp("", "f") // a short name: a socket's path has room for some 100 characters
	if err == nil {
		err = os.Chmod(dir, openDir)
	}
	if err != nil {
		return nil, err
	}
	return &trial{root, dir, limit, step}, nil
}

const openDir = 0o755

// end removes the files of the trial, and unmounts what a killed test left mounted.
func (t *trial) end() error {
	return errors.Join(unmountBelow(t.dir), os.RemoveAll(t.dir))
}

// try seeds a fault and runs its harnesses in turn until one of them fails: each at the length
// of go test, then each at that of the long run. An error means that the trial has no outcome.
func (t *trial) try(ctx context.Context, f fault) (v verdict, err error) {
	if v, err := t.seed(ctx, f); err != nil || v.fate == unfit {
		return v, err
	}
	for _, setting := range []string{"", longRun} {
		for _, h := range f.by {
			if v, err = t.meet(ctx, h, setting); err != nil || v.fate != missed && v.fate != skipped {
				return v, err
			}
		}
	}
	return v, err
}

// longRun is what the environment has in the long run.
const longRun = "PUSHBOX_TEST_LONG=1"

// seed prepares the code with a fault. The verdict is unfit if its patch does not fit.
func (t *trial) seed(ctx context.Context, f fault) (verdict, error) {
	paths, err := f.apply(ctx, t.root, t.patched())
	if err != nil {
		return verdict{fate: unfit, says: err.Error()}, ctx.Err()
	}
	return verdict{}, t.writeOverlay(paths)
}

func (t *trial) overlay() string { return filepath.Join(t.dir, "overlay.json") }

func (t *trial) patched() string { return filepath.Join(t.dir, "patched") }

// writeOverlay writes the file that names the patched copies for -overlay.
func (t *trial) writeOverlay(paths []string) error {
	replace := make(map[string]string)
	for _, path := range paths {
		replace[filepath.Join(t.root, path)] = filepath.Join(t.patched(), path)
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	return os.WriteFile(t.overlay(), b, 0o600)
}

// meet builds a harness with the patched code, unless it did so before, and runs it with a
// setting in its environment.
func (t *trial) meet(ctx context.Context, h harness, setting string) (verdict, error) {
	program := filepath.Join(t.dir, strings.ReplaceAll(h.pkg, "/", "_")+".test")
	if _, err := os.Stat(program); err != nil {
		t.step("building " + h.pkg)
		out, err := t.build(ctx, h, program)
		switch {
		case ctx.Err() != nil:
			return verdict{}, ctx.Err()
		case err != nil:
			return verdict{fate: broken, by: h, says: firstError(out)}, nil
		}
	}
	t.step("running " + h.test)
	v, err := t.run(ctx, h, program, setting)
	v.long = setting == longRun
	return v, err
}

// buildLimit allows for a busy machine with an empty build cache.
const buildLimit = 10 * time.Minute

func (t *trial) build(ctx context.Context, h harness, program string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, buildLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-overlay", t.overlay(), "-o", program, "./"+h.pkg)
	cmd.Dir = t.root
	return cmd.CombinedOutput()
}

// rapid, the library, shall write no failures into the source tree, and not look for shorter ones.
var rapid = []string{"RAPID_NOFAILFILE=1", "RAPID_SHRINKTIME=0s"}

// grace lets a harness end by itself at its limit: its output then says more than after
// a kill.
const grace = 10 * time.Second

// run runs a harness as go test does. The harness writes its files into the trial's
// directory. When run returns, no process of the harness is left.
func (t *trial) run(ctx context.Context, h harness, program, setting string) (verdict, error) {
	limited, cancel := context.WithTimeout(ctx, t.limit+grace)
	defer cancel()
	files := filepath.Join(t.dir, "t")
	if err := os.MkdirAll(files, openDir); err != nil {
		return verdict{}, err
	}
	args := []string{"-test.run=" + h.pattern(), "-test.v", "-test.timeout=" + t.limit.String()}
	cmd := exec.CommandContext(limited, program, args...)
	cmd.Dir = filepath.Join(t.root, h.pkg)
	cmd.Env = append(append(os.Environ(), "TMPDIR="+files, setting), rapid...)
	inGroup(cmd)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = grace
	begun := time.Now()
	err := cmd.Run()
	endGroup(cmd)
	if ctx.Err() != nil {
		return verdict{}, ctx.Err()
	}
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) && limited.Err() == nil {
		return verdict{}, fmt.Errorf("run %s: %w", h.test, err)
	}
	v := read(out.Bytes(), err != nil)
	v.by, v.took = h, time.Since(begun)
	return v, nil
}
