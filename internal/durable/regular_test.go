//go:build unix

package durable_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"pushbox/internal/durable"
	"pushbox/internal/testkit/env"
)

func TestOnlyAPlainFileIsOpened(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, link, pipe := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	write(t, file, "x")
	env.OK(t, errors.Join(os.Symlink(file, link), syscall.Mkfifo(pipe, 0o600)))
	for path, want := range map[string]string{link: link + " is a link", pipe: pipe + " is no plain file", dir: dir + " is no plain file"} {
		for _, flag := range []int{os.O_RDONLY, os.O_RDWR} {
			f, err := durable.OpenRegular(path, flag)
			if err == nil {
				_ = f.Close()
			}
			env.Equal(t, "the error", fmt.Sprint(err), want)
		}
	}
	f := env.Must(durable.OpenRegular(file, os.O_RDWR))(t)
	env.OK(t, f.Close())
	_, err := durable.OpenRegular(filepath.Join(dir, "nothing"), os.O_RDWR|os.O_CREATE)
	env.ErrorIs(t, "nothing", err, os.ErrNotExist)
}

// A file without a name is another process's: its content must not be overwritten by way of a link.
func TestALeftoverThatIsALinkToAnOpenFileIsOnlyRemoved(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	other := env.Must(os.CreateTemp(t.TempDir(), ""))(t)
	defer other.Close()
	env.Must(other.WriteString("of another"))(t)
	env.OK(t, os.Remove(other.Name()))
	link := fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), other.Fd())
	if _, err := os.Stat(link); err != nil {
		t.Skip("this system has no /proc with open files")
	}
	env.OK(t, errors.Join(os.Symlink(link, path+".new-1"), durable.RemoveLeftovers(path)))
	wantNothing(t, path+".new-1")
	text := make([]byte, len("of another"))
	env.Must(other.ReadAt(text, 0))(t)
	env.Equal(t, "the other file", string(text), "of another")
}
