package instance

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/record"
)

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
