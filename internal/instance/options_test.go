package instance

import (
	"errors"
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
	"pushbox/store/bolt"
	"pushbox/store/record"
	"pushbox/store/seal"
)

// TestEachSettingReachesTheStore gives each setting a value of its own.
func TestEachSettingReachesTheStore(t *testing.T) {
	t.Parallel()
	plain := func(n int) config.Terms {
		return config.Terms{
			ExpireAfterDaysDefault: n + 1, ExpireAfterDaysMin: n + 2, ExpireAfterDaysMax: n + 3,
			ExpireAfterViewsDefault: n + 4, ExpireAfterViewsMin: n + 5, ExpireAfterViewsMax: n + 6,
			EnableRetrievalStep: true,
		}
	}
	want := func(n int) store.Terms {
		return store.Terms{
			Enabled: true,
			Days:    store.Range{Default: n + 1, Min: n + 2, Max: n + 3}, Views: store.Range{Default: n + 4, Min: n + 5, Max: n + 6},
			RetrievalStep: store.Choice{Enabled: true},
		}
	}
	cfg := config.Config{
		EnableURLPushes: true, EnableQRPushes: true, EnableFilePushes: true, PurgeAfter: time.Hour,
		PW:  config.DeletableTerms{Terms: plain(10), EnableDeletablePushes: true},
		URL: plain(20),
		QR:  config.DeletableTerms{Terms: plain(30), DeletablePushesDefault: true},
		Files: config.FileTerms{
			DeletableTerms: config.DeletableTerms{Terms: plain(50), EnableDeletablePushes: true, DeletablePushesDefault: true},
		},
		Limits: config.Limits{
			PassphrasesPerClient: 41, PassphrasesPerPush: 42, PassphrasesPerLife: 51, PassphraseQueue: 43, Clients: 44,
			SignInsPerClient: 45, SignInsPerAccount: 46, MinFreeSpace: 49,
			AnonymousPushes: 51, AnonymousBytes: 52, AnonymousShare: 53, AccountPushes: 54, AccountBytes: 55,
		},
		Sessions: config.Sessions{IdleTimeout: 47, MaxAge: 48},
		Brand:    config.Brand{Title: "Our box"}, MaxStoreSize: 50,
	}
	text, url, qr, file := want(10), want(20), want(30), want(50)
	text.Deletable, qr.Deletable = store.Choice{Enabled: true}, store.Choice{Default: true}
	file.Deletable = store.Choice{Enabled: true, Default: true}
	wanted := store.Options{
		Terms:      map[record.Kind]store.Terms{record.Text: text, record.URL: url, record.QR: qr, record.File: file},
		Policies:   []store.Policy{},
		PurgeAfter: time.Hour,
		Guessing:   store.Guessing{PerClient: 41, PerPush: 42, PerLife: 51, Queue: 43},
		SignIns:    store.SignInLimits{PerClient: 45, PerAccount: 46},
		Sessions:   store.SessionLimits{Idle: 47, MaxAge: 48},
		Space: record.SpaceLimits{MaxSize: 50, MinFree: 49, Room: record.RoomLimits{
			Client: record.Room{Pushes: 51, Bytes: 52}, Anonymous: 53, Account: record.Room{Pushes: 54, Bytes: 55},
		}},
		Issuer: "Our box",
	}
	if got := StoreOptions(cfg); !reflect.DeepEqual(got, wanted) {
		t.Errorf("got\n%+v\nwant\n%+v", got, wanted)
	}
}

func TestAKindCanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	for off, set := range map[record.Kind]func(*config.Config){
		record.URL:  func(c *config.Config) { c.EnableURLPushes = false },
		record.QR:   func(c *config.Config) { c.EnableQRPushes = false },
		record.File: func(c *config.Config) { c.EnableFilePushes = false },
	} {
		cfg := config.Default()
		set(&cfg)
		terms := StoreOptions(cfg).Terms
		for _, kind := range []record.Kind{record.Text, record.URL, record.QR, record.File} {
			if terms[kind].Enabled != (kind != off) {
				t.Errorf("with %v off: %v is enabled: %v", off, kind, kind == off)
			}
		}
	}
}

// The configuration has a list of the events of its own, since it does not know the store.
func TestTheConfigurationAndTheStoreKnowTheSameEvents(t *testing.T) {
	t.Parallel()
	var names []string
	for _, e := range record.Events() {
		names = append(names, e.String())
	}
	if all := config.Default().Webhooks.Events; !slices.Equal(names, all) {
		t.Errorf("the store has %q, the configuration %q", names, all)
	}
}

// settingsFor are the defaults, on a directory.
func settingsFor(dir string) config.Config {
	cfg := config.Default()
	cfg.DataDir = dir
	return cfg
}

// opened opens a store, which the test closes.
func opened(t *testing.T, cfg config.Config) *store.Store {
	t.Helper()
	s, _, err := Open(t.Context(), Options{Config: cfg, Create: true, Wait: env.Patience, Note: func(string) {}})
	env.OK(t, err)
	return s
}

func closed(t *testing.T, s *store.Store) {
	t.Helper()
	env.OK(t, Close(t.Context(), s))
}

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
	_, err := ReadKey(cfg)
	env.ErrorIs(t, "without a database", err, ErrNoDatabase)
	touch(t, Database(cfg))
	_, err = ReadKey(cfg)
	env.ErrorIs(t, "with a database", err, record.ErrKey)
	_, err = os.Stat(cfg.KeyFile())
	env.ErrorIs(t, "a key file", err, os.ErrNotExist)
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
	now := env.Must(seal.LoadKeyFile(cfg.KeyFile()))(t)
	o := Options{Config: cfg, Note: func(say string) { t.Errorf("it said %q", say) }}
	if got := o.finishRotation(t.Context(), engine, seal.NewRootKey()); !got.Equal(now) {
		t.Error("the key from before is used")
	}
}

func TestTheAddressOfTheDatabaseComesFromItsSettingOrItsFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		env.OK(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	for name, c := range map[string]struct {
		cfg  config.Config
		want string
		says string // empty: no error
	}{
		"none":          {},
		"a setting":     {cfg: config.Config{DatabaseURL: secret.New("postgres:///a")}, want: "postgres:///a"},
		"a file":        {cfg: config.Config{DatabaseURLFile: file("url", "postgres:///b\n")}, want: "postgres:///b"},
		"an empty file": {cfg: config.Config{DatabaseURLFile: file("empty", "\n")}, says: "is empty"},
		"no file":       {cfg: config.Config{DatabaseURLFile: filepath.Join(dir, "none")}, says: "database_url_file: "},
	} {
		got, err := DatabaseURL(c.cfg)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && !got.IsZero() && got.Reveal() != c.want || got.IsZero() != (c.want == "") {
			t.Errorf("%s: %q, not %q", name, got.Reveal(), c.want)
		}
	}
}

// A start that begins again, as others start too, says nothing twice.
func TestWhatWasJustSaidIsNotSaidAgain(t *testing.T) {
	t.Parallel()
	var said []string
	note := onlyNews(func(say string) { said = append(said, say) })
	for _, say := range []string{"a", "b", "b", "a"} {
		note(say)
	}
	if want := []string{"a", "b", "a"}; !slices.Equal(said, want) {
		t.Errorf("it says %q, not %q", said, want)
	}
}
