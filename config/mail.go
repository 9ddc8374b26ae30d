package config

import (
	"net/mail"
	"net/netip"
	"strings"
	"time"

	"pushbox/internal/clientip"
	"pushbox/internal/secret"
)

// Words of mail.tls.
const (
	MailStartTLS  = "starttls"
	MailImplicit  = "implicit"
	MailNoTLS     = "none"
	MailCleartext = "cleartext"
)

// Mail says how mail is sent, and how much.
type Mail struct {
	// SMTP server to which pushbox gives all mail; it needs base_url. Empty: no mail is sent.
	Host string `mapstructure:"host"`

	// Its port. 0: 587; 465 with tls implicit; 25 with tls none.
	Port int `mapstructure:"port" min:"1" max:"65535" off:"0"`

	// User name to sign in with. Empty: no sign-in.
	User string `mapstructure:"user"`

	// File with the password of mail.user.
	PasswordFile string `mapstructure:"password_file"`

	// The password itself, for platforms that pass secrets in the environment. A file is
	// safer. Do not set this together with mail.password_file.
	Password secret.Text `mapstructure:"password"`

	// Sender of the mail, such as pushbox@example.com or
	// "Example Inc. <pushbox@example.com>". The default name is brand.title.
	From string `mapstructure:"from"`

	// Encryption of the connection: starttls, which the server must offer; implicit, TLS
	// from the first byte; none, only for a server on this machine; cleartext, no
	// encryption to another machine, so that everyone in between can read the links and
	// the password.
	TLS string `mapstructure:"tls" oneof:"starttls implicit none cleartext"`

	// File with certificates (PEM) of the authorities that may sign the mail server's
	// certificate. Empty: those that the system trusts.
	CAFile string `mapstructure:"ca_file"`

	// Mails that one account may send per day (UTC). Each recipient is one mail.
	DailyLimit int `mapstructure:"daily_limit" min:"1" max:"1000000"`

	// Mails that all accounts together may send per day (UTC).
	DailyLimitTotal int `mapstructure:"daily_limit_total" min:"1" max:"1000000"`

	// Mails that one address may get per day (UTC), from all accounts together. 0: no limit.
	RecipientPerDay int `mapstructure:"recipient_per_day" min:"1" max:"1000000" off:"0"`

	// The most recipients per request.
	MaxRecipients int `mapstructure:"max_recipients" min:"1" max:"100"`

	// How long delivery of a mail is retried.
	GiveUp time.Duration `mapstructure:"give_up" min:"1m" max:"30d"`
}

func defaultMail() Mail {
	return Mail{TLS: MailStartTLS, DailyLimit: 100, DailyLimitTotal: 1000, RecipientPerDay: 20, MaxRecipients: 5, GiveUp: day}
}

// Enabled reports whether mail is sent.
func (m Mail) Enabled() bool { return m.Host != "" }

// PortInUse returns the port of the mail server: Port, or the usual one if that is 0.
func (m Mail) PortInUse() int {
	switch {
	case m.Port != 0:
		return m.Port
	case m.TLS == MailImplicit:
		return 465
	case m.TLS == MailNoTLS || m.TLS == MailCleartext:
		return 25
	default:
		return 587
	}
}

// Sender returns the address and the name in From; the name may be empty. It returns
// false if From is not an address.
func (m Mail) Sender() (mail.Address, bool) {
	a, err := mail.ParseAddress(m.From)
	if err != nil || strings.ContainsFunc(a.Address, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' }) {
		return mail.Address{}, false
	}
	return *a, true
}

// checkMail notes problems of the mail settings, if mail is sent. The links in it must not
// come from a request: a sender could give them any host.
func (l *loader) checkMail(m Mail, baseURL string) {
	if !m.Enabled() {
		return
	}
	note := func(wrong bool, key, text string, others ...string) {
		if wrong {
			l.relation(key, text, others...)
		}
	}
	note(baseURL == "", "mail.host", "needs the address with which the links in mail begin: set", "base_url")
	_, from := m.Sender()
	odd := strings.ContainsAny(m.Host, " /@[]") || strings.Contains(m.Host, ":") && !isIP(m.Host)
	note(odd, "mail.host", "must be a host name or an address, without a port, which is", "mail.port")
	note(m.From == "", "mail.from", "must be set together with", "mail.host")
	note(m.From != "" && !from, "mail.from", "must be an address such as pushbox@example.com, for", "mail.host")
	note(m.User != "" && m.PasswordFile == "" && m.Password.IsZero(), "mail.password_file", "must be set together with", "mail.user")
	note(m.User == "" && m.PasswordFile != "", "mail.user", "must be set together with", "mail.password_file")
	note(m.User == "" && !m.Password.IsZero(), "mail.user", "must be set together with", "mail.password")
	note(m.TLS == MailNoTLS && !clientip.IsLoopback(m.Host), "mail.tls", "is none, which is for this machine alone; to send links in clear text to another one, say cleartext:", "mail.host")
	note(m.DailyLimit > m.DailyLimitTotal, "mail.daily_limit", "must not be greater than", "mail.daily_limit_total")
	note(m.MaxRecipients > m.DailyLimit, "mail.max_recipients", "must not be greater than", "mail.daily_limit")
}

func isIP(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}
