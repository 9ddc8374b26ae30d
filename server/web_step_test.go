package server_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/server/servertest"
)

func TestTheStepPageDescribesThePushAndLeavesNoTrace(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	for members, kind := range map[string]string{
		`"payload":"x"`: "a confidential text",
		`"payload":"https://example.com","kind":"url"`:  "a confidential web address",
		`"payload":"x","kind":"qr"`:                     "a QR code",
		`"payload":"x","deletable_by_viewer":true`:      "a confidential text",
		`"payload":"x","passphrase":"open sesame 5781"`: "a confidential text",
	} {
		token := a.Create(members)
		before := a.Trace(token)
		for _, path := range []string{"/p/" + token + "/r", "/p/" + token, "/p/" + strings.ToUpper(token) + "/r"} {
			got := a.Get(path).Want(http.StatusOK).Page()
			got.Has("A secret is waiting", kind, "Views left 5", "Time left 7 days", "Expires 2026-01-08 00:00 UTC", "It has not been opened yet.")
			_, asks := got.Field("passphrase")
			if asks != strings.Contains(members, "passphrase") {
				t.Errorf("%s: it asks for a passphrase: %v", members, asks)
			}
			if want := []string{"post /p/" + token}; !slices.Equal(got.Forms(), want) {
				t.Errorf("its forms are %v", got.Forms())
			}
			if strings.Contains(got.Body, "sesame") || got.Header.Get("Cache-Control") != "no-store" || got.Header.Get("Set-Cookie") != "" {
				t.Errorf("%v", got.Header)
			}
			head := a.Do(http.MethodHead, path, "").Want(http.StatusOK)
			if head.Body != "" || head.Header.Get("Content-Length") != got.Header.Get("Content-Length") {
				t.Errorf("HEAD: %v", head.Header)
			}
		}
		if after := a.Trace(token); after != before {
			t.Errorf("%s: %v became %v", members, before, after)
		}
	}
}

func TestTheStepPageShowsEarlierViews(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	token := a.Create(`"payload":"x","expire_after_views":9`)
	for n := range 7 {
		got := a.Get("/p/" + token + "/r").Want(http.StatusOK).Page()
		switch n {
		case 0:
			got.Has("It has not been opened yet.")
		case 1:
			got.Has("It has been opened once before.", "Most recently: 2026-01-01 00:00 UTC", "someone else has seen it").Lacks("not been opened")
		case 6:
			got.Has("It has been opened 6 times before.", "Most recently: 2026-01-01 00:05 UTC 2026-01-01 00:04 UTC 2026-01-01 00:03 UTC 2026-01-01 00:02 UTC 2026-01-01 00:01 UTC If that")
		}
		a.Send("/p/"+token, nil).Want(http.StatusOK)
		a.Store.Clock.Advance(time.Minute)
	}
}

func TestAWrongPassphraseOnThePage(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) { c.Limits.PassphrasesPerClient = 3 })
	path := "/p/" + a.Create(`"payload":"inside it","passphrase":"right päss"`)
	try := func(passphrase string, status int) servertest.Page {
		t.Helper()
		got := a.Send(path, map[string]string{"passphrase": passphrase}).Want(status).Page()
		if passphrase != "" && strings.TrimSpace(passphrase) != "" && strings.Contains(got.Body, passphrase) {
			t.Error("the page has the passphrase")
		}
		return got.Lacks("inside it")
	}
	try("", http.StatusForbidden).Has("The passphrase is missing.", "3 tries left")
	try(" ", http.StatusForbidden).Has("The passphrase is missing.", "3 tries left")
	try("wrong-1", http.StatusForbidden).Has("Wrong passphrase. No view was used.", "2 tries left")
	try("wrong-2", http.StatusForbidden).Has("1 try left,")
	last := try("wrong-3", http.StatusForbidden).Has("Wrong passphrase. No view was used.", "No tries left for now.", "Try again after: 2026-01-01 00:01 UTC")
	if value, ok := last.Field("passphrase"); !ok || value != "" || servertest.Attr(last.ID("passphrase"), "aria-invalid") != "true" {
		t.Errorf("the field has %q", value)
	}
	locked := try("right päss", http.StatusTooManyRequests).Has("Too many wrong passphrases.", "Try again after: 2026-01-01 00:01 UTC").Lacks("tries left", "try left")
	if locked.Header.Get("Retry-After") != "60" {
		t.Errorf("Retry-After %q", locked.Header.Get("Retry-After"))
	}
	a.Store.Clock.Advance(time.Minute)
	a.Send(path, map[string]string{"passphrase": strings.Repeat("x", 1025)}).Want(http.StatusBadRequest)
	a.Send(path, map[string]string{"passphrase": "\xff"}).Want(http.StatusBadRequest)
	a.Send(path+"?passphrase=right+p%C3%A4ss", nil).Want(http.StatusForbidden)
	got := a.Send(path, map[string]string{"passphrase": "right päss"}).Want(http.StatusOK).Page().Has("inside it", "Views left 4")
	if strings.Contains(got.Body, "right p") {
		t.Error("the page has the passphrase")
	}
}
