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
	"time"
)

// How a fault fared.
type fate int

const (
	caught  fate = iota // a harness failed
	missed              // it passed
	skipped             // it cannot run on this machine
	endless             // it did not come to an end in its time
	absent              // there is no such test
	broken              // the code with the fault, or the harness, does not compile
	unfit               // the fault is not one of today's code
)

var fates = [...]string{"caught", "NOT CAUGHT", "SKIPPED", "NO END", "NO TEST", "NOT BUILT", "DOES NOT APPLY"}

// A verdict is what became of a fault, or of a harness where there is none.
type verdict struct {
	fate fate
	by   harness       // that said so
	test string        // that failed, with its subtests
	says string        // its first words, or what went wrong before
	took time.Duration // of the harness
}

// A trial is one fault in the files that it needs. The source tree is only read.
type trial struct {
	root, dir string
	limit     time.Duration
	step      func(text string) // is told what is being done
}

// newTrial makes a directory for the files of a trial, which end removes. Others may
// enter it: some harnesses run programs as another user, in directories of their own.
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

// end removes what the trial made, and what a test that was killed left mounted.
func (t *trial) end() error {
	return errors.Join(unmountBelow(t.dir), os.RemoveAll(t.dir))
}

// try seeds a fault and has its harnesses meet it, until one of them fails. The
// error says that nobody can tell what would have become of it.
func (t *trial) try(ctx context.Context, f fault) (v verdict, err error) {
	files, err := f.patched(t.root)
	if err != nil {
		return verdict{fate: unfit, says: err.Error()}, nil
	}
	if err := t.writeOverlay(files); err != nil {
		return verdict{}, err
	}
	for _, h := range f.by {
		if v, err = t.meet(ctx, h); err != nil || v.fate != missed && v.fate != skipped {
			break
		}
	}
	return v, err
}

func (t *trial) overlay() string { return filepath.Join(t.dir, "overlay.json") }

// writeOverlay writes the patched files, and the file that names them for -overlay.
func (t *trial) writeOverlay(files map[string]string) error {
	replace := make(map[string]string)
	for path, text := range files {
		copied := filepath.Join(t.dir, fmt.Sprintf("%d.go", len(replace)))
		if err := os.WriteFile(copied, []byte(text), 0o600); err != nil {
			return err
		}
		replace[filepath.Join(t.root, path)] = copied
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	return os.WriteFile(t.overlay(), b, 0o600)
}

// meet builds a harness over the patched code, and runs it.
func (t *trial) meet(ctx context.Context, h harness) (verdict, error) {
	t.step("building " + h.pkg)
	program := filepath.Join(t.dir, "harness.test")
	out, err := t.build(ctx, h, program)
	switch {
	case ctx.Err() != nil:
		return verdict{}, ctx.Err()
	case err != nil:
		return verdict{fate: broken, by: h, says: firstError(out)}, nil
	}
	t.step("running " + h.test)
	return t.run(ctx, h, program)
}

// buildLimit is for a machine that is busy, and has built nothing of it before.
const buildLimit = 10 * time.Minute

func (t *trial) build(ctx context.Context, h harness, program string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, buildLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-overlay", t.overlay(), "-o", program, "./"+h.pkg)
	cmd.Dir = t.root
	return cmd.CombinedOutput()
}

// keepTree has rapid, the library, write down no failure beside the source.
const keepTree = "RAPID_NOFAILFILE=1"

// grace is for a harness to end by itself at its limit, which tells more than a kill.
const grace = 10 * time.Second

// run runs a harness as go test does. Files that it makes go with the trial's; it
// and the processes that it started do not outlast the call.
func (t *trial) run(ctx context.Context, h harness, program string) (verdict, error) {
	limited, cancel := context.WithTimeout(ctx, t.limit+grace)
	defer cancel()
	files := filepath.Join(t.dir, "t")
	if err := os.MkdirAll(files, openDir); err != nil {
		return verdict{}, err
	}
	cmd := exec.CommandContext(limited, program, "-test.run="+h.pattern(), "-test.v", "-test.timeout="+t.limit.String())
	cmd.Dir = filepath.Join(t.root, h.pkg)
	cmd.Env = append(os.Environ(), "TMPDIR="+files, keepTree)
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
