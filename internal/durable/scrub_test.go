package durable_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pushbox/internal/durable"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/unnamed"
)

func TestWhatIsScrubbedHoldsNothing(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, 1<<20 - 1, 1 << 20, 9<<20 + 5} {
		path := filepath.Join(t.TempDir(), "file")
		write(t, path, strings.Repeat("x", size))
		f := unnamed.Open(t, path)
		if err := durable.Scrub(path); err != nil {
			t.Error(err)
		}
		wantNothing(t, path)
		f.Want(t, "scrubbed", "")
		if info, err := f.Stat(); err != nil || info.Size() != int64(size) {
			t.Errorf("%v, %v", info, err)
		}
	}
}

// The temporary name of a file that was published a moment before a crash is a second
// name of the file itself.
func TestAFileWithAnotherNameIsNotOverwritten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	write(t, path, "live")
	for name, make := range map[string]func(string, string) error{"a link": os.Link, "a symbolic link": os.Symlink} {
		second := path + ".new-1"
		env.OK(t, make(path, second))
		f := unnamed.Open(t, path)
		if err := durable.RemoveLeftovers(path); err != nil {
			t.Error(err)
		}
		wantNothing(t, second)
		f.Want(t, name, "live")
	}
	wantText(t, path, "live")
}

func TestLeftoversAndWhatIsReplacedAreOverwritten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	write(t, path, "old")
	write(t, path+".new-12", "left over")
	old, left := unnamed.Open(t, path), unnamed.Open(t, path+".new-12")
	env.OK(t, errors.Join(durable.RemoveLeftovers(path), durable.WriteFile(path, []byte("new"))))
	old.Want(t, "the old content", "")
	left.Want(t, "the leftover", "")
	wantText(t, path, "new")
}

func TestWhatCannotBeOpenedIsOnlyRemoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := durable.Scrub(filepath.Join(dir, "not there")); err != nil {
		t.Error(err)
	}
	empty := filepath.Join(dir, "directory")
	env.OK(t, os.Mkdir(empty, 0o700))
	if err := durable.Scrub(empty); err != nil {
		t.Error(err)
	}
	wantNothing(t, empty)
}

// What cannot get its name is not needed, and may hold secrets.
func TestWhatIsNotPublishedIsOverwritten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	write(t, path, "old")
	write(t, path+".new-1", "new")
	f := unnamed.Open(t, path+".new-1")
	if published, err := durable.Publish(path+".new-1", path); published || err != nil {
		t.Errorf("%t, %v", published, err)
	}
	f.Want(t, "not published", "")
	wantText(t, path, "old")
}
