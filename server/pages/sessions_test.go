package pages_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/server/servertest"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

func userAgent(text string) http.Header { return http.Header{"User-Agent": {text}} }

func TestSessionsAreListedAndEnded(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t)
	b := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword, userAgent("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"))
	alone := b.Get("/users/sessions").Want(http.StatusOK).Says("Firefox on Linux").Says("This session").Says("127.0.0.1")
	if len(alone.Inputs("id")) != 0 || alone.Shows("End all other sessions") {
		t.Error(alone.Body)
	}
	a.Store.Clock.Advance(time.Hour)
	phone := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword, servertest.Far(7), userAgent("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1"))
	list := b.Get("/users/sessions").Says("Safari on iPhone").Says("203.0.113.7").Says("2026-01-01 01:00 UTC").Says("2026-01-01 00:00 UTC").Says("End all other sessions")
	if ids := list.Inputs("id"); len(ids) != 1 || strings.Count(list.Body, "This session") != 1 {
		t.Fatal(list.Body)
	}
	b.Post("/users/sessions/end", "id", list.Inputs("id")[0]).To("/users/sessions")
	phone.Get("/users/sessions").To("/users/sign_in")
	b.Get("/users/sessions").Want(http.StatusOK)
	a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	b.Post("/users/sessions/end", "others", "yes").To("/users/sessions")
	env.Equal(t, "other sessions", len(b.Get("/users/sessions").Want(http.StatusOK).Inputs("id")), 0)
	for _, gone := range []string{list.Inputs("id")[0], "0", "-1", "x", "", "99999999999999999999"} {
		b.Post("/users/sessions/end", "id", gone).To("/users/sessions")
	}
}

func TestAgentsAreShownInWordsThatPeopleKnow(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t)
	const webkit = " AppleWebKit/537.36 (KHTML, like Gecko) "
	for header, want := range map[string]string{
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64)" + webkit + "Chrome/140.0.0.0 Safari/537.36":                              "Chrome on Windows",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64)" + webkit + "Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0":                "Edge on Windows",
		"Mozilla/5.0 (X11; CrOS x86_64 14541.0.0)" + webkit + "Chrome/140.0.0.0 Safari/537.36":                               "Chrome on ChromeOS",
		"Mozilla/5.0 (Linux; Android 15; Pixel 9)" + webkit + "Chrome/140.0.0.0 Mobile Safari/537.36":                        "Chrome on Android",
		"Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/28.0 Chrome/130.0.0.0 Safari": "Samsung Internet on Android",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605":   "Safari on macOS",
		"Mozilla/5.0 (iPad; CPU OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/140.0 Mobile Safari":   "Chrome on iPad",
		"curl/8.10.1":                         "curl",
		"Something (Windows NT 10.0)":         "Windows",
		"<script>alert(1)</script>":           "An unknown program",
		"":                                    "An unknown program",
		strings.Repeat("x", 4000) + "Chrome/": "An unknown program",
	} {
		got := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword, userAgent(header)).Get("/users/sessions")
		row := got.Body[strings.Index(got.Body, "<tbody>"):strings.Index(got.Body, "This session")]
		if !strings.Contains(row[strings.LastIndex(row, "<tr>"):], ">"+want) {
			t.Errorf("%.80s: %s", header, row)
		}
	}
}

// A keeper is an engine that cannot end a session once.
type keeper struct {
	record.Engine
	fails *atomic.Bool
}

func (e keeper) Update(ctx context.Context, change func(record.Tx) error) error {
	return e.Engine.Update(ctx, func(t record.Tx) error { return change(keeperTx{t, e.fails}) })
}

// A keeperTx is a transaction of a keeper.
type keeperTx struct {
	record.Tx
	fails *atomic.Bool
}

func (t keeperTx) Delete(of *record.Table, r record.Record) error {
	if of == record.Sessions.Table && t.fails.CompareAndSwap(true, false) {
		return record.ErrFull
	}
	return t.Tx.Delete(of, r)
}

// A browser whose old session cannot be ended keeps that, and no other begins.
func TestASignInThatCannotEndTheOldSessionBeginsNone(t *testing.T) {
	t.Parallel()
	var fails atomic.Bool
	a := servertest.On(t, func(s *storetest.Setup) {
		s.Wrap = func(e record.Engine) record.Engine { return keeper{e, &fails} }
	}, func(c *config.Config) { c.Limits.SignInsPerClient, c.Limits.SignInsPerAccount = 1000, 1000 })
	a.AddAccount(servertest.AnnEmail, servertest.AnnPassword)
	b := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	old := b.Session()
	fails.Store(true)
	b.SignIn(servertest.AnnEmail, servertest.AnnPassword).Want(http.StatusInsufficientStorage)
	list, err := a.Store.Sessions(t.Context(), secret.New(old))
	if b.Session() != old || err != nil || len(list) != 1 {
		t.Errorf("the account has %d sessions, %v", len(list), err)
	}
	if b.SignIn(servertest.AnnEmail, servertest.AnnPassword).Want(http.StatusSeeOther); b.Session() == old {
		t.Error("it has the old session still")
	}
}

// On plain HTTP to the proxy, and with older browsers, only Origin tells where a form
// came from.
func TestFormsPassAProxyThatKeepsTheHostToItself(t *testing.T) {
	t.Parallel()
	const origin = "https://push.example.com"
	for name, c := range map[string]struct {
		base    string
		headers http.Header
		want    int
	}{
		"the host is forwarded":           {"", http.Header{"Origin": {origin}, "X-Forwarded-Host": {"push.example.com"}, "X-Forwarded-Proto": {"https"}}, http.StatusForbidden},
		"another host is":                 {"", http.Header{"Origin": {origin}, "X-Forwarded-Host": {"other.example.com"}, "X-Forwarded-Proto": {"https"}}, 0},
		"it is the base_url":              {"https://Push.Example.com:443/", http.Header{"Origin": {origin}}, http.StatusForbidden},
		"another is":                      {"https://other.example.com", http.Header{"Origin": {origin}}, 0},
		"the browser says another site":   {origin, http.Header{"Origin": {"https://evil.example"}, "Sec-Fetch-Site": {"cross-site"}}, 0},
		"the browser says nothing at all": {"", nil, http.StatusForbidden},
	} {
		a := servertest.New(t, func(cfg *config.Config) { cfg.BaseURL = strings.TrimSuffix(c.base, "/") })
		got := a.Do("POST", "/users/sign_in", url.Values{"email": {"a@example.com"}, "password": {"wrong wrong wrong"}}.Encode(),
			http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, c.headers)
		refused := strings.Contains(got.Body, "This came from another site")
		if got.Status != http.StatusForbidden || refused != (c.want == 0) {
			t.Errorf("%s: %d, refused as another site's: %t", name, got.Status, refused)
		}
	}
}

func TestACookieIsForTLSWhereTheBaseURLIs(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{"": "lang=", "http://push.example.com": "lang=", "https://push.example.com": "Secure"} {
		a := servertest.New(t, func(cfg *config.Config) { cfg.BaseURL = base })
		cookie := a.Get("/users/sign_in?lang=de").Header.Get("Set-Cookie")
		if !strings.Contains(cookie, want) || (want == "Secure") != strings.Contains(cookie, "Secure") {
			t.Errorf("%s: %s", base, cookie)
		}
	}
}
