//go:build unix

package seal

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

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

// Otherwise the owner of the directory reads what only root can read.
func TestAFileInThePlaceOfTheKeyIsNotKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, secret := filepath.Join(dir, "key"), filepath.Join(t.TempDir(), "of root")
	env.Must(CreateKeyFile(path))(t)
	slot := env.Must(NewKeySlot(path))(t)
	env.OK(t, errors.Join(slot.Stage(NewRootKey()), os.WriteFile(secret, []byte("root's"), 0o600)))
	for name, replace := range map[string]func(string, string) error{"link": os.Symlink, "name": os.Link} {
		env.OK(t, errors.Join(os.Remove(path), replace(secret, path)))
		old, err := slot.Adopt(time.Now(), false)
		if err == nil || old != "" {
			t.Errorf("a %s to another file: kept as %q, %v", name, old, err)
		}
		if kept := env.Must(filepath.Glob(path + ".old-*"))(t); len(kept) > 0 {
			t.Errorf("a %s to another file: there is %q", name, kept)
		}
	}
}
