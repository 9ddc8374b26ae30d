package settings

import (
	"errors"
	"strconv"

	"pushbox/internal/clientip"
)

const (
	mailHost     = "PWP__MAIL__SMTP_ADDRESS"
	mailPort     = "PWP__MAIL__SMTP_PORT"
	mailUser     = "PWP__MAIL__SMTP_USER_NAME"
	mailPassword = "PWP__MAIL__SMTP_PASSWORD"
	mailSender   = "PWP__MAIL__MAILER_SENDER"
	mailMust     = "PWP__MAIL__SMTP_STARTTLS"
	mailMay      = "PWP__MAIL__SMTP_ENABLE_STARTTLS_AUTO"
	mailVerify   = "PWP__MAIL__SMTP_OPENSSL_VERIFY_MODE"
	mailNotify   = "PWP__NOTIFY_BY_EMAIL__ENABLED"
	mailLimit    = "PWP__NOTIFY_BY_EMAIL__DAILY_LIMIT"
)

// passwordFile is where docs/mail.md has the password of the mail server.
const passwordFile = "/etc/pushbox/mail.password"

func mailRules() []rule {
	return []rule{
		{from: []string{mailHost, mailNotify}, key: "mail.host", to: host},
		{
			from: []string{mailNotify, mailHost}, when: func(g given) bool { return g.has(mailHost) && !sendsLinks(g) },
			says: "pushbox sends links by mail if it has a mail server, unlike Password Pusher: none is set, so it sends no mail about accounts either",
		},
		{from: []string{mailPort}, key: "mail.port"},
		{from: []string{mailUser}, key: "mail.user", to: user},
		{
			from: []string{mailPassword}, key: "mail.password_file", to: password,
			says: "Put only the password into this file, and let only pushbox read it. It is not copied here.",
		},
		{from: []string{mailPassword}, decide: true, when: func(g given) bool { return g.has(mailUser) && sendsLinks(g) }, says: "put the password into " + passwordFile + " (docs/mail.md), or no mail is sent"},
		{from: []string{mailSender}, key: "mail.from"},
		{
			from: []string{mailHost, mailPort, mailMust, mailMay}, key: "mail.tls", to: encryption,
			says: "As before, anyone on the network between the two machines can read the links.", when: func(g given) bool {
				how, err := encryption(g, nil)
				return err == nil && how == "cleartext"
			},
		},
		{
			from: []string{mailVerify}, decide: true, when: func(g given) bool { return g[mailVerify] == "none" },
			says: "pushbox checks the certificate of the mail server: name its authority in mail.ca_file",
		},
		{from: []string{mailHost, mailLimit}, key: "mail.daily_limit", to: dailyLimit(500, func(n int) int { return n })},
		{from: []string{mailHost, mailLimit}, key: "mail.daily_limit_total", to: dailyLimit(1000, func(n int) int { return max(n, 1000) })},
		{from: []string{mailHost, mailLimit}, key: "mail.max_recipients", to: dailyLimit(5, func(n int) int { return min(n, 5) })},
		{
			from: pwp("MAIL__SMTP_DOMAIN", "MAIL__SMTP_AUTHENTICATION", "MAIL__SMTP_OPEN_TIMEOUT", "MAIL__SMTP_READ_TIMEOUT", "MAIL__RAISE_DELIVERY_ERRORS"),
			says: "pushbox agrees on these with the mail server, and tries again until mail.give_up",
		},
		{from: pwp("FEEDBACK__EMAIL"), says: "there is no feedback form"},
	}
}

// sendsLinks reports whether Password Pusher sends mail for pushes. If it does not, pushbox gets
// no mail server: with one, senders could mail links.
func sendsLinks(g given) bool { return g.has(mailHost) && g[mailNotify] != "false" }

func host(g given, _ []string) (string, error) {
	switch {
	case !sendsLinks(g):
		return "", nil
	case !g.has(mailSender):
		return "", errors.New("was left out: pushbox needs the sender of its mail, mail.from, too")
	}
	if base, err := baseURL(g, nil); err != nil || base == "" {
		return "", errors.New("was left out: pushbox sends mail only if base_url is set, too")
	}
	return g[mailHost], nil
}

func user(g given, _ []string) (string, error) {
	if !sendsLinks(g) {
		return "", nil
	}
	if !g.has(mailPassword) {
		return "", errors.New("was left out: the password is not in this file. Set mail.user and mail.password_file yourself")
	}
	return g[mailUser], nil
}

func password(g given, _ []string) (string, error) {
	if !g.has(mailUser) || !sendsLinks(g) {
		return "", nil
	}
	return passwordFile, nil
}

// encryption returns the way of pushbox that comes nearest. Where Password Pusher encrypts
// if it can, pushbox must.
func encryption(g given, _ []string) (string, error) {
	switch {
	case !sendsLinks(g):
		return "", nil
	case g[mailPort] == "465":
		return "implicit", nil
	case g[mailMust] == "true", !g.has(mailMay), g[mailMay] == "true":
		return "starttls", nil
	case clientip.IsLoopback(g[mailHost]):
		return "none", nil
	}
	return "cleartext", nil
}

// dailyLimit returns a function that sets the limit of an account's mails in a day, which is 500 in
// Password Pusher.
func dailyLimit(initial int, of func(limit int) int) convert {
	return func(g given, _ []string) (string, error) {
		if !sendsLinks(g) {
			return "", nil
		}
		limit, ok := g.number(mailLimit)
		if !ok {
			limit = 500
		}
		n := of(limit)
		if n == initial && initial != 500 { // pushbox's default
			return "", nil
		}
		return strconv.Itoa(n), nil
	}
}
