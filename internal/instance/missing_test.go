package instance

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pushbox/internal/testkit/env"
	"pushbox/store/bolt"
	"pushbox/store/seal"

	"pushbox/internal/hint"
	"pushbox/store/record"
)

func TestTheHintOfAMissingKeyNamesWhereItMayBe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	originals := [2]string{filepath.Join(dir, "plain"), filepath.Join(dir, "encrypted")}
	cfg := settingsFor(t.TempDir())
	want := func(text string) {
		t.Helper()
		err := missingKey(cfg, cfg.KeyFile(), originals)
		if !errors.Is(err, record.ErrKey) || !strings.Contains(hint.Of(err), text) {
			t.Errorf("%v; hint: %s", err, hint.Of(err))
		}
	}
	want("PUSHBOX_MASTER_KEY_FILE=FILE pushbox ...; if not, put your copy of the key back, with `pushbox key import` if it is on paper")
	touch(t, originals[1])
	want("decrypt it to a file in memory (docs/install.md, The key apart from the data): " + originals[1])
	touch(t, originals[0])
	want("PUSHBOX_MASTER_KEY_FILE=" + originals[0] + " pushbox ...")
}

func TestReadingAKeyMakesNone(t *testing.T) {
	t.Parallel()
	cfg := settingsFor(t.TempDir())
	if _, err := ReadKey(cfg); !errors.Is(err, ErrNoDatabase) {
		t.Errorf("without a database: %v", err)
	}
	touch(t, Database(cfg))
	if _, err := ReadKey(cfg); !errors.Is(err, record.ErrKey) {
		t.Errorf("with a database: %v", err)
	}
	if _, err := os.Stat(cfg.KeyFile()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a key file: %v", err)
	}
}

// touch makes an empty file.
func touch(t *testing.T, path string) {
	t.Helper()
	env.OK(t, os.WriteFile(path, nil, 0o600))
}

// While a command waited for the database, the one that had it put another key into
// the key file.
func TestAKeyThatWasReplacedWhileACommandWaitedIsReadAgain(t *testing.T) {
	t.Parallel()
	cfg := settingsFor(env.ShortDir(t))
	closed(t, opened(t, cfg))
	engine, _, err := bolt.Open(t.Context(), bolt.Options{Path: Database(cfg)})
	env.OK(t, err)
	defer func() { _ = engine.Close() }()
	now, err := seal.LoadKeyFile(cfg.KeyFile())
	env.OK(t, err)
	o := Options{Config: cfg, Note: func(say string) { t.Errorf("it said %q", say) }}
	if got := o.finishRotation(t.Context(), engine, seal.NewRootKey()); !got.Equal(now) {
		t.Error("the key from before is used")
	}
}
