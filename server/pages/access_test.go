package pages_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/server/action"
	"pushbox/server/pages"
	"pushbox/server/servertest"
)

// The users in the matrix of the account pages.
const (
	byAnonymous = iota
	byPending   // the password was right, no code came yet
	byOwner
	byStranger // another signed-in user
	people
)

// accountMatrix has what each of them gets. SECRET is a valid secret for the second
// factor, TOKEN an API token of the owner, SESSION a session of the owner.
var accountMatrix = []struct {
	method, path string
	fields       []string
	want         [people]int
}{
	{"GET", "/users/sign_in", nil, [people]int{200, 200, 303, 303}},
	{"POST", "/users/sign_in", []string{"email", servertest.AnnEmail, "password", "wrong"}, [people]int{403, 403, 403, 403}},
	{"POST", "/users/sign_in", nil, [people]int{403, 403, 403, 403}},
	{"POST", "/users/sign_in/code", []string{"code", "wrong"}, [people]int{303, 403, 303, 303}},
	{"GET", "/users/sign_up", nil, [people]int{200, 200, 200, 200}},
	{"POST", "/users/sign_up", nil, [people]int{422, 422, 422, 422}},
	{"GET", "/users/first/canary-first", nil, [people]int{404, 404, 404, 404}},
	{"POST", "/users/first/canary-first", nil, [people]int{404, 404, 404, 404}},
	{"GET", "/users/token", nil, [people]int{303, 303, 200, 200}},
	{"POST", "/users/token", []string{"label", "x", "days", "30", "password", servertest.AnnPassword}, [people]int{303, 303, 201, 201}},
	{"POST", "/users/token/revoke", []string{"id", "TOKEN"}, [people]int{303, 303, 303, 303}},
	{"GET", "/users/password", nil, [people]int{303, 303, 200, 200}},
	{"POST", "/users/password", []string{"old", "wrong", "new", "a new password", "again", "a new password"}, [people]int{303, 303, 403, 403}},
	{"GET", "/users/password/forgotten", nil, [people]int{404, 404, 404, 404}}, // the server sends no mail
	{"POST", "/users/password/forgotten", []string{"email", servertest.AnnEmail}, [people]int{404, 404, 404, 404}},
	{"GET", "/users/password/new/canary-new", nil, [people]int{404, 404, 404, 404}},
	{"POST", "/users/password/new/canary-new", []string{"new", "a new password", "again", "a new password"}, [people]int{404, 404, 404, 404}},
	{"GET", "/users/sessions", nil, [people]int{303, 303, 200, 200}},
	{"GET", "/users/account", nil, [people]int{303, 303, 200, 200}},
	{"POST", "/users/account", []string{"name", "Ann <b>"}, [people]int{303, 303, 422, 422}},
	{"GET", "/users/account/export", nil, [people]int{303, 303, 200, 200}},
	{"POST", "/users/account/remove", []string{"password", "wrong"}, [people]int{303, 303, 403, 403}},
	{"GET", "/users/webhooks", nil, [people]int{303, 303, 200, 200}},
	{"POST", "/users/webhooks", []string{"url", "https://hooks.example", "event_view", "on", "password", "wrong"}, [people]int{303, 303, 403, 403}},
	{"POST", "/users/webhooks/test", []string{"id", "1"}, [people]int{303, 303, 303, 303}},
	{"POST", "/users/webhooks/remove", []string{"id", "1"}, [people]int{303, 303, 303, 303}},
	{"GET", "/users/address", nil, [people]int{303, 303, 200, 200}},
	{"POST", "/users/address", []string{"code", "wrong"}, [people]int{303, 303, 303, 303}}, // theirs are confirmed
	{"POST", "/users/address/code", nil, [people]int{303, 303, 404, 404}},                  // the server sends no mail
	{"POST", "/users/sessions/end", []string{"id", "SESSION"}, [people]int{303, 303, 303, 303}},
	{"GET", "/users/mfa", nil, [people]int{303, 303, 200, 200}},
	{"POST", "/users/mfa", []string{"password", "PASSWORD", "secret", "SECRET", "code", "wrong"}, [people]int{303, 303, 403, 403}},
	{"POST", "/users/mfa", []string{"password", "PASSWORD", "secret", "x", "code", "wrong"}, [people]int{303, 303, 422, 422}},
	{"POST", "/users/mfa/off", []string{"password", "wrong"}, [people]int{303, 303, 403, 403}},
	{"POST", "/users/sign_in/passkey", []string{"challenge", "wrong", "passkey", "wrong"}, [people]int{403, 403, 403, 403}},
	{"POST", "/users/mfa/passkeys", []string{"password", "wrong", "name", "x"}, [people]int{303, 303, 403, 403}},
	{"POST", "/users/mfa/passkeys/remove", []string{"password", "wrong", "id", "x"}, [people]int{303, 303, 403, 403}},
	{"POST", "/users/mfa/codes", []string{"password", "wrong"}, [people]int{303, 303, 303, 303}}, // they have none
	{"GET", "/admin", nil, [people]int{303, 303, 404, 404}},                                      // none of them administers
	{"GET", "/admin/accounts", nil, [people]int{303, 303, 404, 404}},
	{"GET", "/admin/invite", nil, [people]int{303, 303, 404, 404}},
	{"POST", "/admin/invite", []string{"email", "eve@example.com"}, [people]int{303, 303, 404, 404}},
	{"GET", "/admin/accounts/1", nil, [people]int{303, 303, 404, 404}},
	{"POST", "/admin/accounts/1", []string{"do", "disable"}, [people]int{303, 303, 404, 404}},
	{"GET", "/admin/log", nil, [people]int{303, 303, 404, 404}},
	{"GET", "/admin/activity", nil, [people]int{303, 303, 404, 404}},
	{"GET", "/admin/health", nil, [people]int{303, 303, 404, 404}},
	{"GET", "/admin/settings", nil, [people]int{303, 303, 404, 404}},
	{"GET", "/admin/log.jsonl", nil, [people]int{303, 303, 404, 404}},
	{"GET", "/users/oidc/none", nil, [people]int{404, 404, 404, 404}}, // there is no such provider
	{"GET", "/users/oidc/none/callback", nil, [people]int{404, 404, 404, 404}},
	{"GET", "/users/oidc/none/sign_out", nil, [people]int{404, 404, 404, 404}},
	{"POST", "/users/oidc/none/logout", nil, [people]int{404, 404, 404, 404}},
	{"POST", "/users/sign_out", nil, [people]int{303, 303, 303, 303}},
}

func TestEachAccountPageChecksWhoMaySeeIt(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, func(c *config.Config) { c.EnableSignups = true })
	for _, other := range []string{"bob@example.com", "mia@example.com"} {
		a.AddAccount(other, servertest.AnnPassword)
	}
	a.SignedIn("mia@example.com", servertest.AnnPassword).EnableMFA()
	pending := a.Browser()
	pending.SignIn("mia@example.com", servertest.AnnPassword).To("/users/sign_in")
	owner := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	who := [people]*servertest.Browser{byAnonymous: a.Browser(), byPending: pending, byOwner: owner, byStranger: a.SignedIn("bob@example.com", servertest.AnnPassword)}
	owner.Post("/users/token", "password", servertest.AnnPassword, "label", "kept", "days", "0").Want(http.StatusCreated)
	totpSecret := owner.Get("/users/mfa").Inner("secret")
	token := owner.Get("/users/token").Inputs("id")[0]
	a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	session := owner.Get("/users/sessions").Inputs("id")[0]
	ids := strings.NewReplacer("PASSWORD", servertest.AnnPassword, "SECRET", totpSecret, "TOKEN", token, "SESSION", session)
	for _, row := range accountMatrix {
		for person, b := range who {
			if row.want[person] == http.StatusSeeOther && person == byOwner && slices.ContainsFunc(row.fields, func(f string) bool { return f == "TOKEN" || f == "SESSION" }) {
				continue // it would end what the stranger must not
			}
			fields := make([]string, len(row.fields))
			for i, f := range row.fields {
				fields[i] = ids.Replace(f)
			}
			got := b.Get
			if row.method == http.MethodPost {
				got = func(path string) servertest.Answer { return b.Post(path, fields...) }
			}
			page := got(row.path)
			if page.Status != row.want[person] {
				t.Errorf("%s %s %v, person %d: %d, not %d: %s", row.method, row.path, row.fields, person, page.Status, row.want[person], page.Body)
			}
			if page.Header.Get("Cache-Control") != "no-store" || page.Status != http.StatusSeeOther && page.Header.Get("Content-Security-Policy") == "" {
				t.Errorf("%s %s: %v", row.method, row.path, page.Header)
			}
		}
		if row.path == "/users/sessions/end" || row.path == "/users/token/revoke" {
			if kept := owner.Get("/users/token").Inputs("id"); !slices.Contains(kept, token) {
				t.Errorf("another account's token was revoked")
			}
			if kept := owner.Get("/users/sessions").Inputs("id"); !slices.Contains(kept, session) {
				t.Errorf("another account's session was ended")
			}
		}
	}
	rows := new(pages.Set).Routes()
	index := func(name string) int {
		return slices.IndexFunc(rows, func(row action.Route) bool { return row.Name == name })
	}
	for _, row := range rows[index("sign_in_form") : index("log_lines")+1] {
		if !strings.Contains(a.Log.String(), `"route":"`+row.Name+`"`) {
			t.Errorf("the matrix does not have the route %s", row.Name)
		}
	}
}

func TestFormsOfOtherSitesAreRefused(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t)
	b := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	form := func(header, value string) http.Header {
		return http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, header: {value}}
	}
	token := a.Create(`"payload":"x"`)
	before, paths := a.Trace(token), []string{"/", "/p/" + token, "/p/" + token + "/expire"}
	for _, row := range accountMatrix {
		if row.method == http.MethodPost && !slices.Contains(paths, row.path) {
			paths = append(paths, row.path)
		}
	}
	for _, path := range paths {
		for _, header := range []http.Header{
			form("Sec-Fetch-Site", "cross-site"), form("Sec-Fetch-Site", "same-site"), form("Origin", "https://evil.example"), form("Origin", "null"),
		} {
			b.Do(http.MethodPost, path, "", header).Want(http.StatusForbidden).Says("from a page of another site")
		}
	}
	if after := a.Trace(token); after != before {
		t.Errorf("%v became %v", before, after)
	}
	b.Get("/users/sessions").Want(http.StatusOK)
	for _, header := range []http.Header{form("Sec-Fetch-Site", "same-origin"), form("Sec-Fetch-Site", "none"), form("Origin", a.URL)} {
		b.Do(http.MethodPost, "/p/"+token, "", header).Want(http.StatusOK)
	}
	b.Do(http.MethodPost, "/users/sign_out", "", form("Origin", a.URL)).To("/users/sign_in")
}

// The second factor's secret, API tokens and recovery codes are each on one page only.
// No page has a password or a code that a user typed, and no log has any of these.
func TestPagesAndLogsKeepSecrets(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, func(c *config.Config) { c.EnableSignups = true })
	b := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	const wrong, changed = "canary wrong password", "canary changed password"
	b.SignIn(servertest.AnnEmail, wrong).Want(http.StatusForbidden)
	b = a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	first := b.Session()
	token := b.Post("/users/token", "password", servertest.AnnPassword, "label", "x", "days", "0").Want(http.StatusCreated).Inner("token")
	b.Get("/users/token").Want(http.StatusOK)
	b.Post("/users/password", "old", wrong, "new", changed, "again", changed).Want(http.StatusForbidden)
	b.Post("/users/password", "old", servertest.AnnPassword, "new", changed, "again", wrong).Want(http.StatusUnprocessableEntity)
	b.Post("/users/password", "old", servertest.AnnPassword, "new", "short", "again", "short").Want(http.StatusUnprocessableEntity)
	b.Post("/users/password", "old", servertest.AnnPassword, "new", changed, "again", changed).To("/users/password")
	totpSecret, recovery := b.EnableMFAWith(changed)
	b.Get("/users/mfa")
	b.Post("/users/sign_up", "email", "x", "password", wrong).Want(http.StatusUnprocessableEntity)
	b.SignIn(servertest.AnnEmail, changed).To("/users/sign_in")
	b.Post("/users/sign_in/code", "code", "canary-code").Want(http.StatusForbidden)
	b.Post("/users/sign_in/code", "code", recovery[0]).To("/")
	for _, path := range []string{"/users/sessions", "/users/token", "/users/password", "/users/mfa", "/users/first/canary-first"} {
		b.Get(path)
	}
	pages := strings.Join(b.Seen, "\n")
	for name, c := range map[string]struct {
		text  string
		times int
	}{
		"the password": {servertest.AnnPassword, 0}, "a wrong one": {wrong, 0}, "the new one": {changed, 0}, "a wrong code": {"canary-code", 0},
		"a session": {first, 0}, "the next session": {b.Session(), 0}, "the code of the first account": {"canary-first", 0},
		"the token": {token, 1}, "a recovery code": {recovery[0], 1}, "the second factor's secret": {totpSecret, 2},
	} {
		if got := strings.Count(pages, c.text); got != c.times || c.text == "" {
			t.Errorf("%s: %d times, not %d", name, got, c.times)
		}
		if strings.Contains(a.Log.String(), c.text) {
			t.Errorf("%s is in the log", name)
		}
	}
}
