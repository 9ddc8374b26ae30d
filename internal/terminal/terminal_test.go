package terminal_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"pushbox/internal/terminal"
	"pushbox/internal/testkit/env"
)

func TestFilesPipesAndBuffersAreNoTerminals(t *testing.T) {
	t.Parallel()
	file := env.Must(os.Create(filepath.Join(t.TempDir(), "file")))(t)
	r, w, err := os.Pipe()
	env.OK(t, err)
	null := env.Must(os.Open(os.DevNull))(t)
	for what, stream := range map[string]any{"a file": file, "a pipe": r, "the null device": null, "a buffer": new(bytes.Buffer), "nil": nil, "a nil file": (*os.File)(nil)} {
		if terminal.Is(stream) {
			t.Errorf("%s counts as a terminal", what)
		}
	}
	for _, f := range []*os.File{file, r, w, null} {
		env.OK(t, f.Close())
	}
	if terminal.Is(file) {
		t.Error("a closed file counts as a terminal")
	}
}
