package durable_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"pushbox/internal/durable"
	"pushbox/internal/testkit/env"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	env.OK(t, os.WriteFile(path, []byte(text), 0o600))
}

func wantText(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s holds %q, %v", filepath.Base(path), got, err)
	}
}

func wantNothing(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s: %v", filepath.Base(path), err)
	}
}

func TestAPublishedFileHasItsNameAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	temp, path := filepath.Join(dir, "temp"), filepath.Join(dir, "file")
	write(t, temp, "new")
	if published, err := durable.Publish(temp, path); !published || err != nil {
		t.Fatalf("%v, %v", published, err)
	}
	wantText(t, path, "new")
	wantNothing(t, temp)
}

func TestAFileThatIsThereKeepsItsName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	temp, path := filepath.Join(dir, "temp"), filepath.Join(dir, "file")
	write(t, temp, "new")
	write(t, path, "old")
	if published, err := durable.Publish(temp, path); published || err != nil {
		t.Fatalf("%v, %v", published, err)
	}
	wantText(t, path, "old")
	wantNothing(t, temp)
}

func TestOnlyOneOfManyIsPublished(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var published atomic.Int32
	var all sync.WaitGroup
	for i := range 16 {
		temp := filepath.Join(dir, string(rune('a'+i)))
		write(t, temp, "x")
		all.Go(func() {
			done, err := durable.Publish(temp, filepath.Join(dir, "file"))
			if err != nil {
				t.Error(err)
			}
			if done {
				published.Add(1)
			}
		})
	}
	all.Wait()
	if published.Load() != 1 {
		t.Errorf("%d were published", published.Load())
	}
}

func TestWhatIsMissingIsAnError(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if published, err := durable.Publish(filepath.Join(dir, "temp"), filepath.Join(dir, "file")); published || err == nil {
		t.Errorf("%v, %v", published, err)
	}
	if err := durable.SyncDir(filepath.Join(dir, "nothing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

func TestLeftoversAreRemovedAndNothingElse(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	left, err := os.CreateTemp(filepath.Dir(path), durable.TempPattern(path))
	env.OK(t, err)
	_ = left.Close()
	its := []string{left.Name() + ".new-7", left.Name() + ".schema4"}
	for _, name := range its {
		write(t, name, "x")
	}
	others := []string{path, path + ".new", path + ".new-", path + ".new-backup", path + ".new-2a", path + ".new-a.2", path + ".bak", filepath.Join(filepath.Dir(path), "other.new-1")}
	for _, other := range others {
		write(t, other, "x")
	}
	env.OK(t, durable.RemoveLeftovers(path))
	wantNothing(t, left.Name())
	for _, name := range its {
		wantNothing(t, name)
	}
	for _, other := range others {
		wantText(t, other, "x")
	}
}

func TestAFileIsReplacedInOneStep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	temp, path := filepath.Join(dir, "temp"), filepath.Join(dir, "file")
	write(t, path, "old")
	write(t, temp, "new")
	if replaced, err := durable.Replace(temp, path); !replaced || err != nil {
		t.Fatalf("%v, %v", replaced, err)
	}
	wantText(t, path, "new")
	wantNothing(t, temp)
}

func TestAFileThatCannotBeReplacedStays(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	temp, path := filepath.Join(dir, "temp"), filepath.Join(dir, "file")
	write(t, path, "old")
	if replaced, err := durable.Replace(temp, path); replaced || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("by nothing: %v, %v", replaced, err)
	}
	wantText(t, path, "old")
	write(t, temp, "new")
	env.OK(t, os.Mkdir(filepath.Join(dir, "directory"), 0o700))
	if replaced, err := durable.Replace(temp, filepath.Join(dir, "directory")); replaced || err == nil {
		t.Errorf("a directory: %v, %v", replaced, err)
	}
	wantText(t, temp, "new")
}
