//go:build unix

package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/unnamed"
)

// drillFor is a directory with the key of another, and a backup of that.
func drillFor(t *testing.T, dir string) (fresh, file string) {
	t.Helper()
	fresh, file = env.ShortDir(t), filepath.Join(t.TempDir(), "box.db")
	run(t, dir, "", "backup", file).want(t, exitDone)
	key := env.Read(t, filepath.Join(dir, "master.key"))
	env.OK(t, os.WriteFile(filepath.Join(fresh, "master.key"), key, 0o600))
	return fresh, file
}

// wantOnlyKey fails the test unless a directory is as before a restore.
func wantOnlyKey(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != "master.key" {
		t.Errorf("there is %v, %v", entries, err)
	}
}

func TestARestoreThatIsInterruptedLeavesNothing(t *testing.T) {
	t.Parallel()
	fresh, file := drillFor(t, withAlice(t))
	f := env.Must(os.Open(file))(t)
	defer f.Close()
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var out strings.Builder
	var temp unnamed.File
	meanwhile := readerFunc(func([]byte) (int, error) {
		if temp.File == nil {
			names, _ := filepath.Glob(filepath.Join(fresh, "pushbox.db.new-*"))
			temp = unnamed.Open(t, strings.Join(names, " and "))
		}
		interrupt()
		return 0, nil
	})
	half := io.MultiReader(io.LimitReader(f, 9000), meanwhile, f)
	code := Main(ctx, []string{"restore", "-", "--data-dir", fresh}, half, &out, &out, nil)
	result{code, "", out.String()}.want(t, exitFailed, "hint: it was interrupted, and there is no database")
	wantOnlyKey(t, fresh)
	temp.Want(t, "the half", "")
	if info, err := temp.Stat(); err != nil || info.Size() < 9000 {
		t.Errorf("it had %d bytes, %v", info.Size(), err)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// A database that comes while a backup is restored stays, and the backup goes.
func TestARestoreNeverTakesTheNameOfADatabaseThatIsThere(t *testing.T) {
	t.Parallel()
	fresh, file := drillFor(t, withAlice(t))
	f := env.Must(os.Open(file))(t)
	defer f.Close()
	path := filepath.Join(fresh, "pushbox.db")
	made := false
	meanwhile := readerFunc(func([]byte) (int, error) {
		if !made {
			made = true
			return 0, os.WriteFile(path, []byte("another"), 0o600)
		}
		return 0, io.EOF
	})
	var out strings.Builder
	code := Main(t.Context(), []string{"restore", "-", "--data-dir", fresh}, io.MultiReader(f, meanwhile), &out, &out, nil)
	result{code, "", out.String()}.want(t, exitFailed, "there is a database in "+fresh)
	if text, err := os.ReadFile(path); err != nil || string(text) != "another" {
		t.Errorf("it has %d bytes, %v", len(text), err)
	}
	if left, err := filepath.Glob(path + ".new-*"); err != nil || len(left) > 0 {
		t.Errorf("there is %v, %v", left, err)
	}
}

func TestWhatAKilledRestoreLeftGoesWithTheNextAndWithAStart(t *testing.T) {
	t.Parallel()
	fresh, file := drillFor(t, withAlice(t))
	leave := func() []string {
		left := []string{filepath.Join(fresh, "pushbox.db.new-17"), filepath.Join(fresh, "pushbox.db.new-17.new-18"), filepath.Join(fresh, "pushbox.db.new-19.schema4")}
		for _, name := range left {
			env.OK(t, os.WriteFile(name, []byte("half"), 0o600))
		}
		return left
	}
	for _, command := range [][]string{{"restore", file}, {"check"}} {
		left := leave()
		run(t, fresh, "", command...).want(t, exitDone)
		for _, name := range left {
			if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("after %s: %s is there, %v", command[0], filepath.Base(name), err)
			}
		}
	}
}

// A pipe without a writer must not block a restore: no signal would end the wait.
func TestARestoreFromANamedPipeIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	fresh, _ := drillFor(t, withAlice(t))
	pipe := filepath.Join(t.TempDir(), "pipe")
	env.OK(t, syscall.Mkfifo(pipe, 0o600))
	ended := make(chan result, 1)
	go func() { ended <- run(t, fresh, "", "restore", pipe) }()
	select {
	case r := <-ended:
		r.want(t, exitUsage, "is not a plain file")
	case <-time.After(env.Patience):
		t.Fatal("it waits for a writer")
	}
	wantOnlyKey(t, fresh)
}

// The owner of the directory could have a command of root wait for ever.
func TestADatabaseThatIsANamedPipeIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	dir := withAlice(t)
	path := filepath.Join(dir, "pushbox.db")
	env.OK(t, errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)))
	for _, command := range [][]string{{"check"}, {"user", "list"}, {"compact"}, {"key", "rotate"}, {"events"}, {"backup", filepath.Join(t.TempDir(), "box.db")}} {
		run(t, dir, "", command...).want(t, exitFailed, "pushbox.db is no plain file")
	}
	run(t, dir, "", "doctor").want(t, exitProblems)
}
