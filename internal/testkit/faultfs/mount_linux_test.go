package faultfs_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/faultfs"
)

func create(t *testing.T, path string) *os.File {
	t.Helper()
	f := env.Must(os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600))(t)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	env.OK(t, errors.Join(errs...))
}

func syncDir(t *testing.T, dir string) {
	t.Helper()
	d, err := os.Open(dir)
	must(t, err)
	must(t, d.Sync(), d.Close())
}

func writeAt(t *testing.T, f *os.File, b []byte, offset int64) {
	t.Helper()
	env.Must(f.WriteAt(b, offset))(t)
}

// shape is a log in words.
func shape(log []faultfs.Entry) (words []string) {
	for _, e := range log {
		words = append(words, e.String())
	}
	return words
}

func TestFilesWorkAndEachChangeIsRecorded(t *testing.T) {
	t.Parallel()
	fs := faultfs.Mount(t)
	a, b := filepath.Join(fs.Dir, "a"), filepath.Join(fs.Dir, "b")
	f := create(t, a)
	_, err := os.OpenFile(a, os.O_CREATE|os.O_EXCL, 0o600)
	env.ErrorIs(t, "a second one of that name", err, os.ErrExist)
	writeAt(t, f, []byte("hello"), 3)
	must(t, f.Sync(), f.Truncate(6))
	fs.Mark(7)
	must(t, os.Link(a, b), os.Remove(a), os.Rename(b, a))
	syncDir(t, fs.Dir)
	got, err := os.ReadFile(a)
	if err != nil || string(got) != "\x00\x00\x00hel" {
		t.Errorf("it holds %q (%v)", got, err)
	}
	want := []string{
		"create a (file 2)", "write 5 bytes at 3 of file 2", "sync 2", "resize file 2 to 6", "mark 7",
		"link b (file 2)", "remove a (file 2)", "rename b to a", "syncdir 1",
	}
	if got := shape(fs.Log()); !slices.Equal(got, want) {
		t.Errorf("the log is\n%q, want\n%q", got, want)
	}
	names, err := filepath.Glob(filepath.Join(fs.Dir, "*"))
	if err != nil || !slices.Equal(names, []string{a}) {
		t.Errorf("there are %q (%v)", names, err)
	}
	must(t, os.Remove(a))
	writeAt(t, f, []byte("still"), 0) // while it is open, a file needs no name
	buf := make([]byte, 6)
	if _, err := f.ReadAt(buf, 0); err != nil || string(buf) != "stilll" {
		t.Errorf("without a name it holds %q (%v)", buf, err)
	}
}

func TestAFaultHitsItsOperation(t *testing.T) {
	t.Parallel()
	fs := faultfs.Mount(t)
	f := create(t, filepath.Join(fs.Dir, "a"))
	page := bytes.Repeat([]byte("x"), 4096)
	write := func() error { _, err := f.WriteAt(page, 0); return err }
	for _, c := range []struct {
		fault faultfs.Fault
		first func() error
		do    func() error
	}{
		{faultfs.Fault{Kinds: []faultfs.Kind{faultfs.Write}, N: 2, Err: syscall.EIO}, write, write},
		{faultfs.Fault{Kinds: []faultfs.Kind{faultfs.Write}, N: 2, Err: syscall.ENOSPC, Half: true}, write, write},
		{faultfs.Fault{Kinds: []faultfs.Kind{faultfs.Sync, faultfs.SyncDir}, N: 1, Err: syscall.EIO}, nil, f.Sync},
		{faultfs.Fault{Kinds: []faultfs.Kind{faultfs.Resize}, N: 1, Err: syscall.ENOSPC}, nil, func() error { return f.Truncate(1 << 20) }},
		{faultfs.Fault{Kinds: []faultfs.Kind{faultfs.Rename}, N: 1, Err: syscall.EIO}, nil, func() error { return os.Rename(f.Name(), f.Name()+"b") }},
		{faultfs.Fault{Kinds: []faultfs.Kind{faultfs.Read}, N: 1, Times: 2, Err: syscall.EIO}, nil, func() error { _, err := os.ReadFile(f.Name()); return err }},
		{faultfs.Fault{Kinds: []faultfs.Kind{faultfs.Open}, N: 1, Err: syscall.EIO}, nil, func() error { _, err := os.Open(f.Name()); return err }},
	} {
		fs.SetFault(c.fault)
		if c.first != nil {
			must(t, c.first())
		}
		env.ErrorIs(t, c.fault.Kinds, c.do(), c.fault.Err)
		if !fs.Met() {
			t.Errorf("%v: it was not met", c.fault.Kinds)
		}
		fs.SetFault(faultfs.Fault{})
		must(t, write())
	}
	want := []string{
		"create a (file 2)",
		"write 4096 bytes at 0 of file 2", "write 4096 bytes at 0 of file 2",
		"write 4096 bytes at 0 of file 2", "write 2048 bytes at 0 of file 2", "write 4096 bytes at 0 of file 2",
	}
	if got := shape(fs.Log()); !slices.Equal(got[:len(want)], want) {
		t.Errorf("the log begins with\n%q, want\n%q", got[:len(want)], want)
	}
}

func TestSavedFilesAreRestored(t *testing.T) {
	t.Parallel()
	fs := faultfs.Mount(t)
	path := filepath.Join(fs.Dir, "a")
	write := func(text string) {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		must(t, err)
		writeAt(t, f, []byte(text), 0)
		must(t, f.Close())
	}
	write("first")
	fs.Save(1)
	log := shape(fs.Log())
	for range 2 {
		write("second")
		fs.Restore(1)
		if got, err := os.ReadFile(path); err != nil || string(got) != "first" {
			t.Errorf("it holds %q (%v)", got, err)
		}
		if got := shape(fs.Log()); !slices.Equal(got, log) {
			t.Errorf("the log is %q, it was %q", got, log)
		}
	}
}

func TestMain(m *testing.M) {
	if faultfs.Serve() {
		return
	}
	os.Exit(m.Run())
}
