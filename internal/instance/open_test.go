package instance

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/internal/hint"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
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
	_, _, err := open(t, cfg, false)
	env.ErrorIs(t, "it", err, ErrNoDatabase)
	_, err = os.Stat(cfg.DataDir)
	env.ErrorIs(t, "the directory", err, fs.ErrNotExist)
}

func TestAStoreThatDoesNotOpenIsLeftAloneAndLetGo(t *testing.T) {
	t.Parallel()
	cfg, other := settingsFor(t.TempDir()), settingsFor(t.TempDir())
	for _, c := range []config.Config{cfg, other} {
		env.OK(t, os.Chmod(c.DataDir, 0o700))
		_, _, err := open(t, c, true)
		env.OK(t, err)
	}
	before := env.Read(t, Database(cfg))
	wrong := cfg
	wrong.MasterKeyFile = other.KeyFile()
	for range 2 { // the second time it must not be in use
		_, _, err := open(t, wrong, true)
		env.ErrorIs(t, "it", err, record.ErrKey)
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
	_, _, err := Open(t.Context(), Options{Config: cfg, Wait: time.Millisecond})
	env.ErrorIs(t, "it", err, record.ErrInUse)
	if _, err := os.Stat(stray); err != nil {
		t.Errorf("without the database: %v", err)
	}
	closed(t, holder)

	key := env.Read(t, cfg.KeyFile())
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
	_, err = os.Stat(stray)
	env.ErrorIs(t, "it is still there", err, fs.ErrNotExist)
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

func TestADirectoryIsForItsOwnerAlone(t *testing.T) {
	t.Parallel()
	for mode, want := range map[fs.FileMode]string{
		0o700: "", 0o500: "",
		0o750: "warn", 0o710: "warn", 0o740: "warn", 0o705: "warn", 0o701: "warn", 0o755: "warn",
		0o770: "refuse", 0o720: "refuse", 0o702: "refuse", 0o777: "refuse",
	} {
		dir := t.TempDir()
		env.OK(t, os.Chmod(dir, mode))
		warning, err := checkDir(dir)
		got := ""
		switch {
		case err != nil:
			got = "refuse"
		case warning != "":
			got = "warn"
		}
		if got != want {
			t.Errorf("%04o: %q instead of %q (%s, %v)", mode, got, want, warning, err)
		}
		env.OK(t, os.Chmod(dir, 0o700))
	}
}

func TestAFileIsNoDataDirectory(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "file")
	env.OK(t, os.WriteFile(name, nil, 0o600))
	if _, err := checkDir(name); err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("a file: %v", err)
	}
	if _, err := MakeDir(filepath.Join(name, "below")); err == nil {
		t.Error("a directory was made below a file")
	}
}

func TestADirectoryIsMadeWithThoseAboveItAndOnlyOnce(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	dir := filepath.Join(root, "a", "b", "c")
	for _, want := range []bool{true, false} {
		if made, err := MakeDir(dir); err != nil || made != want {
			t.Errorf("made: %v, %v", made, err)
		}
	}
	for ; dir != root; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err != nil || info.Mode() != fs.ModeDir|0o700 {
			t.Errorf("%s: %v, %v", dir, info.Mode(), err)
		}
	}
}

func TestPoliciesReachTheStore(t *testing.T) {
	t.Parallel()
	cfg := config.Default()
	cfg.Policy.RequirePassphrase, cfg.Policy.ExpireAfterDaysMax, cfg.Policy.AccountPushes = config.On, 5, 50
	cfg.Files.ExpireAfterDaysMax, cfg.Limits.AccountBytes = 6, 1000
	cfg.Policies = []config.NamedPolicy{{Name: "finance", Groups: []string{"money"}, Policy: config.Policy{
		Kinds: []string{"text", "file"}, RequirePassphrase: config.Off, RequireEncryption: config.On, EnableMail: config.Off,
		ExpireAfterDaysMax: 8, ExpireAfterViewsDefault: 2, ExpireAfterViewsMax: 3, MaxFileUploads: 4, MaxFileSize: 2000, AccountBytes: 500,
	}}, {Name: "open", Policy: config.Policy{EnableMail: config.On}}}
	o := StoreOptions(cfg)
	if days := o.Terms[record.Text].Days; days != (store.Range{Default: 5, Min: 1, Max: 5}) {
		t.Errorf("days for all: %+v", days)
	}
	if want := (store.Rules{Passphrase: true}); o.Rules != want || o.Space.Room.Account != (record.Room{Pushes: 50, Bytes: 1000}) {
		t.Errorf("for all: %+v, %+v", o.Rules, o.Space.Room)
	}
	finance := o.Policies[0]
	if want := (store.Rules{Encryption: true, NoMail: true}); finance.Rules != want || finance.Room != (record.Room{Pushes: 50, Bytes: 500}) {
		t.Errorf("%+v, %+v", finance.Rules, finance.Room)
	}
	if finance.Name != "finance" || !reflect.DeepEqual(finance.Groups, []string{"money"}) || finance.Files.MaxCount != 4 || finance.Files.MaxSize != 2000 || finance.Files.Window != cfg.Files.DownloadWindow {
		t.Errorf("%+v", finance)
	}
	for kind, want := range map[record.Kind]store.Terms{
		record.Text: {Enabled: true, Days: store.Range{Default: 7, Min: 1, Max: 8}, Views: store.Range{Default: 2, Min: 1, Max: 3}},
		record.File: {Enabled: true, Days: store.Range{Default: 6, Min: 1, Max: 6}, Views: store.Range{Default: 2, Min: 1, Max: 3}},
		record.URL:  {Days: store.Range{Default: 7, Min: 1, Max: 8}, Views: store.Range{Default: 2, Min: 1, Max: 3}},
	} {
		if got := finance.Terms[kind]; got.Enabled != want.Enabled || got.Days != want.Days || got.Views != want.Views {
			t.Errorf("%v: %+v, not %+v", kind, got, want)
		}
	}
	if open := o.Policies[1]; !reflect.DeepEqual(open.Terms, o.Terms) || open.Files != o.Files || open.Rules != o.Rules || open.Room != o.Space.Room.Account {
		t.Errorf("one that differs in nothing: %+v", open)
	}
}
