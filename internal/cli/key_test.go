package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pushbox/store"
	"pushbox/store/seal"
)

func TestAKeyIsMadeOnlyWhereThereIsNeitherKeyNorDatabase(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name          string
		file, databse bool
		made          bool
		err           error
	}{
		{"nothing yet", false, false, true, nil},
		{"a key and no database", true, false, false, nil},
		{"both", true, true, false, nil},
		{"a database and no key", false, true, false, store.ErrKey},
	} {
		cfg := settingsFor(t.TempDir())
		if test.file {
			if _, err := seal.CreateKeyFile(cfg.KeyFile()); err != nil {
				t.Fatal(err)
			}
		}
		_, made, err := masterKey(cfg, test.databse)
		if !errors.Is(err, test.err) || (made != "") != test.made {
			t.Errorf("%s: made %q, %v", test.name, made, err)
		}
		_, err = os.Stat(cfg.KeyFile())
		if exists := err == nil; exists != (test.file || test.made) {
			t.Errorf("%s: afterwards the key file: %v", test.name, err)
		}
	}
}

func TestTheKeyThatWasMadeIsTheKeyThatIsLoaded(t *testing.T) {
	t.Parallel()
	cfg := settingsFor(t.TempDir())
	first, _, err := masterKey(cfg, false)
	if err != nil {
		t.Fatal(err)
	}
	second, _, err := masterKey(cfg, true)
	if err != nil || string(first.Text()) != string(second.Text()) {
		t.Errorf("another key was loaded (%v)", err)
	}
	cfg.MasterKey = secretText(string(first.Text()))
	cfg.DataDir = t.TempDir() // where there is none
	third, made, err := masterKey(cfg, true)
	if err != nil || made != "" || string(first.Text()) != string(third.Text()) {
		t.Errorf("the key given as a setting was not taken (%v)", err)
	}
}

func TestAKeyThatIsMangledIsNeitherUsedNorReplacedNorShown(t *testing.T) {
	t.Parallel()
	for _, exists := range []bool{true, false} {
		cfg := settingsFor(t.TempDir())
		const text = "pushbox-key-1:marker\n"
		if err := os.WriteFile(cfg.KeyFile(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, made, err := masterKey(cfg, exists)
		if !errors.Is(err, seal.ErrKey) || made != "" || strings.Contains(err.Error(), "marker") {
			t.Errorf("got %v", err)
		}
		if b, err := os.ReadFile(cfg.KeyFile()); err != nil || string(b) != text {
			t.Errorf("the file holds %q now (%v)", b, err)
		}
		cfg.MasterKey = secretText(text)
		if _, _, err := masterKey(cfg, exists); !errors.Is(err, seal.ErrKey) || strings.Contains(err.Error(), "marker") {
			t.Errorf("as a setting: %v", err)
		}
	}
}

func TestAKeyFileThatCannotBeMadeIsAnError(t *testing.T) {
	t.Parallel()
	cfg := settingsFor(t.TempDir())
	cfg.MasterKeyFile = filepath.Join(cfg.DataDir, "missing", "master.key")
	if _, made, err := masterKey(cfg, false); err == nil || made != "" || !strings.Contains(err.Error(), "make the key file") {
		t.Errorf("made %q, %v", made, err)
	}
}
