package instance

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"pushbox/config"
	"pushbox/internal/certs"
	"pushbox/internal/durable"
	"pushbox/internal/hint"
	"pushbox/internal/lang"
	"pushbox/internal/openid"
	"pushbox/internal/secret"
	"pushbox/store"
	"pushbox/store/record"
)

// StoreOptions returns the options of the store in a configuration.
func StoreOptions(cfg config.Config) store.Options {
	all := policy(cfg, config.NamedPolicy{})
	named := make([]store.Policy, len(cfg.Policies))
	for i, p := range cfg.Policies {
		named[i] = policy(cfg, p)
	}
	return store.Options{
		Terms:      all.Terms,
		Files:      all.Files,
		Rules:      all.Rules,
		Policies:   named,
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

func mailOptions(m config.Mail) store.MailOptions {
	o := store.MailOptions{
		MaxRecipients: m.MaxRecipients, PerAccount: m.DailyLimit, PerInstance: m.DailyLimitTotal, PerAddressee: m.RecipientPerDay, GiveUp: m.GiveUp,
	}
	if m.Enabled() {
		o.Languages = lang.Tags()
	}
	return o
}

const maxSecretFile = 1 << 10

// ReadSecretFile reads a file that has a secret and nothing else but white space around it.
func ReadSecretFile(name string) (secret.Text, error) {
	b, err := durable.ReadBounded(name, maxSecretFile)
	if errors.Is(err, fs.ErrPermission) {
		err = hint.With(err, "let the server's user read it: chown root:pushbox %[1]s && chmod 640 %[1]s", name)
	}
	return secret.New(strings.TrimSpace(string(b))), err
}

// Secret returns the secret that a setting gives, or that in the file that another setting names.
func Secret(given secret.Text, file, setting string) (secret.Text, error) {
	if file == "" {
		return given, nil
	}
	s, err := ReadSecretFile(file)
	if err != nil {
		return secret.Text{}, fmt.Errorf("%s: %w", setting, err)
	}
	return s, nil
}

// Providers makes the providers of sign_in.oidc, in their order. It reads the files that the
// settings name, and asks no provider for anything. groups lists others than those of the
// settings that people may be in.
func Providers(cfg config.Config, now func() time.Time, groups func() []string) ([]*openid.Provider, error) {
	all := make([]*openid.Provider, len(cfg.SignIn.OIDC))
	for i, c := range cfg.SignIn.OIDC {
		p, err := newProvider(c, now, groups)
		if err != nil {
			return nil, fmt.Errorf("sign_in.oidc, %s: %w", c.Name, err)
		}
		all[i] = p
	}
	return all, nil
}

func newProvider(c config.OIDC, now func() time.Time, groups func() []string) (*openid.Provider, error) {
	needs := func() bool { return len(c.AllowedGroups)+len(c.AdminGroups) > 0 || groups != nil && len(groups()) > 0 }
	secret, err := Secret(c.ClientSecret, c.ClientSecretFile, "client_secret_file")
	if err != nil {
		return nil, err
	}
	roots, err := certs.Roots(c.CAFile, "ca_file")
	return openid.New(openid.Options{
		Issuer: c.Issuer, ClientID: c.ClientID, Secret: secret, Scopes: c.Scopes, Now: now, Groups: c.GroupsClaim, NeedsGroups: needs, Roots: roots,
	}), err
}

// policy returns a policy within the general settings; without a name, the general settings.
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

			TypedReveal: p.Reveal == store.RevealType,
		},
	}
}

func narrowed(t store.Terms, k record.Kind, p config.Policy) store.Terms {
	t.Enabled = t.Enabled && p.Allows(k.String())
	t.Days = within(t.Days, p.ExpireAfterDaysDefault, p.ExpireAfterDaysMax)
	t.Views = within(t.Views, p.ExpireAfterViewsDefault, p.ExpireAfterViewsMax)
	return t
}

// within returns the range with another default and maximum; 0: unchanged.
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
