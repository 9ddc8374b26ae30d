// Package unnamed looks at what is left of a file that a test has open while the file loses
// its name.
package unnamed

import (
	"bytes"
	"io"
	"os"
	"runtime"
	"testing"

	"pushbox/internal/testkit/env"
)

// A File is such a file.
type File struct{ *os.File }

// Open opens a file until the test ends. It skips the test on Windows, where a file that
// is open keeps its name.
func Open(t *testing.T, path string) File {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("a file that is open keeps its name there")
	}
	f := env.Must(os.Open(path))(t)
	t.Cleanup(func() { _ = f.Close() })
	return File{f}
}

// Want fails the test unless the file holds text, or if that is empty, zeros alone.
func (f File) Want(t *testing.T, what, text string) {
	t.Helper()
	b := env.Must(io.ReadAll(io.NewSectionReader(f, 0, 1<<30)))(t)
	if text == "" {
		b = bytes.Trim(b, "\x00")
	}
	if string(b) != text {
		t.Errorf("%s: %d bytes are left, which begin %.40q", what, len(b), b)
	}
}
