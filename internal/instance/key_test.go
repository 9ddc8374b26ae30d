package instance

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pushbox/internal/hint"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/record"
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
		{"a database and no key", false, true, false, record.ErrKey},
	} {
		cfg := settingsFor(t.TempDir())
		if test.file {
			env.Must(seal.CreateKeyFile(cfg.KeyFile()))(t)
		}
		_, made, err := MasterKey(cfg, test.databse)
		if !errors.Is(err, test.err) || (made != "") != test.made {
			t.Errorf("%s: made %q, %v", test.name, made, err)
		}
		_, err = os.Stat(cfg.KeyFile())
		if exists := err == nil; exists != (test.file || test.made) {
			t.Errorf("%s: afterwards the key file: %v", test.name, err)
		}
	}
}

// The settings name another place than before: the key is still in the data directory.
func TestAKeyThatIsStillInItsOldPlaceIsNamed(t *testing.T) {
	t.Parallel()
	cfg := settingsFor(t.TempDir())
	env.Must(seal.CreateKeyFile(cfg.KeyFile()))(t)
	old := cfg.KeyFile()
	cfg.MasterKeyFile = filepath.Join(t.TempDir(), "master.key")
	for _, there := range []bool{true, false} {
		_, _, err := MasterKey(cfg, true)
		if !errors.Is(err, record.ErrKey) || strings.Contains(hint.Of(err), "pushbox key import "+old) != there {
			t.Errorf("%t: %v (%s)", there, err, hint.Of(err))
		}
		env.OK(t, os.RemoveAll(old))
	}
}

func TestTheKeyThatWasMadeIsTheKeyThatIsLoaded(t *testing.T) {
	t.Parallel()
	cfg := settingsFor(t.TempDir())
	first, _, err := MasterKey(cfg, false)
	env.OK(t, err)
	second, _, err := MasterKey(cfg, true)
	if err != nil || string(first.Text()) != string(second.Text()) {
		t.Errorf("another key was loaded (%v)", err)
	}
	cfg.MasterKey = secret.New(string(first.Text()))
	cfg.DataDir = t.TempDir() // where there is none
	third, made, err := MasterKey(cfg, true)
	if err != nil || made != "" || string(first.Text()) != string(third.Text()) {
		t.Errorf("the key given as a setting was not taken (%v)", err)
	}
}

func TestAKeyThatIsMangledIsNeitherUsedNorReplacedNorShown(t *testing.T) {
	t.Parallel()
	for _, exists := range []bool{true, false} {
		cfg := settingsFor(t.TempDir())
		const text = "pushbox-key-1:marker\n"
		env.OK(t, os.WriteFile(cfg.KeyFile(), []byte(text), 0o600))
		_, made, err := MasterKey(cfg, exists)
		if !errors.Is(err, seal.ErrKey) || made != "" || strings.Contains(err.Error(), "marker") {
			t.Errorf("got %v", err)
		}
		if b, err := os.ReadFile(cfg.KeyFile()); err != nil || string(b) != text {
			t.Errorf("the file holds %q now (%v)", b, err)
		}
		cfg.MasterKey = secret.New(text)
		if _, _, err := MasterKey(cfg, exists); !errors.Is(err, seal.ErrKey) || strings.Contains(err.Error(), "marker") {
			t.Errorf("as a setting: %v", err)
		}
	}
}

func TestAKeyFileThatCannotBeMadeIsAnError(t *testing.T) {
	t.Parallel()
	cfg := settingsFor(t.TempDir())
	cfg.MasterKeyFile = filepath.Join(cfg.DataDir, "missing", "master.key")
	if _, made, err := MasterKey(cfg, false); err == nil || made != "" || !strings.Contains(err.Error(), "make the key file") {
		t.Errorf("made %q, %v", made, err)
	}
}

func TestWhatIsHandedOverIsNoFileToReplace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	credentials := []string{"OTHER=/x", credentialsVar + "=" + dir + "/creds"}
	for _, c := range []struct {
		file    string
		environ []string
		fixed   bool
	}{
		{"", credentials, false},
		{"/etc/pushbox/master.key", credentials, false},
		{dir + "/creds/master.key", credentials, true},
		{dir + "/creds/master.key", nil, false},
		{dir + "/creds-of-mine/master.key", credentials, false},
		{dir + "/creds/master.key", []string{credentialsVar + "="}, false},
		{"/run/credentials/pushbox.service/master.key", nil, true},
		{"/run/secrets/master.key", nil, true},
	} {
		cfg := settingsFor(dir)
		cfg.MasterKeyFile = c.file
		got := RootKeeper(cfg, c.environ)
		if (got.Fixed != "") != c.fixed || (got.File == "") != c.fixed || !c.fixed && !filepath.IsAbs(got.File) {
			t.Errorf("%s with %q: %+v", c.file, c.environ, got)
		}
	}
	cfg := settingsFor(dir)
	cfg.MasterKey = secret.New("x")
	env.Equal(t, "a setting", RootKeeper(cfg, nil), (store.RootKeeper{Fixed: "the setting master_key"}))
}
