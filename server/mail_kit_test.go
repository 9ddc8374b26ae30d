package server_test

import (
	"net/http"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/testkit/env"
	"pushbox/server/display"
	"pushbox/server/servertest"
	"pushbox/store"
	"pushbox/store/record"
)

// sendsMail has a server accept addresses. Mail to them is never sent: it stays in the
// outbox.
func sendsMail(c *config.Config) {
	c.Mail.Host, c.Mail.From, c.BaseURL = "mail.example.com", "push@example.com", mailBase
}

// mailBase is what the links in mail begin with.
const mailBase = "http://push.example.com"

// lettersOf returns the mails that wait in the outbox.
func lettersOf(a *servertest.Server) (all []store.Mail) {
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

// wantedOf is lettersOf without the mails that will not be sent.
func wantedOf(a *servertest.Server) (all []store.Mail) {
	a.T.Helper()
	due, _, err := a.Store.DueMessages(ctx, record.MessageQuery{Route: record.ByMail, Limit: 1000})
	env.OK(a.T, err)
	for _, m := range due {
		switch l, wanted, err := a.Store.OpenMail(ctx, m); {
		case err != nil:
			a.T.Fatal(err)
		case wanted:
			all = append(all, l)
		}
	}
	return all
}

// addressees returns the recipients of mails.
func addressees(ls []store.Mail) string {
	var all []string
	for _, l := range ls {
		all = append(all, l.To.Reveal())
	}
	return strings.Join(all, " ")
}

// fillStore creates pushes until there is no space for a small one.
func fillStore(a *servertest.Server) {
	a.T.Helper()
	for n := 256 << 10; n > 0; {
		got := a.Do("POST", pushes, `{"push":{"payload":"`+strings.Repeat("x", n)+`"}}`)
		if got.Status == http.StatusInsufficientStorage {
			n /= 2
		} else {
			got.Want(http.StatusCreated)
		}
	}
}

// auditedOf returns the kinds of the entries in a push's audit log.
func auditedOf(a *servertest.Server, t *testing.T, token string, as http.Header) string {
	t.Helper()
	var kinds []string
	logs, _ := a.Get(pushes+"/"+token+"/audit", as).Want(http.StatusOK).Object()["logs"].([]any)
	for _, l := range logs {
		kinds = append(kinds, l.(map[string]any)["kind"].(string))
	}
	return strings.Join(kinds, " ")
}

// linkIn returns the link in a mail.
func linkIn(l store.Mail) string {
	return display.PushLink(l.Base, l.Push.Token.Reveal(), l.Push.RetrievalStep)
}
