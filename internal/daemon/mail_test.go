package daemon

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/mailtest"
)

// A mailbox is a running daemon with open sign-up, and the mail server that it sends through.
type mailbox struct {
	t      *testing.T
	url    string
	cookie string // of a session
	post   *mailtest.Server
	end    func() (log string)
}

func newMailbox(t *testing.T) *mailbox {
	t.Helper()
	post := mailtest.New(t, mailtest.Setup{})
	cfg := settingsFor(env.ShortDir(t))
	cfg.BaseURL, cfg.EnableSignups, cfg.Limits.PassphrasesPerLife = "https://push.example.com", true, 2
	cfg.Mail.Host, cfg.Mail.Port, cfg.Mail.TLS, cfg.Mail.From = post.Host, post.Port, config.MailNoTLS, "push@example.com"
	cfg.Mail.RecipientPerDay = 2
	r := daemonFor(t, cfg)
	return &mailbox{t: t, url: "http://" + r.address, post: post, end: func() string { return r.end(t) }}
}

// want sends a form of names and values, and fails the test unless it gets that status.
func (m *mailbox) want(status int, path string, fields ...string) *http.Response {
	m.t.Helper()
	form := url.Values{}
	for pair := range slices.Chunk(fields, 2) {
		form.Set(pair[0], pair[1])
	}
	headers := []string{env.Form, "Sec-Fetch-Site: same-origin"}
	if m.cookie != "" {
		headers = append(headers, "Cookie: "+m.cookie)
	}
	res, _ := env.Ask(m.t, http.MethodPost, m.url+path, form.Encode(), headers...)
	if res.StatusCode != status {
		m.t.Fatalf("%s: %d, not %d", path, res.StatusCode, status)
	}
	return res
}

// mail waits for the n-th mail, from 1, and wants it to be for that address.
func (m *mailbox) mail(n int, to string) string {
	m.t.Helper()
	got := m.post.Wait(m.t, n)[n-1]
	if got.To != to {
		m.t.Errorf("mail %d is for %s, not %s", n, got.To, to)
	}
	return strings.ReplaceAll(string(got.Raw), "=\r\n", "")
}

// A newcomer confirms the address with a code that came by mail, and then sends links, up
// to the limit of an address; and gets the news that a push is frozen.
func TestMailOfAnAccountThatSignedUp(t *testing.T) {
	t.Parallel()
	const eve, right = "eve@example.com", "a good password"
	m := newMailbox(t)
	m.want(http.StatusSeeOther, "/users/sign_up", "email", eve, "password", right)
	signed := m.want(http.StatusSeeOther, "/users/sign_in", "email", eve, "password", right)
	for _, c := range signed.Cookies() {
		m.cookie += c.Name + "=" + c.Value + "; "
	}
	link := func(status int) {
		t.Helper()
		m.want(status, "/", "push[kind]", "text", "push[payload]", "x", "push[passphrase]", "right", "push[notify_emails_to]", "bob@example.net")
	}
	link(http.StatusUnprocessableEntity)
	m.want(http.StatusSeeOther, "/users/address/code")
	code := regexp.MustCompile(`(?m)^[0-9]{8}\r?$`).FindString(m.mail(1, eve))
	m.want(http.StatusSeeOther, "/users/address", "code", strings.TrimSpace(code))
	link(http.StatusSeeOther)
	first := m.mail(2, "bob@example.net")
	env.Contains(t, "it does not name its sender", first, eve)
	link(http.StatusSeeOther)
	m.mail(3, "bob@example.net")
	link(http.StatusUnprocessableEntity) // bob has had two
	path := regexp.MustCompile(`https://push\.example\.com(/p/[a-z2-7]+)`).FindStringSubmatch(first)[1]
	m.cookie = ""
	_, page := env.Ask(t, http.MethodGet, m.url+path, "")
	number := regexp.MustCompile(`Type the number ([0-9]{3}) to open`).FindStringSubmatch(page)[1]
	for range 2 {
		m.want(http.StatusForbidden, path, "number", number, "passphrase", "wrong")
	}
	news := m.mail(4, eve)
	if !strings.Contains(news, "Subject: One of your secrets is locked") || !strings.Contains(news, "https://push.example.com/p\r\n") || strings.Contains(news, path) {
		t.Errorf("the news is\n%s", news)
	}
	log := m.end()
	if n := len(m.post.Mails()); n != 4 {
		t.Errorf("there are %d mails", n)
	}
	for _, word := range []string{strings.TrimSpace(code), eve, "bob@", path} {
		if strings.Contains(log, word) {
			t.Errorf("the log has %s:\n%s", word, log)
		}
	}
}
