package config

import (
	"net/mail"
	"strings"
	"time"

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
	Host            string        `mapstructure:"host"`
	Port            int           `mapstructure:"port" min:"1" max:"65535" off:"0"`
	User            string        `mapstructure:"user"`
	PasswordFile    string        `mapstructure:"password_file"`
	Password        secret.Text   `mapstructure:"password"`
	From            string        `mapstructure:"from"`
	TLS             string        `mapstructure:"tls" oneof:"starttls implicit none cleartext" default:"starttls"`
	CAFile          string        `mapstructure:"ca_file"`
	DailyLimit      int           `mapstructure:"daily_limit" min:"1" max:"1000000" default:"100"`
	DailyLimitTotal int           `mapstructure:"daily_limit_total" min:"1" max:"1000000" default:"1000"`
	RecipientPerDay int           `mapstructure:"recipient_per_day" min:"1" max:"1000000" off:"0" default:"20"`
	MaxRecipients   int           `mapstructure:"max_recipients" min:"1" max:"100" default:"5"`
	GiveUp          time.Duration `mapstructure:"give_up" min:"1m" max:"30d" default:"1d"`
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
