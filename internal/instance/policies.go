package instance

import (
	"cmp"

	"pushbox/config"
	"pushbox/store"
	"pushbox/store/record"
)

// policies returns the policies that accounts can have.
func policies(cfg config.Config) []store.Policy {
	all := make([]store.Policy, len(cfg.Policies))
	for i, p := range cfg.Policies {
		all[i] = policy(cfg, p)
	}
	return all
}

// policy returns a policy within what holds for all; without a name, that itself.
func policy(cfg config.Config, named config.NamedPolicy) store.Policy {
	p := named.Over(cfg.Policy)
	return store.Policy{
		Name: named.Name, Groups: named.Groups,
		Terms: map[record.Kind]store.Terms{
			record.Text: narrowed(deletableTerms(cfg.PW, true), record.Text, p),
			record.URL:  narrowed(terms(cfg.URL, cfg.EnableURLPushes), record.URL, p),
			record.File: narrowed(deletableTerms(cfg.Files.DeletableTerms, cfg.EnableFilePushes), record.File, p),
			record.QR:   narrowed(deletableTerms(cfg.QR, cfg.EnableQRPushes), record.QR, p),
		},
		Files: store.FileLimits{
			MaxCount: cmp.Or(p.MaxFileUploads, cfg.Files.MaxFileUploads),
			MaxSize:  int64(cmp.Or(p.MaxFileSize, cfg.Files.MaxFileSize)),
			Window:   cfg.Files.DownloadWindow,
		},
		Room: record.Room{
			Pushes: cmp.Or(p.AccountPushes, cfg.Limits.AccountPushes),
			Bytes:  int64(cmp.Or(p.AccountBytes, cfg.Limits.AccountBytes)),
		},
		Rules: store.Rules{
			Passphrase: p.RequirePassphrase == config.On,
			Encryption: p.RequireEncryption == config.On,
			NoMail:     p.EnableMail == config.Off,
		},
	}
}

// narrowed returns the terms of a kind within a policy.
func narrowed(t store.Terms, k record.Kind, p config.Policy) store.Terms {
	t.Enabled = t.Enabled && p.Allows(k.String())
	t.Days = within(t.Days, p.ExpireAfterDaysDefault, p.ExpireAfterDaysMax)
	t.Views = within(t.Views, p.ExpireAfterViewsDefault, p.ExpireAfterViewsMax)
	return t
}

// within returns the range with another default and no more than most; 0: as they are.
func within(r store.Range, initial, most int) store.Range {
	if most != 0 {
		r.Max = min(r.Max, most)
	}
	if initial != 0 {
		r.Default = max(initial, r.Min)
	}
	r.Default = min(r.Default, r.Max)
	return r
}
