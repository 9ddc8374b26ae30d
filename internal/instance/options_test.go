package instance

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/store"
	"pushbox/store/record"
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
