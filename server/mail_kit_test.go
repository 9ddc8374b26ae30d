package server_test

import (
	"net/http"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/store"
)

// sendsMail has a server take addresses. Nobody sends what it takes: it stays in the
// outbox.
func sendsMail(c *config.Config) { c.Mail.Host, c.Mail.From = "mail.example.com", "push@example.com" }

// letters are those that wait in the outbox.
func (a *api) letters() (all []store.Letter) {
	a.t.Helper()
	due, _, err := a.store.DueLetters(ctx, 1000)
	if err != nil {
		a.t.Fatal(err)
	}
	for _, m := range due {
		l, wanted, err := a.store.OpenLetter(ctx, m)
		if err != nil || !wanted {
			a.t.Fatalf("a letter is wanted: %v, %v", wanted, err)
		}
		all = append(all, l)
	}
	return all
}

// addressees are whom letters go to.
func addressees(ls []store.Letter) string {
	var all []string
	for _, l := range ls {
		all = append(all, l.To.Reveal())
	}
	return strings.Join(all, " ")
}

// fill creates pushes until there is no room for a small one.
func (a *api) fill() {
	a.t.Helper()
	for n := 256 << 10; n > 0; {
		got := a.do("POST", pushes, `{"push":{"payload":"`+strings.Repeat("x", n)+`"}}`)
		if got.status == http.StatusInsufficientStorage {
			n /= 2
		} else {
			got.want(http.StatusCreated)
		}
	}
}

// audited are the kinds of the entries of a push's audit log.
func (a *api) audited(t *testing.T, token string, as http.Header) string {
	t.Helper()
	var kinds []string
	logs, _ := a.get(pushes+"/"+token+"/audit", as).want(http.StatusOK).object()["logs"].([]any)
	for _, l := range logs {
		kinds = append(kinds, l.(map[string]any)["kind"].(string))
	}
	return strings.Join(kinds, " ")
}
