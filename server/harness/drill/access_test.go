package drill_test

import (
	"net/http"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/server/servertest"
	"pushbox/store"
	"pushbox/store/record"
)

// GHSA-jf2m-hpj9-4qx2, Password Pusher 1.45.11 to 2.9.5: who may delete was found
// by comparing the push's owner with the caller, and no owner was equal to no
// caller, so that anyone with the link could end a push although its sender had
// forbidden viewers to.
func drillAnonymousPush(t *testing.T) {
	a := servertest.New(t)
	stranger := a.AddSessionUser("stranger@example.com")
	token := a.Create(`"payload":"inside it","deletable_by_viewer":false`)
	attackPush(a, token, stranger, a.AddTokenUser("ann@example.com"), nil)
	a.Get(pushes + "/" + token).Want(http.StatusOK).Has(map[string]string{"payload": "inside it"})
	free := a.Create(`"payload":"x","deletable_by_viewer":true`)
	a.Do("DELETE", pushes+"/"+free, "").Want(http.StatusOK).Has(map[string]string{"deleted": "true"})
}

// attackPush tries to end, edit or learn of a push as each of the callers, and
// fails the test if any of it does.
func attackPush(a *servertest.Server, token string, callers ...http.Header) {
	a.T.Helper()
	before := a.Trace(token)
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
			got := a.Do(r.method, r.path, r.body, servertest.Urlencoded, caller)
			if got.Status < 300 || got.Status >= 500 || strings.Contains(got.Body, "creation") {
				a.T.Errorf("caller %d, %s %s: %d", n, r.method, strings.Replace(r.path, token, "TOKEN", 1), got.Status)
			}
		}
	}
	if after := a.Trace(token); after != before {
		a.T.Errorf("%v became %v", before, after)
	}
}

// GHSA-j6jp-78w8-34x6, Gokapi before 2.2.4: to replace a file, and so delete it, the
// right to see it was enough. Here, too, anyone with the link may see a push.
func drillPushOfAnother(t *testing.T) {
	a := servertest.New(t)
	owner, by := a.AddSessionUser("owner@example.com"), a.Actor("owner@example.com")
	stranger := a.AddSessionUser("stranger@example.com")
	mallory := a.AddTokenUser("mallory@example.com")
	token := a.Mine(by, servertest.Called("mine"), func(in *store.NewPush) { in.DeletableByViewer = new(false) }).Token.Reveal()
	a.Get(pushes+"/"+token, mallory).Want(http.StatusOK).Has(map[string]string{"payload": "x"})
	attackPush(a, token, stranger, mallory, nil)
	// What a new push says of another one is nothing to that one.
	before := a.Trace(token)
	made := a.Do("POST", pushes, `{"push":{"payload":"y","url_token":"`+token+`","id":"`+token+`","replace":"`+token+`","owner":1,"deleteNewFile":true},"url_token":"`+token+`"}`, mallory).Want(http.StatusCreated)
	if made.Text("url_token") == token || a.Trace(token) != before {
		t.Error("it was replaced")
	}
	a.SendOwn("/p/"+token+"/expire", nil, owner).Want(http.StatusOK)
	if a.Trace(token).State == record.Live {
		t.Error("the owner cannot end it")
	}
}

// GHSA-qfh8-f79c-x86c, Password Pusher before 1.69.3 and 2.4.2: files need a sign-in,
// but a general path for creating accepted them from anonymous clients.
func drillAnonymousFiles(t *testing.T) {
	a := servertest.New(t)
	ann := a.AddTokenUser("ann@example.com")
	files := []servertest.File{{Name: "f", Media: "text/plain", Content: []byte("x")}}
	for name, body := range servertest.FileKinds {
		for _, fields := range []map[string]string{nil, {"kind": "file"}, {"payload": "x"}} { // with an account each makes a push
			media, all := body(servertest.FilePush{Before: fields, Files: files})
			for _, path := range []string{
				pushes, pushes + ".json", "/", "/p", "/p.json", "/f", "/f.json", "/r.json", "/pushes.json", "/api/v1/pushes", "/api/v2/p", "/api/v2/files", "/api/v2/pushes/file",
			} {
				got := a.Do("POST", path, all, http.Header{"Content-Type": {media}})
				if got.Status < 300 || got.Status >= 500 || strings.Contains(got.Body, "url_token") {
					t.Errorf("%s to %s: %d %.200s", name, path, got.Status, got.Body)
				}
			}
		}
	}
	if n := a.Store.Orphans(); n > 0 {
		t.Errorf("chunks of %d uploads are there", n)
	}
	for _, body := range servertest.FileKinds {
		media, all := body(servertest.FilePush{Files: files})
		a.Post(media, all, ann).Want(http.StatusCreated).Has(map[string]string{"kind": "file"})
	}
}

// GHSA-c36c-7pc2-f2ph, Gokapi before 2.2.3: a stream of how far uploads are told
// every account the names of all files, and with them what opens them.
func drillUploadsOfOthers(t *testing.T) {
	a := servertest.New(t)
	owner, by := a.AddSessionUser("owner@example.com"), a.Actor("owner@example.com")
	stranger := a.AddSessionUser("stranger@example.com")
	mallory := a.AddTokenUser("mallory@example.com")
	p := a.PushNamed("owner@example.com", func(in *store.NewPush, u *store.Upload) {
		u.Describe("plans.pdf", "application/pdf")
		in.Name = secret.New("the-plans")
	}, []byte("x"))
	grant := p.Grant()
	secrets := []string{p.Token.Reveal(), grant, "plans.pdf", "the-plans"}
	upload := a.Dial(servertest.Declared(servertest.Multi.Get("Content-Type"), 1<<20, tokenOf(a, by)), "--b\r\nContent-Disposition: form-data; name=\"push[files][]\"; filename=\"plans.pdf\"\r\n\r\nabc")
	defer upload.Close()
	for _, path := range []string{
		"/", "/p", "/p?q=plans", "/p?state=expired", "/users/sessions", "/users/token", "/uploadStatus", "/healthz", "/help/api",
		pushes + "/active", pushes + "/expired", "/api/v2/version", "/api/v2/openapi", "/d/" + strings.Repeat("a", len(grant)) + "/1",
	} {
		for _, caller := range []http.Header{nil, stranger, mallory} {
			got := a.Get(path, caller)
			for _, s := range secrets {
				if strings.Contains(got.Body, s) {
					t.Errorf("%s tells %q", path, s)
				}
			}
		}
	}
	if list := a.Get("/p", owner).Want(http.StatusOK); !list.Shows("the-plans") || !list.Shows(p.Token.Reveal()) {
		t.Error("the owner does not see it either")
	}
}

// tokenOf returns the header of a new API token of the actor.
func tokenOf(a *servertest.Server, by store.Actor) http.Header {
	a.T.Helper()
	accounts := env.Must(a.Store.Accounts(ctx))(a.T)
	for _, account := range accounts {
		if account.ID == by.Account {
			token := env.Must(a.Store.CreateToken(ctx, store.Actor{Role: store.Operator}, account.Email, store.TokenTerms{}))(a.T)
			return servertest.Bearer(token.Secret.Reveal())
		}
	}
	a.T.Fatal("there is no such account")
	return nil
}

// GHSA-q658-hfpg-35qc, Gokapi before 2.2.3: a user who lost a rank kept it in the API
// keys that were made before.
func drillTokenOfALostAccount(t *testing.T) {
	for name, lose := range map[string]func(a *servertest.Server) error{
		"disabled": func(a *servertest.Server) error {
			return a.Store.SetDisabled(ctx, store.Actor{Role: store.Operator}, servertest.AnnEmail, true)
		},
		"removed": func(a *servertest.Server) error {
			return a.Store.RemoveAccount(ctx, store.Actor{Role: store.Operator}, servertest.AnnEmail)
		},
	} {
		a := servertest.NewSite(t)
		b := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
		key := servertest.Bearer(b.Post("/users/token", "password", servertest.AnnPassword, "days", "0").Want(http.StatusCreated).Inner("token"))
		token := a.Create(`"payload":"x"`, key)
		a.Get(pushes+"/active", key).Want(http.StatusOK)
		env.OK(t, lose(a))
		for _, r := range []struct{ method, path, body string }{
			{"GET", pushes + "/active", ""},
			{"GET", pushes + "/" + token + "/audit", ""},
			{"GET", pushes + "/" + token, ""},
			{"POST", pushes, `{"push":{"payload":"x"}}`},
			{"POST", pushes, `{"push":{"payload":"x","files":[]}}`},
			{"DELETE", pushes + "/" + token, ""},
		} {
			if got := a.Do(r.method, r.path, r.body, key); got.Status != http.StatusUnauthorized {
				t.Errorf("%s: %s %s is answered with %d", name, r.method, r.path, got.Status)
			}
		}
		b.Get("/users/token").To("/users/sign_in")
	}
}

// GHSA-m2hx-wjxc-9fp4, Gokapi before 2.2.3: a session could get a key that may do
// what its user may not. Here a token would do without the second factor that a
// session still lacks.
func drillTokenBeyondItsSession(t *testing.T) {
	a := servertest.NewSite(t, func(c *config.Config) { c.RequireMFA = true })
	b := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	b.Post("/users/token", "password", servertest.AnnPassword, "label", "x", "days", "0").To("/users/mfa")
	totpSecret, _ := b.EnableMFA()
	pending := a.Browser()
	pending.SignIn(servertest.AnnEmail, servertest.AnnPassword).To("/users/sign_in")
	pending.Post("/users/token", "password", servertest.AnnPassword, "label", "x", "days", "0").To("/users/sign_in")
	pending.Get("/users/token").To("/users/sign_in")
	pending.Post("/users/sign_in/code", "code", a.Code(totpSecret, 0)).To("/users/token")
	if !pending.Get("/users/token").Want(http.StatusOK).Shows("No tokens yet.") {
		t.Error("there is a token")
	}
	pending.Post("/users/token", "password", servertest.AnnPassword, "label", "x", "days", "0").Want(http.StatusForbidden)
	pending.Post("/users/token", "password", servertest.AnnPassword, "code", a.Code(totpSecret, 1), "label", "x", "days", "0").Want(http.StatusCreated)
}
