package instance

import (
	"pushbox/config"
	"pushbox/internal/lang"
	"pushbox/store"
	"pushbox/store/record"
)

// StoreOptions returns the options of the store in a configuration.
func StoreOptions(cfg config.Config) store.Options {
	all := policy(cfg, config.NamedPolicy{})
	return store.Options{
		Terms:      all.Terms,
		Files:      all.Files,
		Rules:      all.Rules,
		Policies:   policies(cfg),
		PurgeAfter: cfg.PurgeAfter,
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
		Space:  record.SpaceLimits{MaxSize: int64(cfg.MaxStoreSize), MinFree: int64(cfg.Limits.MinFreeSpace), Room: roomLimits(cfg)},
		Hooks:  hookOptions(cfg.Webhooks),
		Mail:   mailOptions(cfg.Mail),
		Issuer: cfg.Brand.Title,
		Shared: HasDatabaseURL(cfg),
	}
}

// roomLimits returns what senders may have live at once.
func roomLimits(cfg config.Config) record.RoomLimits {
	l := cfg.Limits
	return record.RoomLimits{
		Client:    record.Room{Pushes: l.AnonymousPushes, Bytes: int64(l.AnonymousBytes)},
		Account:   policy(cfg, config.NamedPolicy{}).Room,
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
			o.Instance |= record.NewEventSet(e)
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
