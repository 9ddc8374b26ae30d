package config

import (
	"net/mail"
	"net/netip"
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
	TLS string `mapstructure:"tls" oneof:"starttls implicit none cleartext" default:"starttls"`

	// File with certificates (PEM) of the authorities that may sign the mail server's
	// certificate. Empty: those that the system trusts.
	CAFile string `mapstructure:"ca_file"`

	// Mails that one account may send per day (UTC). Each recipient is one mail.
	DailyLimit int `mapstructure:"daily_limit" min:"1" max:"1000000" default:"100"`

	// Mails that all accounts together may send per day (UTC).
	DailyLimitTotal int `mapstructure:"daily_limit_total" min:"1" max:"1000000" default:"1000"`

	// Mails that one address may get per day (UTC), from all accounts together. 0: no limit.
	RecipientPerDay int `mapstructure:"recipient_per_day" min:"1" max:"1000000" off:"0" default:"20"`

	// The most recipients per request.
	MaxRecipients int `mapstructure:"max_recipients" min:"1" max:"100" default:"5"`

	// How long delivery of a mail is retried.
	GiveUp time.Duration `mapstructure:"give_up" min:"1m" max:"30d" default:"1d"`
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

// Webhooks says where events of pushes are sent, and where messages may go.
type Webhooks struct {
	// Address that receives the events of all pushes, without their names and links.
	// Accounts have webhooks of their own (pushbox webhook add). Empty: none.
	URL secret.Text `mapstructure:"url"`

	// File with the secret that signs messages to webhooks.url: whsec_ and 24 to 64
	// random bytes in base64.
	SecretFile string `mapstructure:"secret_file"`

	// The secret itself, for platforms that pass secrets in the environment. A file is
	// safer. Do not set this together with webhooks.secret_file.
	Secret secret.Text `mapstructure:"secret"`

	// Events that webhooks.url receives: view, last_view, expire, failed_passphrase, freeze,
	// request.answered.
	Events []string `mapstructure:"events" form:"events"`

	// Where messages may be sent: public, any host with a public address, over https;
	// host names, such as hooks.example.com or *.example.com, also over http and with
	// addresses of private networks; addresses and networks, such as 10.1.0.0/16, for
	// hosts that resolve to them.
	Allow []HookHost `mapstructure:"allow" default:"public"`

	// How many messages may wait for delivery. Further ones are dropped, with a line in
	// the log; no view waits for a message.
	Queue int `mapstructure:"queue" min:"100" max:"1000000" default:"100000"`

	// How long delivery of a message is retried.
	GiveUp time.Duration `mapstructure:"give_up" min:"1m" max:"30d" default:"1d"`
}

// hookEvents are all events.
var hookEvents = []string{"view", "last_view", "expire", "failed_passphrase", "freeze", "request.answered"}

// publicHosts means all hosts with public addresses.
const publicHosts = "public"

// A HookHost is where messages may go: the name of a host, *. and a name for all below
// it, public, or a network.
type HookHost struct {
	Name    string // empty: a network
	Network netip.Prefix
}

// IsPublic reports whether h means all hosts with public addresses.
func (h HookHost) IsPublic() bool { return h.Name == publicHosts }

// String returns h as the setting has it.
func (h HookHost) String() string {
	if h.Name != "" {
		return h.Name
	}
	return h.Network.String()
}
