package daemon

import (
	"github.com/rs/zerolog"

	"pushbox/config"
	"pushbox/internal/certs"
	"pushbox/internal/instance"
	"pushbox/internal/mail"
	"pushbox/store"
)

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
