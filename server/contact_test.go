package server_test

import (
	"net/http"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/server/servertest"
)

const securityPath = "/.well-known/security.txt"

func TestSecurityTxtHasTheContact(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) {
		c.SecurityContact, c.BaseURL, c.BasePath = "mailto:security@example.com", "https://Push.example.com:443/push", "/push"
		c.DefaultLocale = "de"
	})
	want := func(expires string) string {
		return "Contact: mailto:security@example.com\nExpires: " + expires + "T00:00:00Z\nPreferred-Languages: de\n" +
			"Canonical: https://push.example.com/.well-known/security.txt\n"
	}
	now := a.Store.Clock.Now()
	for range 3 {
		midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
		expires := midnight.AddDate(0, 0, 180).Format(time.DateOnly)
		for _, path := range []string{securityPath, "/push" + securityPath} {
			got := a.Get(path).Want(http.StatusOK)
			if got.Body != want(expires) {
				t.Errorf("%s at %s:\n%s\nwant\n%s", path, now, got.Body, want(expires))
			}
			if h := got.Header.Get("Content-Type"); h != "text/plain; charset=utf-8" {
				t.Errorf("%s: %s", path, h)
			}
		}
		a.Store.Clock.Advance(24 * time.Hour)
		now = a.Store.Clock.Now()
	}
	if got := a.Recipients().Get(securityPath).Want(http.StatusOK); got.Body == "" {
		t.Error("the public listener has an empty one")
	}
	a.Do("HEAD", securityPath, "").Want(http.StatusOK)
	a.Do("POST", securityPath, "").Want(http.StatusMethodNotAllowed)
}

func TestWithoutBaseURLSecurityTxtNamesNoAddress(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) { c.SecurityContact = "https://example.com/security" })
	day := a.Store.Clock.Now().UTC().AddDate(0, 0, 180).Format(time.DateOnly)
	want := "Contact: https://example.com/security\nExpires: " + day + "T00:00:00Z\nPreferred-Languages: en\n"
	if got := a.Get(securityPath).Want(http.StatusOK); got.Body != want {
		t.Errorf("got\n%s\nwant\n%s", got.Body, want)
	}
}

func TestWithoutAContactThereIsNoSecurityTxt(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	got, unknown := a.Get(securityPath).Want(http.StatusNotFound), a.Get("/.well-known/other.txt").Want(http.StatusNotFound)
	if got.Body != unknown.Body {
		t.Errorf("the page differs from that of an unknown path:\n%s\n%s", got.Body, unknown.Body)
	}
}
