package server_test

import (
	"net/http"
	"strings"
	"testing"

	"pushbox/server/servertest"
)

// The sender of a push sees what happened to it, and ends it, without an account.
func TestAReceiptShowsWhatHappened(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	receipt := a.NewReceipt()
	page := a.Get(receipt).Want(http.StatusOK)
	again := a.Get(receipt)
	if page.Link() != again.Link() || !strings.Contains(page.Body, "Created") || strings.Contains(page.Body, "hunter2") {
		t.Errorf("the receipt of a new push: %s", page.Body)
	}
	token := page.PushToken()
	chrome := http.Header{"User-Agent": {"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"}, "X-Forwarded-For": {"203.0.113.77"}}
	a.Get(pushes+"/"+token, chrome).Has(map[string]string{"payload": "hunter2"})
	seen := a.Get(receipt).Want(http.StatusOK)
	if !strings.Contains(seen.Body, "Chrome on Windows") || !strings.Contains(seen.Body, "1 of 5 views used") || strings.Contains(seen.Body, "203.0.113.77") {
		t.Errorf("after a view: %s", seen.Body)
	}
	if got := a.Send(receipt, nil).Want(http.StatusSeeOther).Header.Get("Location"); got != receipt {
		t.Errorf("after the end it leads to %s", got)
	}
	ended := a.Get(receipt).Want(http.StatusOK)
	if strings.Contains(ended.Body, `id="link"`) || !strings.Contains(ended.Body, "<h1 tabindex=\"-1\">Deleted</h1>") {
		t.Errorf("after the end: %s", ended.Body)
	}
	a.Send(receipt, nil).Want(http.StatusSeeOther)
	a.Get("/p/" + token + "/r").Want(http.StatusNotFound)
	if log := a.Log.String(); strings.Contains(log, token) || strings.Contains(log, receipt[strings.LastIndex(receipt, "/")+1:]) {
		t.Error("the link or the code is in the log")
	}
}

// A link does not lead to its receipt, and no other code does.
func TestAReceiptNeedsItsCode(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	first, second := a.NewReceipt(), a.NewReceipt()
	of := func(receipt string) (push, code string) {
		push, code, _ = strings.Cut(strings.TrimPrefix(receipt, "/p/"), "/receipt/")
		return push, code
	}
	push, code := of(first)
	other, otherCode := of(second)
	made := a.Create(`"payload":"x"`)
	for name, path := range map[string]string{
		"no code":               "/p/" + push + "/receipt/",
		"a wrong code":          "/p/" + push + "/receipt/aaaaaaaaaaaaaaaaaaaaaaaaaa",
		"that of another":       "/p/" + push + "/receipt/" + otherCode,
		"for another":           "/p/" + other + "/receipt/" + code,
		"a push without one":    "/p/" + made + "/receipt/" + code,
		"a push that is no one": "/p/" + strings.Repeat("a", 34) + "/receipt/" + code,
	} {
		if got := a.Get(path); got.Status != http.StatusNotFound {
			t.Errorf("%s: %d", name, got.Status)
		}
		if got := a.Send(path, nil); got.Status != http.StatusNotFound {
			t.Errorf("%s: ending it: %d", name, got.Status)
		}
	}
	a.Get(first).Want(http.StatusOK).Link()
	a.Get(second).Want(http.StatusOK).Link()
}
