package cli

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"pushbox/config"
	"pushbox/internal/lang"
	"pushbox/internal/mail"
	"pushbox/store"
)

// mailOptions are what the configuration says about mail.
func mailOptions(m config.Mail) store.MailOptions {
	o := store.MailOptions{
		MaxRecipients: m.MaxRecipients, PerAccount: m.DailyLimit, PerInstance: m.DailyLimitTotal, GiveUp: m.GiveUp,
	}
	if m.Enabled() {
		o.Languages = lang.Tags()
	}
	return o
}

// newMailer makes what sends the links of pushes by mail.
func newMailer(cfg config.Config, s *store.Store, log zerolog.Logger) (*mail.Mailer, error) {
	o := mail.Options{Store: s, Brand: cfg.Brand.Title, Language: cfg.DefaultLocale, Log: log}
	if cfg.Mail.Enabled() {
		server, err := mailServer(cfg)
		if err != nil {
			return nil, err
		}
		o.Server = &server
	}
	return mail.New(o), nil
}

// sendMail sends the links of pushes by mail until ctx ends.
func (d *daemon) sendMail(ctx context.Context) error {
	if d.mail == nil {
		return nil
	}
	return d.mail.Run(ctx)
}

// mailServer is the server that takes mail, as the configuration has it.
func mailServer(cfg config.Config) (s mail.Server, err error) {
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
	if m.PasswordFile != "" {
		if s.Password, err = readSecretFile(m.PasswordFile); err != nil {
			return s, fmt.Errorf("the setting mail.password_file: %w", err)
		}
	}
	if m.CAFile != "" {
		if s.Roots, err = readRoots(m.CAFile); err != nil {
			return s, fmt.Errorf("the setting mail.ca_file: %w", err)
		}
	}
	return s, nil
}

// readRoots reads certificates of authorities.
func readRoots(name string) (*x509.CertPool, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(b) {
		return nil, fmt.Errorf("there is no certificate (PEM) in %s", name)
	}
	return pool, nil
}

func (a *app) mail() *cobra.Command {
	return group("mail", "Try out whether mail can be sent", a.mailTest())
}

func (a *app) mailTest() *cobra.Command {
	return &cobra.Command{
		Use:   "test ADDRESS",
		Short: "Send a test mail, and say what went wrong",
		Long: `Send a mail that says no more than that mail arrives, and say what went wrong if
the server does not take it. The mail is sent by this command, once, under the
settings that it reads; it does not go through the server's queue and counts
against no limit. Whether the mail arrives is to be seen where it should.`,
		Example: `  pushbox mail test ann@example.com
  pushbox mail test ann@example.com --config /etc/pushbox/config.yaml`,
		Args: arguments("ADDRESS"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.testMail(cmd, args[0]) },
	}
}

func (a *app) testMail(cmd *cobra.Command, to string) error {
	loaded, err := a.settings(cmd)
	if err != nil {
		return err
	}
	cfg := loaded.Config
	if !cfg.Mail.Enabled() {
		return withHint(errors.New("no mail is sent: the setting mail.host is empty"), "set mail.host and mail.from; docs/mail.md has recipes")
	}
	if !store.IsMailAddress(to) {
		return usagef("ADDRESS is not an e-mail address such as ann@example.com")
	}
	server, err := mailServer(cfg)
	if err != nil {
		return err
	}
	begun := time.Now()
	if err := server.Test(cmd.Context(), to, cfg.Brand.Title); err != nil {
		return a.explainMail(err)
	}
	a.say(fmt.Sprintf("%s took the mail after %d ms", cfg.Mail.Host, time.Since(begun).Milliseconds()))
	return nil
}

// explainMail adds to a failure what the other side said, and what to look at.
func (a *app) explainMail(err error) error {
	var f *mail.Failure
	if !errors.As(err, &f) {
		return err
	}
	if detail := f.Detail(); detail != "" {
		a.say("what was said: " + detail)
	}
	return withHint(fmt.Errorf("nothing was sent: %w", err), "docs/mail.md says what each of these means")
}

// checkMail returns what finds out whether mail could be sent.
func checkMail(cfg config.Config) func(context.Context) error {
	return func(ctx context.Context) error {
		server, err := mailServer(cfg)
		if err != nil {
			return err
		}
		return server.Check(ctx)
	}
}
