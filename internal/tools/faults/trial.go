package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A trial runs harnesses against the code with one fault, with files in a directory of its own. It does not change the
// source tree.
type trial struct {
	root, dir string
	limit     time.Duration
	unfit     error // why the patch does not fit the code
}

const openDir = 0o755

// newTrial prepares the code with a fault; end removes its files. Other users may enter their
// directory, because some harnesses run programs as another user.
func newTrial(root string, limit time.Duration, f fault) (*trial, error) {
	dir, err := os.MkdirTemp("", "f") // a short name: a socket's path has room for some 100 characters
	if err != nil {
		return nil, err
	}
	t := &trial{root: root, dir: dir, limit: limit}
	var changed map[string]string
	changed, t.unfit = f.seed(func(path string) ([]byte, error) { return os.ReadFile(filepath.Join(root, path)) })
	replace := make(map[string]string)
	for path, text := range changed {
		copied := filepath.Join(dir, "patched", path)
		err = errors.Join(err, os.MkdirAll(filepath.Dir(copied), openDir), os.WriteFile(copied, []byte(text), 0o600))
		replace[filepath.Join(root, path)] = copied
	}
	overlay, failed := json.Marshal(map[string]any{"Replace": replace})
	err = errors.Join(err, failed, os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600), os.Chmod(dir, openDir))
	if err != nil {
		return nil, errors.Join(err, t.end())
	}
	return t, nil
}

// end removes the files of the trial, and unmounts what a killed test left mounted.
func (t *trial) end() error { return errors.Join(unmountBelow(t.dir), os.RemoveAll(t.dir)) }

// unmountBelow unmounts the file systems below a directory, inner ones first. Only on Linux do
// tests mount any.
func unmountBelow(dir string) error {
	const place = 4 // of the path in a line, proc_pid_mountinfo(5)
	b, err := os.ReadFile("/proc/self/mountinfo")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var below []string
	for line := range strings.Lines(string(b)) {
		if fields := strings.Fields(line); len(fields) > place && strings.HasPrefix(fields[place], dir+"/") {
			below = append(below, strings.ReplaceAll(fields[place], `\040`, " "))
		}
	}
	for _, path := range slices.Backward(below) {
		if said, failed := exec.Command("umount", "--lazy", path).CombinedOutput(); failed != nil {
			err = errors.Join(err, fmt.Errorf("unmount %s: %w: %s", path, failed, said))
		}
	}
	return err
}

// longRun is the variable that makes harnesses run at their long length.
const longRun = "PUSHBOX_TEST_LONG=1"

// try runs the harnesses of a fault in turn until one of them fails: each at the length of go
// test, then each at that of the long run. An error means that the trial has no outcome.
func (t *trial) try(ctx context.Context, f fault) (v verdict, err error) {
	for _, setting := range []string{"", longRun} {
		for _, h := range f.by {
			if v, err = t.buildAndRun(ctx, h, setting); err != nil || v.fate != missed && v.fate != skipped {
				return v, err
			}
		}
	}
	return v, err
}

// buildAndRun builds a harness with the patched code, unless it did so before, and runs it with a
// setting in its environment.
func (t *trial) buildAndRun(ctx context.Context, h harness, setting string) (verdict, error) {
	if t.unfit != nil {
		return verdict{fate: unfit, says: t.unfit.Error()}, nil
	}
	program := filepath.Join(t.dir, strings.ReplaceAll(h.pkg, "/", "_")+".test")
	if _, err := os.Stat(program); err != nil {
		limited, cancel := context.WithTimeout(ctx, buildLimit)
		defer cancel()
		cmd := exec.CommandContext(limited, "go", "test", "-c", "-overlay", filepath.Join(t.dir, "overlay.json"), "-o", program, "./"+h.pkg)
		cmd.Dir = t.root
		out, err := cmd.CombinedOutput()
		if ctx.Err() != nil {
			return verdict{}, ctx.Err()
		}
		if err != nil {
			return verdict{fate: broken, by: h, says: string(out)}, nil
		}
	}
	v, err := t.run(ctx, h, program, setting)
	v.long = setting == longRun
	return v, err
}

// buildLimit allows for a busy machine with an empty build cache.
const buildLimit = 10 * time.Minute

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
	cmd := exec.CommandContext(limited, program, "-test.run="+h.pattern(), "-test.v", "-test.timeout="+t.limit.String())
	cmd.Dir = filepath.Join(t.root, h.pkg)
	// rapid, the library, must not write failures into the source tree, nor shrink them.
	cmd.Env = append(os.Environ(), "TMPDIR="+files, setting, "RAPID_NOFAILFILE=1", "RAPID_SHRINKTIME=0s")
	// The harness and the processes that it starts end together.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = grace
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	begun := time.Now()
	err := cmd.Run()
	if cmd.Process != nil {
		_ = cmd.Cancel() // usually no process is left
	}
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
