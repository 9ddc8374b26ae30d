package cli

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/unnamed"
)

// The copy has all pages of the database.
func TestTheCopyOfABackupHasNoNameAndIsOverwritten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pushbox.db.new-1")
	env.OK(t, os.WriteFile(path, []byte("pages"), 0o600))
	left := unnamed.Open(t, path)
	taken, err := takeCopy(path)
	env.OK(t, err)
	if _, err := os.Lstat(path); err == nil {
		t.Error("it has its name")
	}
	if b, err := io.ReadAll(taken); err != nil || string(b) != "pages" {
		t.Errorf("it has %q, %v", b, err)
	}
	if err := taken.Close(); err != nil {
		t.Error(err)
	}
	left.Want(t, "the copy", "")
}
