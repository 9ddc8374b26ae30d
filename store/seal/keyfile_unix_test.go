//go:build unix

package seal

import (
	"path/filepath"
	"syscall"
	"testing"

	"pushbox/internal/testkit/env"
)

func TestAPipeIsRefusedAsAKeyFileWithoutWaiting(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	_, err := LoadKeyFile(path)
	env.ErrorIs(t, "the error", err, ErrKey)
}
