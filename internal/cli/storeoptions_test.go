package cli

import (
	"reflect"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/store"
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
		EnableURLPushes: true, EnableQRPushes: true, PurgeAfter: time.Hour,
		PW:  config.DeletableTerms{Terms: plain(10), EnableDeletablePushes: true},
		URL: plain(20),
		QR:  config.DeletableTerms{Terms: plain(30), DeletablePushesDefault: true},
		Limits: config.Limits{
			PassphrasesPerClient: 41, PassphrasesPerPush: 42, PassphraseQueue: 43, Clients: 44,
		},
	}
	text, url, qr := want(10), want(20), want(30)
	text.Deletable, qr.Deletable = store.Choice{Enabled: true}, store.Choice{Default: true}
	wanted := store.Options{
		Terms:      map[store.Kind]store.Terms{store.Text: text, store.URL: url, store.QR: qr},
		PurgeAfter: time.Hour,
		Guessing:   store.Guessing{PerClient: 41, PerPush: 42, Queue: 43, Clients: 44},
	}
	if got := storeOptions(cfg); !reflect.DeepEqual(got, wanted) {
		t.Errorf("got\n%+v\nwant\n%+v", got, wanted)
	}
}

func TestAKindCanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	cfg := config.Default()
	cfg.EnableURLPushes, cfg.EnableQRPushes = false, true
	terms := storeOptions(cfg).Terms
	for kind, want := range map[store.Kind]bool{store.Text: true, store.URL: false, store.QR: true, store.File: false} {
		if terms[kind].Enabled != want {
			t.Errorf("%v: enabled is %v", kind, !want)
		}
	}
}
