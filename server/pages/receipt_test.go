package pages_test

import (
	"net/http"
	"strings"
	"testing"

	"pushbox/config"
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

func TestThePageOfANewPushHasItsLink(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		base   string
		header http.Header
		want   string
	}{
		"the request's host":  {"", http.Header{"Host": {"box.example:8080"}}, "http://box.example:8080/p/"},
		"base_url":            {"https://push.example.com", http.Header{"Host": {"inner"}}, "https://push.example.com/p/"},
		"a proxy":             {"", http.Header{"Host": {"inner"}, "X-Forwarded-For": {"203.0.113.9"}, "X-Forwarded-Proto": {"https"}, "X-Forwarded-Host": {"out.example"}}, "https://out.example/p/"},
		"base_url of a proxy": {"https://push.example.com", http.Header{"X-Forwarded-For": {"203.0.113.9"}, "X-Forwarded-Host": {"out.example"}}, "https://push.example.com/p/"},
	} {
		a := servertest.New(t, func(c *config.Config) {
			if c.BaseURL = test.base; test.base != "" {
				c.AllowedHosts = []string{"inner", "127.0.0.1", "out.example"}
			}
		})
		got := a.SendForm(servertest.Typed(nil), test.header)
		if link := got.Link(); !strings.HasPrefix(link, test.want) || !strings.HasSuffix(link, "/r") {
			t.Errorf("%s: %s", name, link)
		}
		for _, want := range []string{`href="/p/` + got.PushToken() + `/r" target="_blank" rel="noopener noreferrer"`, `<svg class="qr"`, got.Link() + "\nThe link works 5 times"} {
			if !strings.Contains(got.Body, want) {
				t.Errorf("%s: no %s", name, want)
			}
		}
		if strings.Contains(a.Log.String(), got.PushToken()) || got.Header.Get("Location") != "" {
			t.Errorf("%s: the link is in the log or in a header", name)
		}
	}
	servertest.New(t).SendForm(servertest.Typed(nil), http.Header{"Host": {"a/b"}}).Want(http.StatusBadRequest)
}

func TestWhatThePageOfANewPushSays(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddSessionUser("ann@example.com")
	const (
		apart  = "Do not put the passphrase into the same message"
		other  = "You will get the passphrase another way."
		audit  = `/audit"`
		once   = "The link works once, until 2026-01-08 00:00 UTC."
		button = "“Open” button first"
		deadly = "recipients may delete it"
	)
	envelope := "pushbox-end-to-end.1." + strings.Repeat("A", 40) + "." + strings.Repeat("A", 40)
	for name, test := range map[string]struct {
		fields    map[string]string
		caller    http.Header
		has, hasn []string
	}{
		"plain":        {nil, nil, []string{button, deadly, "Passphrase: none", "The link works 5 times, until", "uses up a view", "0 of 5 views used"}, []string{apart, other, audit, "uses no view", "encrypted in this browser"}},
		"a passphrase": {map[string]string{"passphrase": "open sesame"}, nil, []string{apart, other, "Passphrase: set"}, []string{"open sesame", audit}},
		"an owner's":   {map[string]string{"name": "n"}, ann, []string{audit, "under My secrets", "uses no view"}, []string{apart, "uses up a view"}},
		"encrypted":    {map[string]string{"payload": envelope}, nil, []string{"encrypted in this browser", "The server never sees the key", "uses up a view"}, []string{"nothing can show it again"}},
		"its owner's":  {map[string]string{"payload": envelope}, ann, []string{"encrypted in this browser", "uses no view"}, []string{"uses up a view", "under My secrets"}},
		"one view":     {map[string]string{"expire_after_views": "1"}, nil, []string{once, "0 of 1 view used"}, nil},
		"no button":    {map[string]string{"retrieval_step": servertest.Unticked, "deletable_by_viewer": servertest.Unticked}, nil, nil, []string{button, deadly}},
		"a URL":        {map[string]string{"kind": "url", "payload": "https://a"}, nil, []string{"Web address"}, []string{deadly}},
	} {
		got := a.SendForm(servertest.Typed(test.fields), test.caller).Want(http.StatusOK)
		for _, text := range test.has {
			if !strings.Contains(got.Body, text) {
				t.Errorf("%s: no %q", name, text)
			}
		}
		for _, text := range append(test.hasn, "hunter2") {
			if strings.Contains(got.Body, text) {
				t.Errorf("%s: it has %q", name, text)
			}
		}
		if link := got.Link(); strings.HasSuffix(link, "/r") != strings.Contains(got.Body, button) {
			t.Errorf("%s: %s", name, link)
		}
		if got.Header.Get("Cache-Control") != "no-store" || got.Header.Get("Content-Security-Policy") == "" {
			t.Errorf("%s: %v", name, got.Header)
		}
	}
}

// The sender of a push that has ended downloads a certificate, with an account or without one.
func TestAReceiptLeadsToACertificateOfTheEnd(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	receipt := a.NewReceipt()
	if body := a.Get(receipt).Want(http.StatusOK).Body; strings.Contains(body, "/certificate") {
		t.Error("a live push has one")
	}
	a.Get(receipt + "/certificate").Want(http.StatusConflict)
	a.Send(receipt, nil).Want(http.StatusSeeOther)
	if body := a.Get(receipt).Want(http.StatusOK).Body; !strings.Contains(body, `href="`+receipt+`/certificate"`) {
		t.Errorf("no link: %s", body)
	}
	push, _, _ := strings.Cut(receipt, "/receipt/")
	a.Get(push + "/receipt/aaaaaaaaaaaaaaaaaaaaaaaaaa/certificate").Want(http.StatusNotFound)
	for range 60 {
		got := a.Get(receipt + "/certificate")
		if got.Status == http.StatusServiceUnavailable && got.Header.Get("Retry-After") != "" {
			continue
		}
		got.Want(http.StatusOK)
		if got.Header.Get("Content-Disposition") != `attachment; filename="certificate.json"` || !strings.Contains(got.Body, `"signature":`) {
			t.Errorf("%v: %s", got.Header, got.Body)
		}
		return
	}
	t.Error("it is never erased")
}
