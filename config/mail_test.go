package config_test

import (
	"strings"
	"testing"

	"pushbox/config"
)

func TestSettingsThatMailNeeds(t *testing.T) {
	t.Parallel()
	const host, from, base = "PUSHBOX_MAIL_HOST=mail.example.com", "PUSHBOX_MAIL_FROM=push@example.com", "PUSHBOX_BASE_URL=https://push.example.com"
	_, without := config.Load(config.Source{Environ: []string{host, from}})
	if without == nil || !strings.Contains(without.Error(), "mail.host") || !strings.Contains(without.Error(), "base_url") {
		t.Errorf("without base_url: %v", without)
	}
	for name, test := range map[string]struct {
		environ []string
		want    string // the key and some words of its problem; empty: there is none
	}{
		"nothing":                    {[]string{"PUSHBOX_MAIL_USER=push", "PUSHBOX_MAIL_TLS=none"}, ""},
		"host and sender":            {[]string{host, from}, ""},
		"a sender with a name":       {[]string{host, "PUSHBOX_MAIL_FROM=Push ü <push@example.com>"}, ""},
		"no sender":                  {[]string{host}, "mail.from must be set"},
		"a sender without a host":    {[]string{host, "PUSHBOX_MAIL_FROM=push"}, "mail.from must be an address"},
		"two senders":                {[]string{host, "PUSHBOX_MAIL_FROM=a@example.com, b@example.com"}, "mail.from must be an address"},
		"a port with the host":       {[]string{"PUSHBOX_MAIL_HOST=mail.example.com:25", from}, "mail.host must be a host name"},
		"an IPv6 address":            {[]string{"PUSHBOX_MAIL_HOST=2001:db8::1", from}, ""},
		"a user without a password":  {[]string{host, from, "PUSHBOX_MAIL_USER=push"}, "mail.password_file must be set"},
		"a password without a user":  {[]string{host, from, "PUSHBOX_MAIL_PASSWORD_FILE=f"}, "mail.user must be set"},
		"both":                       {[]string{host, from, "PUSHBOX_MAIL_USER=push", "PUSHBOX_MAIL_PASSWORD_FILE=f"}, ""},
		"none, to another machine":   {[]string{host, from, "PUSHBOX_MAIL_TLS=none"}, "mail.tls is none"},
		"none, to this one":          {[]string{"PUSHBOX_MAIL_HOST=127.0.0.1", from, "PUSHBOX_MAIL_TLS=none"}, ""},
		"none, to this one by name":  {[]string{"PUSHBOX_MAIL_HOST=localhost", from, "PUSHBOX_MAIL_TLS=none"}, ""},
		"clear text":                 {[]string{host, from, "PUSHBOX_MAIL_TLS=cleartext"}, ""},
		"more for one than for all":  {[]string{host, from, "PUSHBOX_MAIL_DAILY_LIMIT=1001"}, "mail.daily_limit must not be greater"},
		"more at once than in a day": {[]string{host, from, "PUSHBOX_MAIL_DAILY_LIMIT=4"}, "mail.max_recipients must not be greater"},
	} {
		src := config.Source{Environ: append(test.environ, base)}
		if test.want == "" {
			mustLoad(t, src)
			continue
		}
		key, words, _ := strings.Cut(test.want, " ")
		if got := problems(t, src); len(got) != 1 || !strings.HasPrefix(got[0], key+" (") || !strings.Contains(got[0], words) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestThePortOfTheMailServer(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		tls        string
		port, want int
	}{
		{config.MailStartTLS, 0, 587},
		{config.MailImplicit, 0, 465},
		{config.MailNoTLS, 0, 25},
		{config.MailCleartext, 0, 25},
		{config.MailStartTLS, 2525, 2525},
	} {
		if got := (config.Mail{TLS: test.tls, Port: test.port}).PortInUse(); got != test.want {
			t.Errorf("%s with %d: %d", test.tls, test.port, got)
		}
	}
}
