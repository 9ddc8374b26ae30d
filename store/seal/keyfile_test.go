package seal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"pushbox/internal/durable"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/unnamed"
)

func TestACreatedKeyFileLoads(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "master.key")
	made := env.Must(CreateKeyFile(path))(t)
	loaded, err := LoadKeyFile(path)
	if err != nil || *loaded.s != *made.s {
		t.Errorf("it loads as another key, or does not load: %v", err)
	}
	info := env.Must(os.Stat(path))(t)
	if runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Errorf("its mode is %v", info.Mode())
	}
	onlyFile(t, path)
}

// onlyFile fails the test unless path is alone in its directory.
func onlyFile(t *testing.T, path string) {
	t.Helper()
	entries := env.Must(os.ReadDir(filepath.Dir(path)))(t)
	if len(entries) != 1 || entries[0].Name() != filepath.Base(path) {
		t.Errorf("the directory holds %v", entries)
	}
}

func TestAnExistingFileIsKept(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "master.key")
	env.OK(t, os.WriteFile(path, []byte("mine"), 0o600))
	if k, err := CreateKeyFile(path); !errors.Is(err, fs.ErrExist) || k.s != nil {
		t.Errorf("the error is %v", err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "mine" {
		t.Errorf("it now holds %q, %v", text, err)
	}
	onlyFile(t, path)
}

func TestADanglingLinkIsNotFollowed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "master.key")
	if err := os.Symlink(filepath.Join(t.TempDir(), "elsewhere"), path); err != nil {
		t.Skip(err)
	}
	_, err := CreateKeyFile(path)
	env.ErrorIs(t, "the error", err, fs.ErrExist)
	onlyFile(t, path)
}

func TestOfManyCreatorsOneWins(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "master.key")
	keys := make([]RootKey, 8)
	var wg sync.WaitGroup
	for i := range keys {
		wg.Go(func() { keys[i], _ = CreateKeyFile(path) })
	}
	wg.Wait()
	loaded := env.Must(LoadKeyFile(path))(t)
	won := 0
	for _, k := range keys {
		if k.s == nil {
			continue
		}
		if won++; *k.s != *loaded.s {
			t.Error("a creator returned a key that is not in the file")
		}
	}
	env.Equal(t, "creators won", won, 1)
	onlyFile(t, path)
}

func TestAMissingDirectoryIsAnError(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "missing", "master.key")
	_, err := CreateKeyFile(path)
	env.ErrorIs(t, "creating", err, fs.ErrNotExist)
	if _, err := LoadKeyFile(path); !errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrKey) {
		t.Errorf("loading: %v", err)
	}
}

func TestAKeyFileOpenToOthersIsRefused(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("modes have no meaning on Windows")
	}
	path := filepath.Join(t.TempDir(), "master.key")
	env.Must(CreateKeyFile(path))(t)
	for mode, good := range map[fs.FileMode]bool{
		0o600: true, 0o400: true, 0o440: true, 0o640: true, 0o660: true,
		0o604: false, 0o602: false, 0o601: false, 0o644: false, 0o666: false,
	} {
		env.OK(t, os.Chmod(path, mode))
		_, err := LoadKeyFile(path)
		switch {
		case good && err != nil:
			t.Errorf("%04o: %v", mode, err)
		case !good && (!errors.Is(err, ErrKey) || !strings.Contains(err.Error(), "chmod 600 "+path)):
			t.Errorf("%04o: the error is %v", mode, err)
		}
	}
}

func TestAKeyFileMayBeFourKiBAndNoMore(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "master.key")
	comment := "\n#" + strings.Repeat("x", maxKeyFile-len(frozenKey)-2)
	for text, want := range map[string]error{
		frozenKey + comment:       nil,
		frozenKey + comment + "x": ErrKey,
	} {
		env.OK(t, os.WriteFile(path, []byte(text), 0o600))
		if _, err := LoadKeyFile(path); !errors.Is(err, want) {
			t.Errorf("%d bytes: the error is %v", len(text), err)
		}
	}
}

func TestAMalformedKeyFileIsRefusedByName(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "master.key")
	env.OK(t, os.WriteFile(path, []byte(frozenKey[:60]), 0o600))
	_, err := LoadKeyFile(path)
	if !errors.Is(err, ErrKey) || !strings.Contains(err.Error(), path) || leaks(err) {
		t.Errorf("the error is %v", err)
	}
}

func TestADirectoryIsNotAKeyFile(t *testing.T) {
	t.Parallel()
	_, err := LoadKeyFile(t.TempDir())
	env.ErrorIs(t, "the error", err, ErrKey)
}

func TestAKeyThatIsNotNeededIsOverwritten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "master.key")
	env.Must(CreateKeyFile(path))(t)
	slot := env.Must(NewKeySlot(path))(t)
	if err := slot.Unstage(); err != nil {
		t.Errorf("with none: %v", err)
	}
	env.OK(t, slot.Stage(NewRootKey()))
	next := unnamed.Open(t, slot.NextPath())
	env.OK(t, slot.Unstage())
	next.Want(t, "the next key", "")
	onlyFile(t, path)
}

// The service user owns the directory of the key, and may put a link in the place of a new file
// while root makes it.
func TestANewKeyFileGetsItsModeAndNothingThatHasItsName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, target := filepath.Join(dir, "key"), filepath.Join(t.TempDir(), "of another")
	for name, mode := range map[string]os.FileMode{path: 0o640, target: 0o600} {
		env.OK(t, errors.Join(os.WriteFile(name, []byte("x"), mode), os.Chmod(name, mode)))
	}
	temp, key := env.Must(os.CreateTemp(dir, ""))(t), env.Must(os.Open(path))(t)
	defer func() { _, _ = temp.Close(), key.Close() }()
	moved := temp.Name() + ".moved"
	env.OK(t, errors.Join(os.Rename(temp.Name(), moved), os.Symlink(target, temp.Name()), durable.Inherit(temp, key)))
	for name, want := range map[string]os.FileMode{moved: 0o640, target: 0o600} {
		if info, err := os.Stat(name); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}
