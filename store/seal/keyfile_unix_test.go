//go:build unix

package seal

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"
)

func TestAPipeIsRefusedAsAKeyFileWithoutWaiting(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	if _, err := LoadKeyFile(path); !errors.Is(err, ErrKey) {
		t.Errorf("the error is %v", err)
	}
}
