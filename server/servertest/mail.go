package servertest

import (
	"fmt"
	"strings"

	"pushbox/config"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/record"
)

// SendsMail has a server accept addresses. Mail to them is never sent: it stays in the
// outbox.
func SendsMail(c *config.Config) {
	c.Mail.Host, c.Mail.From, c.BaseURL = "mail.example.com", "push@example.com", MailBase
}

// MailBase is what the links in mail begin with.
const MailBase = "http://push.example.com"

// Letters returns the mails that wait in the outbox.
func (a *Server) Letters() (all []store.Mail) {
	a.T.Helper()
	due, _, err := a.Store.DueMessages(ctx, record.MessageQuery{Route: record.ByMail, Limit: 1000})
	env.OK(a.T, err)
	for _, m := range due {
		l, wanted, err := a.Store.OpenMail(ctx, m)
		if err != nil || !wanted {
			a.T.Fatalf("a letter is wanted: %v, %v", wanted, err)
		}
		all = append(all, l)
	}
	return all
}

// Addressees returns the recipients of mails.
func Addressees(ls []store.Mail) string {
	var all []string
	for _, l := range ls {
		all = append(all, l.To.Reveal())
	}
	return strings.Join(all, " ")
}

// Listed returns n addresses, with commas between them.
func Listed(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("r%d@example.net", i)
	}
	return strings.Join(all, ",")
}
