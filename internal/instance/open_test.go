package instance

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/internal/hint"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store/record"
)

// open opens a store and closes it, and returns what was said meanwhile.
func open(t *testing.T, cfg config.Config, create bool) (notes []string, created bool, err error) {
	t.Helper()
	s, created, err := Open(t.Context(), Options{
		Config: cfg, Create: create, Wait: env.Patience,
		Note: func(n string) { notes = append(notes, n) },
	})
	if err == nil {
		closed(t, s)
	}
	return notes, created, err
}

func TestTheFirstOpeningMakesEverythingAndTheSecondNothing(t *testing.T) {
	t.Parallel()
	cfg := settingsFor(filepath.Join(t.TempDir(), "data"))
	notes, created, err := open(t, cfg, true)
	if err != nil || !created || len(notes) != 4 {
		t.Fatalf("the first: %v, %q, %v", created, notes, err)
	}
	for i, what := range []string{cfg.DataDir, "master.key: keep a copy", "beside the database", "pushbox.db"} {
		if !strings.Contains(notes[i], what) {
			t.Errorf("the notes are %q", notes)
		}
	}
	for name, mode := range map[string]fs.FileMode{"": fs.ModeDir | 0o700, "master.key": 0o600, "pushbox.db": 0o600} {
		if info, err := os.Stat(filepath.Join(cfg.DataDir, name)); err != nil || info.Mode() != mode {
			t.Errorf("%q: %v, %v", name, info.Mode(), err)
		}
	}
	if notes, created, err = open(t, cfg, true); err != nil || created || len(notes) != 0 {
		t.Errorf("the second: %v, %q, %v", created, notes, err)
	}
}

func TestNothingIsMadeWhereNothingWasAskedFor(t *testing.T) {
	t.Parallel()
	cfg := settingsFor(filepath.Join(t.TempDir(), "data"))
	if _, _, err := open(t, cfg, false); !errors.Is(err, ErrNoDatabase) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(cfg.DataDir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory: %v", err)
	}
}

func TestAStoreThatDoesNotOpenIsLeftAloneAndLetGo(t *testing.T) {
	t.Parallel()
	cfg, other := settingsFor(t.TempDir()), settingsFor(t.TempDir())
	for _, c := range []config.Config{cfg, other} {
		env.OK(t, os.Chmod(c.DataDir, 0o700))
		if _, _, err := open(t, c, true); err != nil {
			t.Fatal(err)
		}
	}
	before, err := os.ReadFile(Database(cfg))
	env.OK(t, err)
	wrong := cfg
	wrong.MasterKeyFile = other.KeyFile()
	for range 2 { // the second time it must not be in use
		if _, _, err := open(t, wrong, true); !errors.Is(err, record.ErrKey) {
			t.Errorf("got %v", err)
		}
	}
	after, err := os.ReadFile(Database(cfg))
	if err != nil || !slices.Equal(before, after) {
		t.Errorf("the file was changed (%v)", err)
	}
	if _, _, err := open(t, cfg, false); err != nil {
		t.Errorf("with the right key: %v", err)
	}
}

// strayKey gives the key file of a store a second name, as a crash in the
// making of it does.
func strayKey(t *testing.T, cfg config.Config) (stray string) {
	t.Helper()
	stray = cfg.KeyFile() + ".new-123"
	if err := os.Link(cfg.KeyFile(), stray); err != nil {
		t.Skip(err)
	}
	return stray
}

func TestASecondNameOfTheKeyIsRemovedWithTheDatabaseLocked(t *testing.T) {
	t.Parallel()
	cfg := settingsFor(env.ShortDir(t))
	holder := opened(t, cfg)
	stray := strayKey(t, cfg)
	if _, _, err := Open(t.Context(), Options{Config: cfg, Wait: time.Millisecond}); !errors.Is(err, record.ErrInUse) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(stray); err != nil {
		t.Errorf("without the database: %v", err)
	}
	closed(t, holder)

	key, err := os.ReadFile(cfg.KeyFile())
	env.OK(t, err)
	given := cfg
	given.MasterKey = secret.New(string(key))
	if notes, _, err := open(t, given, false); err != nil || len(notes) != 0 {
		t.Errorf("%q, %v", notes, err)
	}
	if _, err := os.Stat(stray); err != nil {
		t.Errorf("with the key from elsewhere: %v", err)
	}

	if notes, _, err := open(t, cfg, false); err != nil || len(notes) != 0 {
		t.Errorf("%q, %v", notes, err)
	}
	if _, err := os.Stat(stray); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
	if again, err := os.ReadFile(cfg.KeyFile()); err != nil || !slices.Equal(again, key) {
		t.Errorf("the key was changed (%v)", err)
	}
}

func TestAKeyMayBeWhereNothingCanBeListedOrRemoved(t *testing.T) {
	t.Parallel()
	cfg := settingsFor(env.ShortDir(t))
	keys := filepath.Join(env.ShortDir(t), "keys")
	env.OK(t, os.Mkdir(keys, 0o700))
	cfg.MasterKeyFile = filepath.Join(keys, "master.key")
	closed(t, opened(t, cfg))
	stray := strayKey(t, cfg)
	defer func() { _ = os.Chmod(keys, 0o700) }()
	for _, mode := range []fs.FileMode{0o100, 0o500} {
		env.OK(t, os.Chmod(keys, mode))
		if err := os.WriteFile(filepath.Join(keys, "probe"), nil, 0o600); err == nil {
			t.Skip("this user may do everything")
		}
		if notes, _, err := open(t, cfg, false); err != nil || len(notes) != 0 {
			t.Errorf("%04o: %q, %v", mode, notes, err)
		}
		if _, err := os.Stat(stray); err != nil {
			t.Errorf("%04o: %v", mode, err)
		}
	}
}

func TestADirectoryThatThisUserCannotOpenIsAnErrorWithACure(t *testing.T) {
	t.Parallel()
	cfg := settingsFor(filepath.Join(env.ShortDir(t), "data"))
	env.OK(t, os.Mkdir(cfg.DataDir, 0))
	defer func() { _ = os.Chmod(cfg.DataDir, 0o700) }()
	if _, err := os.ReadDir(cfg.DataDir); err == nil {
		t.Skip("this user may do everything")
	}
	_, _, err := open(t, cfg, true)
	if want := fmt.Sprintf("the owner of %s; if a server should use a directory that was mounted into its container, on the host: chown %d DIRECTORY", cfg.DataDir, os.Getuid()); !errors.Is(err, fs.ErrPermission) || !strings.HasSuffix(hint.Of(err), want) {
		t.Errorf("%v; hint: %s", err, hint.Of(err))
	}
}
