package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestAnArchiveHasItsFilesAndNoTraceOfTheBuild(t *testing.T) {
	t.Parallel()
	b := aBuild(t, targets(t, "windows/amd64")[0])
	var made [2][]byte
	for i := range made {
		j := job{source: tree(t), dist: t.TempDir()}
		if err := j.archives(t.Context(), []build{b}); err != nil {
			t.Fatal(err)
		}
		made[i] = read(t, filepath.Join(j.dist, "pushbox-1.2.3-windows-amd64.tar.gz"))
		slices.Reverse(b.files) // their order must not matter
	}
	if !bytes.Equal(made[0], made[1]) {
		t.Error("the same files made two different archives")
	}
	z, err := gzip.NewReader(bytes.NewReader(made[0]))
	if err != nil || z.Name != "" || !z.ModTime.IsZero() {
		t.Fatalf("the gzip header has a time or a name: %+v, %v", z.Header, err)
	}
	var names []string
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
		if h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.ModTime.Unix() != 1_700_000_000 {
			t.Errorf("%s has an owner or a time: %+v", h.Name, h)
		}
		if program := strings.HasSuffix(h.Name, ".exe"); program != (h.Mode == programMode) {
			t.Errorf("%s: mode %o", h.Name, h.Mode)
		}
	}
	const stem = "pushbox-1.2.3-windows-amd64/"
	if want := []string{stem + "LICENSE", stem + "README.md", stem + "THIRD-PARTY-LICENSES", stem + "pushbox.exe"}; !slices.Equal(names, want) {
		t.Errorf("%q, not %q", names, want)
	}
}

func TestSha256sumAcceptsTheSums(t *testing.T) {
	t.Parallel()
	j := job{dist: t.TempDir()}
	for _, name := range []string{"b", "a"} {
		if err := os.WriteFile(filepath.Join(j.dist, name), []byte("abc"), fileMode); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.sums(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	if got := string(read(t, filepath.Join(j.dist, sumsName))); got != abc+"  a\n"+abc+"  b\n" {
		t.Errorf("%q", got)
	}
	if program, err := exec.LookPath("sha256sum"); err == nil {
		cmd := exec.CommandContext(t.Context(), program, "--check", "--strict", sumsName)
		cmd.Dir = j.dist
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, said)
		}
	}
}

func TestTwoReleasesAreComparedByteForByte(t *testing.T) {
	t.Parallel()
	one, other := t.TempDir(), t.TempDir()
	write := func(dir, name, content string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), fileMode); err != nil {
			t.Fatal(err)
		}
	}
	write(one, "same", "x")
	write(other, "same", "x")
	var notes strings.Builder
	if err := compare(one, other, &notes); err != nil || !strings.HasPrefix(notes.String(), "1 files are the same") {
		t.Errorf("%v, %q", err, &notes)
	}
	write(one, "differs", "x")
	write(other, "differs", "y")
	if err := compare(one, other, &notes); err == nil || !strings.HasSuffix(err.Error(), ": differs") {
		t.Errorf("another byte: %v", err)
	}
	write(other, "more", "")
	if err := compare(one, other, &notes); err == nil || !strings.Contains(err.Error(), "more") {
		t.Errorf("another file: %v", err)
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
