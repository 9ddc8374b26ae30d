package instance

import (
	"pushbox/config"
	"pushbox/internal/lang"
	"pushbox/store"
)

// StoreOptions returns the options of the store in a configuration.
func StoreOptions(cfg config.Config) store.Options {
	return store.Options{
		Terms: map[store.Kind]store.Terms{
			store.Text: deletableTerms(cfg.PW, true),
			store.URL:  terms(cfg.URL, cfg.EnableURLPushes),
			store.File: deletableTerms(cfg.Files.DeletableTerms, cfg.EnableFilePushes),
			store.QR:   deletableTerms(cfg.QR, cfg.EnableQRPushes),
		},
		PurgeAfter: cfg.PurgeAfter,
		Files: store.FileLimits{
			MaxCount: cfg.Files.MaxFileUploads,
			MaxSize:  int64(cfg.Files.MaxFileSize),
			Window:   cfg.Files.DownloadWindow,
		},
		Guessing: store.Guessing{
			PerClient: cfg.Limits.PassphrasesPerClient,
			PerPush:   cfg.Limits.PassphrasesPerPush,
			PerLife:   cfg.Limits.PassphrasesPerLife,
			Queue:     cfg.Limits.PassphraseQueue,
		},
		Sessions: store.SessionLimits{Idle: cfg.Sessions.IdleTimeout, MaxAge: cfg.Sessions.MaxAge},
		SignIns: store.SignInLimits{
			PerClient:  cfg.Limits.SignInsPerClient,
			PerAccount: cfg.Limits.SignInsPerAccount,
		},
		Space:  store.SpaceLimits{MaxSize: int64(cfg.MaxStoreSize), MinFree: int64(cfg.Limits.MinFreeSpace), Room: roomLimits(cfg.Limits)},
		Hooks:  hookOptions(cfg.Webhooks),
		Mail:   mailOptions(cfg.Mail),
		Issuer: cfg.Brand.Title,
		Shared: HasDatabaseURL(cfg),
	}
}

// roomLimits returns what senders may have live at once.
func roomLimits(l config.Limits) store.RoomLimits {
	return store.RoomLimits{
		Client:    store.Room{Pushes: l.AnonymousPushes, Bytes: int64(l.AnonymousBytes)},
		Account:   store.Room{Pushes: l.AccountPushes, Bytes: int64(l.AccountBytes)},
		Anonymous: l.AnonymousShare,
	}
}

func terms(t config.Terms, enabled bool) store.Terms {
	return store.Terms{
		Enabled:       enabled,
		Days:          store.Range{Default: t.ExpireAfterDaysDefault, Min: t.ExpireAfterDaysMin, Max: t.ExpireAfterDaysMax},
		Views:         store.Range{Default: t.ExpireAfterViewsDefault, Min: t.ExpireAfterViewsMin, Max: t.ExpireAfterViewsMax},
		RetrievalStep: store.Choice{Enabled: t.EnableRetrievalStep, Default: t.RetrievalStepDefault},
	}
}

func deletableTerms(t config.DeletableTerms, enabled bool) store.Terms {
	out := terms(t.Terms, enabled)
	out.Deletable = store.Choice{Enabled: t.EnableDeletablePushes, Default: t.DeletablePushesDefault}
	return out
}

// hookOptions returns the options of webhooks in a configuration.
func hookOptions(w config.Webhooks) store.HookOptions {
	o := store.HookOptions{Queue: w.Queue, GiveUp: w.GiveUp}
	if w.URL.IsZero() {
		return o
	}
	for _, name := range w.Events {
		if e, ok := store.ParseEvent(name); ok {
			o.Instance |= store.NewEventSet(e)
		}
	}
	return o
}

// mailOptions returns the options of mail in a configuration.
func mailOptions(m config.Mail) store.MailOptions {
	o := store.MailOptions{
		MaxRecipients: m.MaxRecipients, PerAccount: m.DailyLimit, PerInstance: m.DailyLimitTotal, PerAddressee: m.RecipientPerDay, GiveUp: m.GiveUp,
	}
	if m.Enabled() {
		o.Languages = lang.Tags()
	}
	return o
}
