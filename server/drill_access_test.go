package server_test

import (
	"net/http"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/secret"
	"pushbox/store"
)

// GHSA-jf2m-hpj9-4qx2, Password Pusher 1.45.11 to 2.9.5: who may delete was found
// by comparing the push's owner with the caller, and no owner was equal to no
// caller, so that everybody with the link could end a push of which its sender said
// that no viewer may.
func drillNobodysPush(t *testing.T) {
	a := newAPI(t)
	stranger, _ := a.signIn("stranger@example.com")
	token := a.create(`"payload":"inside it","deletable_by_viewer":false`)
	a.attackPush(token, stranger, a.user("ann@example.com"), nil)
	a.get(pushes + "/" + token).want(http.StatusOK).has(map[string]string{"payload": "inside it"})
	free := a.create(`"payload":"x","deletable_by_viewer":true`)
	a.do("DELETE", pushes+"/"+free, "").want(http.StatusOK).has(map[string]string{"deleted": "true"})
}

// attackPush tries to end, edit or learn of a push as each of the callers, and
// fails the test if any of it does.
func (a *api) attackPush(token string, callers ...http.Header) {
	a.t.Helper()
	before := a.trace(token)
	for n, caller := range callers {
		for _, r := range []struct{ method, path, body string }{
			{"DELETE", pushes + "/" + token, ""},
			{"DELETE", pushes + "/" + token + ".json", ""},
			{"DELETE", pushes + "/" + strings.ToUpper(token), ""},
			{"POST", "/p/" + token + "/expire", "_method=delete"},
			{"POST", "/p/" + token + "/edit", "days=1&views=1"},
			{"GET", pushes + "/" + token + "/audit", ""},
			{"GET", "/p/" + token + "/audit", ""},
			{"GET", "/p/" + token + "/audit.csv", ""},
		} {
			got := a.do(r.method, r.path, r.body, urlencoded, caller)
			if got.status < 300 || got.status >= 500 || strings.Contains(got.body, "creation") {
				a.t.Errorf("caller %d, %s %s: %d", n, r.method, strings.Replace(r.path, token, "TOKEN", 1), got.status)
			}
		}
	}
	if after := a.trace(token); after != before {
		a.t.Errorf("%v became %v", before, after)
	}
}

// GHSA-j6jp-78w8-34x6, Gokapi before 2.2.4: replacing a file took the right to see
// it for the right to delete it. Whoever has a link here may see, too.
func drillPushOfAnother(t *testing.T) {
	a := newAPI(t)
	owner, by := a.signIn("owner@example.com")
	stranger, _ := a.signIn("stranger@example.com")
	mallory := a.user("mallory@example.com")
	token := a.mine(by, called("mine"), func(in *store.NewPush) { in.DeletableByViewer = new(false) }).Token.Reveal()
	a.get(pushes+"/"+token, mallory).want(http.StatusOK).has(map[string]string{"payload": "x"})
	a.attackPush(token, stranger, mallory, nil)
	// What a new push says of another one is nothing to that one.
	before := a.trace(token)
	made := a.do("POST", pushes, `{"push":{"payload":"y","url_token":"`+token+`","id":"`+token+`","replace":"`+token+`","owner":1,"deleteNewFile":true},"url_token":"`+token+`"}`, mallory).want(http.StatusCreated)
	if made.text("url_token") == token || a.trace(token) != before {
		t.Error("it was replaced")
	}
	a.sendOwn("/p/"+token+"/expire", nil, owner).want(http.StatusOK)
	if a.trace(token).state == store.Live {
		t.Error("the owner cannot end it")
	}
}

// GHSA-qfh8-f79c-x86c, Password Pusher before 1.69.3 and 2.4.2: files are for those
// who are signed in, but a general path for creating took them from anybody.
func drillFilesOfNobody(t *testing.T) {
	a := newAPI(t)
	ann := a.user("ann@example.com")
	files := []file{{"f", "text/plain", []byte("x")}}
	for name, body := range fileKinds {
		for _, fields := range []map[string]string{nil, {"kind": "file"}, {"payload": "x"}} { // with an account each makes a push
			media, all := body(filePush{before: fields, files: files})
			for _, path := range []string{
				pushes, pushes + ".json", "/", "/p", "/p.json", "/f", "/f.json", "/r.json", "/pushes.json", "/api/v1/pushes", "/api/v2/p", "/api/v2/files", "/api/v2/pushes/file",
			} {
				got := a.do("POST", path, all, http.Header{"Content-Type": {media}})
				if got.status < 300 || got.status >= 500 || strings.Contains(got.body, "url_token") {
					t.Errorf("%s to %s: %d %.200s", name, path, got.status, got.body)
				}
			}
		}
	}
	if n := a.store.Orphans(); n > 0 {
		t.Errorf("chunks of %d uploads are there", n)
	}
	for _, body := range fileKinds {
		media, all := body(filePush{files: files})
		a.post(media, all, ann).want(http.StatusCreated).has(map[string]string{"kind": "file"})
	}
}

// GHSA-c36c-7pc2-f2ph, Gokapi before 2.2.3: a stream of how far uploads are told
// every account the names of all files, and with them what opens them.
func drillUploadsOfOthers(t *testing.T) {
	a := newAPI(t)
	owner, by := a.signIn("owner@example.com")
	stranger, _ := a.signIn("stranger@example.com")
	mallory := a.user("mallory@example.com")
	p := a.pushNamed("owner@example.com", func(in *store.NewPush, u *store.Upload) {
		u.Describe("plans.pdf", "application/pdf")
		in.Name = secret.New("the-plans")
	}, []byte("x"))
	grant := p.grant()
	secrets := []string{p.token.Reveal(), grant, "plans.pdf", "the-plans"}
	upload := a.dial(declared(multi.Get("Content-Type"), 1<<20, a.tokenOf(by)), "--b\r\nContent-Disposition: form-data; name=\"push[files][]\"; filename=\"plans.pdf\"\r\n\r\nabc")
	defer upload.Close()
	for _, path := range []string{
		"/", "/p", "/p?q=plans", "/p?state=expired", "/users/sessions", "/users/token", "/uploadStatus", "/healthz", "/help/api",
		pushes + "/active", pushes + "/expired", "/api/v2/version", "/api/v2/openapi", "/d/" + strings.Repeat("a", len(grant)) + "/1",
	} {
		for _, caller := range []http.Header{nil, stranger, mallory} {
			got := a.get(path, caller)
			for _, s := range secrets {
				if strings.Contains(got.body, s) {
					t.Errorf("%s tells %q", path, s)
				}
			}
		}
	}
	if list := a.get("/p", owner).want(http.StatusOK); !list.shows("the-plans") || !list.shows(p.token.Reveal()) {
		t.Error("the owner does not see it either")
	}
}

// tokenOf is the header of a new API token of whoever acts.
func (a *api) tokenOf(by store.Actor) http.Header {
	a.t.Helper()
	accounts, err := a.store.Accounts(ctx)
	if err != nil {
		a.t.Fatal(err)
	}
	for _, account := range accounts {
		if account.ID == by.Account {
			token, err := a.store.CreateToken(ctx, account.Email, "", 0)
			if err != nil {
				a.t.Fatal(err)
			}
			return bearer(token.Secret.Reveal())
		}
	}
	a.t.Fatal("there is no such account")
	return nil
}

// GHSA-q658-hfpg-35qc, Gokapi before 2.2.3: whoever lost a rank kept it in the API
// keys that were made before.
func drillTokenOfALostAccount(t *testing.T) {
	for name, lose := range map[string]func(a *api) error{
		"disabled": func(a *api) error { return a.store.SetDisabled(ctx, annEmail, true) },
		"removed":  func(a *api) error { return a.store.RemoveAccount(ctx, annEmail) },
	} {
		a := newSite(t)
		b := a.signedIn(annEmail, annPassword)
		key := bearer(b.post("/users/token", "days", "0").want(http.StatusCreated).inner("token"))
		token := a.create(`"payload":"x"`, key)
		a.get(pushes+"/active", key).want(http.StatusOK)
		if err := lose(a); err != nil {
			t.Fatal(err)
		}
		for _, r := range []struct{ method, path, body string }{
			{"GET", pushes + "/active", ""},
			{"GET", pushes + "/" + token + "/audit", ""},
			{"GET", pushes + "/" + token, ""},
			{"POST", pushes, `{"push":{"payload":"x"}}`},
			{"POST", pushes, `{"push":{"payload":"x","files":[]}}`},
			{"DELETE", pushes + "/" + token, ""},
		} {
			if got := a.do(r.method, r.path, r.body, key); got.status != http.StatusUnauthorized {
				t.Errorf("%s: %s %s is answered with %d", name, r.method, r.path, got.status)
			}
		}
		b.get("/users/token").to("/users/sign_in")
	}
}

// GHSA-m2hx-wjxc-9fp4, Gokapi before 2.2.3: a session could get a key that may do
// what its user may not. Here a token would do without the second factor that a
// session still lacks.
func drillTokenBeyondItsSession(t *testing.T) {
	a := newSite(t, func(c *config.Config) { c.RequireMFA = true })
	b := a.signedIn(annEmail, annPassword)
	b.post("/users/token", "label", "x", "days", "0").to("/users/mfa")
	totpSecret, _ := b.enableMFA()
	pending := a.browser()
	pending.signIn(annEmail, annPassword).to("/users/sign_in")
	pending.post("/users/token", "label", "x", "days", "0").to("/users/sign_in")
	pending.get("/users/token").to("/users/sign_in")
	pending.post("/users/sign_in/code", "code", a.code(totpSecret, 0)).to("/")
	if !pending.get("/users/token").want(http.StatusOK).shows("You have none.") {
		t.Error("there is a token")
	}
	pending.post("/users/token", "label", "x", "days", "0").want(http.StatusCreated)
}
