package server_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"pushbox/config"
)

// Who asks, in the matrix of the pages of accounts.
const (
	byNobody  = iota
	byPending // the password was right, no code came yet
	byOwner
	byStranger // somebody else who is signed in
	people
)

// accountMatrix says what each of them gets. SECRET is one that the second factor
// may have, TOKEN an API token of the owner, SESSION a session of theirs.
var accountMatrix = []struct {
	method, path string
	fields       []string
	want         [people]int
}{
	{"GET", "/users/sign_in", nil, [people]int{200, 200, 303, 303}},
	{"POST", "/users/sign_in", []string{"email", annEmail, "password", "wrong"}, [people]int{403, 403, 403, 403}},
	{"POST", "/users/sign_in", nil, [people]int{403, 403, 403, 403}},
	{"POST", "/users/sign_in/code", []string{"code", "wrong"}, [people]int{303, 403, 303, 303}},
	{"GET", "/users/sign_up", nil, [people]int{200, 200, 200, 200}},
	{"POST", "/users/sign_up", nil, [people]int{422, 422, 422, 422}},
	{"GET", "/users/first/" + firstCode, nil, [people]int{404, 404, 404, 404}},
	{"POST", "/users/first/" + firstCode, nil, [people]int{404, 404, 404, 404}},
	{"GET", "/users/token", nil, [people]int{303, 303, 200, 200}},
	{"POST", "/users/token", []string{"label", "x", "days", "30"}, [people]int{303, 303, 201, 201}},
	{"POST", "/users/token/revoke", []string{"id", "TOKEN"}, [people]int{303, 303, 303, 303}},
	{"GET", "/users/password", nil, [people]int{303, 303, 200, 200}},
	{"POST", "/users/password", []string{"old", "wrong", "new", "a new password", "again", "a new password"}, [people]int{303, 303, 403, 403}},
	{"GET", "/users/sessions", nil, [people]int{303, 303, 200, 200}},
	{"POST", "/users/sessions/end", []string{"id", "SESSION"}, [people]int{303, 303, 303, 303}},
	{"GET", "/users/mfa", nil, [people]int{303, 303, 200, 200}},
	{"POST", "/users/mfa", []string{"password", "PASSWORD", "secret", "SECRET", "code", "wrong"}, [people]int{303, 303, 403, 403}},
	{"POST", "/users/mfa", []string{"password", "PASSWORD", "secret", "x", "code", "wrong"}, [people]int{303, 303, 422, 422}},
	{"POST", "/users/mfa/off", []string{"password", "wrong"}, [people]int{303, 303, 403, 403}},
	{"POST", "/users/mfa/codes", []string{"password", "wrong"}, [people]int{303, 303, 303, 303}}, // they have none
	{"POST", "/users/sign_out", nil, [people]int{303, 303, 303, 303}},
}

func TestEachPageOfAccountsIsForWhomItIs(t *testing.T) {
	t.Parallel()
	a := newSite(t, func(c *config.Config) { c.EnableSignups = true })
	for _, other := range []string{"bob@example.com", "mia@example.com"} {
		a.person(other, annPassword)
	}
	a.signedIn("mia@example.com", annPassword).enableMFA()
	pending := a.browser()
	pending.signIn("mia@example.com", annPassword).to("/users/sign_in")
	owner := a.signedIn(annEmail, annPassword)
	who := [people]*browser{byNobody: a.browser(), byPending: pending, byOwner: owner, byStranger: a.signedIn("bob@example.com", annPassword)}
	owner.post("/users/token", "label", "kept", "days", "0").want(http.StatusCreated)
	totpSecret := owner.get("/users/mfa").inner("secret")
	token := owner.get("/users/token").inputs("id")[0]
	a.signedIn(annEmail, annPassword)
	session := owner.get("/users/sessions").inputs("id")[0]
	ids := strings.NewReplacer("PASSWORD", annPassword, "SECRET", totpSecret, "TOKEN", token, "SESSION", session)
	for _, row := range accountMatrix {
		for person, b := range who {
			if row.want[person] == http.StatusSeeOther && person == byOwner && slices.ContainsFunc(row.fields, func(f string) bool { return f == "TOKEN" || f == "SESSION" }) {
				continue // it would end what the stranger must not
			}
			fields := make([]string, len(row.fields))
			for i, f := range row.fields {
				fields[i] = ids.Replace(f)
			}
			got := b.get
			if row.method == http.MethodPost {
				got = func(path string) answer { return b.post(path, fields...) }
			}
			page := got(row.path)
			if page.status != row.want[person] {
				t.Errorf("%s %s %v, person %d: %d, not %d: %s", row.method, row.path, row.fields, person, page.status, row.want[person], page.body)
			}
			if page.header.Get("Cache-Control") != "no-store" || page.status != http.StatusSeeOther && page.header.Get("Content-Security-Policy") == "" {
				t.Errorf("%s %s: %v", row.method, row.path, page.header)
			}
		}
		if row.path == "/users/sessions/end" || row.path == "/users/token/revoke" {
			if kept := owner.get("/users/token").inputs("id"); !slices.Contains(kept, token) {
				t.Errorf("somebody else's token was revoked")
			}
			if kept := owner.get("/users/sessions").inputs("id"); !slices.Contains(kept, session) {
				t.Errorf("somebody else's session was ended")
			}
		}
	}
	names := a.handler.RouteNames(true)
	first, last := slices.Index(names, "sign_in_form"), slices.Index(names, "mfa_codes")
	for _, name := range names[first : last+1] {
		if !strings.Contains(a.log.String(), `"route":"`+name+`"`) {
			t.Errorf("the matrix does not have the route %s", name)
		}
	}
}

func TestFormsOfOtherSitesAreRefused(t *testing.T) {
	t.Parallel()
	a := newSite(t)
	b := a.signedIn(annEmail, annPassword)
	form := func(header, value string) http.Header {
		return http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, header: {value}}
	}
	seen := make(map[string]bool)
	for _, row := range accountMatrix {
		if row.method != http.MethodPost || seen[row.path] {
			continue
		}
		seen[row.path] = true
		for _, header := range []http.Header{
			form("Sec-Fetch-Site", "cross-site"), form("Sec-Fetch-Site", "same-site"), form("Origin", "https://evil.example"), form("Origin", "null"),
		} {
			b.do(http.MethodPost, row.path, "", header).want(http.StatusForbidden).says("from a page of another site")
		}
	}
	b.get("/users/sessions").want(http.StatusOK)
	b.do(http.MethodPost, "/users/sign_out", "", form("Origin", a.url)).to("/users/sign_in")
}

// The second factor's secret, tokens and recovery codes are shown by one page
// each; what people type is shown by none, and nothing of all that is logged.
func TestPagesAndLogsKeepSecrets(t *testing.T) {
	t.Parallel()
	a := newSite(t, func(c *config.Config) { c.EnableSignups = true })
	b := a.signedIn(annEmail, annPassword)
	const wrong, changed = "canary wrong password", "canary changed password"
	b.signIn(annEmail, wrong).want(http.StatusForbidden)
	b = a.signedIn(annEmail, annPassword)
	first := b.session()
	token := b.post("/users/token", "label", "x", "days", "0").want(http.StatusCreated).inner("token")
	b.get("/users/token").want(http.StatusOK)
	b.post("/users/password", "old", wrong, "new", changed, "again", changed).want(http.StatusForbidden)
	b.post("/users/password", "old", annPassword, "new", changed, "again", wrong).want(http.StatusUnprocessableEntity)
	b.post("/users/password", "old", annPassword, "new", "short", "again", "short").want(http.StatusUnprocessableEntity)
	b.post("/users/password", "old", annPassword, "new", changed, "again", changed).to("/users/password?done=1")
	totpSecret, recovery := b.enableMFAWith(changed)
	b.get("/users/mfa")
	b.post("/users/sign_up", "email", "x", "password", wrong).want(http.StatusUnprocessableEntity)
	b.signIn(annEmail, changed).to("/users/sign_in")
	b.post("/users/sign_in/code", "code", "canary-code").want(http.StatusForbidden)
	b.post("/users/sign_in/code", "code", recovery[0]).to("/")
	for _, path := range []string{"/users/sessions", "/users/token", "/users/password", "/users/mfa", "/users/first/" + firstCode} {
		b.get(path)
	}
	pages := strings.Join(b.seen, "\n")
	for name, c := range map[string]struct {
		text  string
		times int
	}{
		"the password": {annPassword, 0}, "a wrong one": {wrong, 0}, "the new one": {changed, 0}, "a wrong code": {"canary-code", 0},
		"a session": {first, 0}, "the next session": {b.session(), 0}, "the code of the first account": {firstCode, 0},
		"the token": {token, 1}, "a recovery code": {recovery[0], 1}, "the second factor's secret": {totpSecret, 2},
	} {
		if got := strings.Count(pages, c.text); got != c.times || c.text == "" {
			t.Errorf("%s: %d times, not %d", name, got, c.times)
		}
		if strings.Contains(a.log.String(), c.text) {
			t.Errorf("%s is in the log", name)
		}
	}
}
