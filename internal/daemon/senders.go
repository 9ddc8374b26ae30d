package daemon

import (
	"context"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"pushbox/config"
	"pushbox/internal/certs"
	"pushbox/internal/hint"
	"pushbox/internal/instance"
	"pushbox/internal/mail"
	"pushbox/internal/secret"
	"pushbox/internal/webhook"
	"pushbox/server/pages"
	"pushbox/store"
	"pushbox/store/record"
)

// NewWebhookSender returns a sender of messages that the configuration allows.
func NewWebhookSender(cfg config.Config) *webhook.Sender {
	return webhook.NewSender(hookPolicy(cfg.Webhooks), webhook.Words{Brand: cfg.Brand.Title, Language: cfg.DefaultLocale}, nil)
}

// CheckWebhook refuses a URL that the configuration does not allow.
func CheckWebhook(w config.Webhooks, url secret.Text) error {
	if _, err := hookPolicy(w).Check(url.Reveal()); err != nil {
		return hint.With(err, "the setting webhooks.allow says where messages may go: public, names of hosts, addresses and networks")
	}
	return nil
}

func hookPolicy(w config.Webhooks) (p webhook.Policy) {
	for _, h := range w.Allow {
		switch {
		case h.IsPublic():
			p.Public = true
		case h.Name != "":
			p.Hosts = append(p.Hosts, h.Name)
		default:
			p.Networks = append(p.Networks, h.Network)
		}
	}
	return p
}

func newDispatcher(cfg config.Config, s *store.Store, log zerolog.Logger) (*webhook.Dispatcher, error) {
	o := webhook.Options{Store: s, Sender: NewWebhookSender(cfg), Log: log}
	if !cfg.Webhooks.URL.IsZero() {
		target, err := instanceHook(cfg.Webhooks)
		if err != nil {
			return nil, err
		}
		o.Instance = &target
	}
	return webhook.New(o), nil
}

func instanceHook(w config.Webhooks) (t store.HookTarget, err error) {
	if err := CheckWebhook(w, w.URL); err != nil {
		return t, fmt.Errorf("the setting webhooks.url: %w", err)
	}
	setting, file := "the setting webhooks.secret", "FILE"
	if w.Secret.IsZero() {
		setting, file = "the setting webhooks.secret_file", w.SecretFile
	}
	t.URL = w.URL
	t.Form, _ = record.ParseHookForm(w.Form)
	if t.Secret, err = instance.Secret(w.Secret, w.SecretFile, setting); err == nil {
		if err = webhook.CheckSecret(t.Secret); err != nil {
			err = fmt.Errorf("%s: %w", setting, err)
		}
	}
	return t, makeHookSecret(err, file)
}

// makeHookSecret adds to an error how to make a secret in a file, unless it has a hint.
func makeHookSecret(err error, file string) error {
	if err == nil || hint.Of(err) != "" {
		return err
	}
	return hint.With(err, `make one: (umask 077; printf 'whsec_%%s\n' "$(openssl rand -base64 32)" > %s)`, file)
}

// CheckInstanceHook returns an error if webhooks.url is not allowed, or its secret cannot be
// used. It sends nothing.
func CheckInstanceHook(w config.Webhooks) error {
	_, err := instanceHook(w)
	return err
}

// accountWebhooks is how pages check the webhooks of accounts, and test them.
func accountWebhooks(cfg config.Config) pages.Webhooks {
	return pages.Webhooks{
		Check: func(address secret.Text) error { return CheckWebhook(cfg.Webhooks, address) },
		Send: func(ctx context.Context, to store.HookTarget) (int, record.Fault) {
			sender := NewWebhookSender(cfg)
			defer sender.Close()
			status, err := sender.Send(ctx, to, webhook.TestNotice(time.Now()))
			return status, webhook.FaultOf(err)
		},
	}
}

func newMailer(cfg config.Config, s *store.Store, log zerolog.Logger) (*mail.Mailer, error) {
	o := mail.Options{Store: s, Brand: cfg.Brand.Title, Base: cfg.BaseURL, Language: cfg.DefaultLocale, Log: log}
	if cfg.Mail.Enabled() {
		server, err := MailServer(cfg)
		if err != nil {
			return nil, err
		}
		o.Server = &server
	}
	return mail.New(o), nil
}

// MailServer returns the mail server of the configuration. It reads the files that the
// settings of mail name.
func MailServer(cfg config.Config) (s mail.Server, err error) {
	m := cfg.Mail
	s = mail.Server{Host: m.Host, Port: m.PortInUse(), User: m.User}
	switch m.TLS {
	case config.MailImplicit:
		s.Encryption = mail.Implicit
	case config.MailNoTLS, config.MailCleartext:
		s.Encryption = mail.None
	}
	if s.From, _ = m.Sender(); s.From.Name == "" {
		s.From.Name = cfg.Brand.Title
	}
	if s.Password, err = instance.Secret(m.Password, m.PasswordFile, "the setting mail.password_file"); err != nil {
		return s, err
	}
	s.Roots, err = certs.Roots(m.CAFile, "the setting mail.ca_file")
	return s, err
}
