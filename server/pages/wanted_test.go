package pages_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/server/servertest"
)

func TestSigningInLeadsToThePageThatWasWanted(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t)
	log := "/p/" + a.Mine(a.Actor(servertest.AnnEmail)).Token.Reveal() + "/audit"
	for asked, want := range map[string]string{
		log: log, log + "?page=2": log + "?page=2", "/p": "/p", "/p?state=expired&q=a%26b": "/p?q=a%26b&state=expired", "/users/token": "/users/token",
		log + ".csv": "/", "/": "/", "/users/sign_in": "/", "/p?q=" + strings.Repeat("x", 2000): "/", "//evil.example/users/token": "/", "/p//": "/",
	} {
		b := a.Browser()
		sent := b.Get(asked)
		if sent.Status == http.StatusSeeOther {
			sent.To("/users/sign_in")
		}
		form := b.Get("/users/sign_in").Want(http.StatusOK)
		if form.Shows("Sign in to see this.") != (want != "/") {
			t.Errorf("%s: whether the form says why: %v", asked, want == "/")
		}
		b.SignIn(servertest.AnnEmail, "not the password").Want(http.StatusForbidden)
		b.SignIn(servertest.AnnEmail, servertest.AnnPassword).To(want)
		if b.Cookies["wanted"] != "" {
			t.Errorf("%s: it stays wanted", asked)
		}
	}
}

func TestASignInForFilesLeadsBackToThem(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t)
	b := a.Browser()
	at := b.Get("/").Page().Find(func(n servertest.Node) bool { return strings.Contains(servertest.Attr(n, "href"), "kind=file") })
	if len(at) != 1 {
		t.Fatalf("%d links", len(at))
	}
	b.Get(servertest.Attr(at[0], "href")).Want(http.StatusOK).Says("Sign in to send files.")
	b.SignIn(servertest.AnnEmail, "not the password").Want(http.StatusForbidden).Says("Sign in to send files.")
	b.SignIn(servertest.AnnEmail, servertest.AnnPassword).To("/?kind=file")
	if form := b.Get("/?kind=file").Want(http.StatusOK); !strings.Contains(form.Tag("kind-file"), " checked") || strings.Contains(form.Tag("kind-text"), " checked") {
		t.Error("another kind is chosen")
	}
	if form := b.Get("/?kind=unknown").Want(http.StatusOK); !strings.Contains(form.Tag("kind-text"), " checked") {
		t.Error("no kind is chosen")
	}
}

func TestNoCookieLeadsASignInElsewhere(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t)
	for _, path := range []string{
		"//evil.example", "//p", "/\\evil.example", "\\\\evil.example", "https://evil.example/p", "/%2f%2fevil.example", "/%5cevil.example", "//evil.example/..%2fp",
		"/p/../../evil", "/./p", "/p\r\nSet-Cookie: a=b", "/p\t", "/p@evil.example", "/@evil.example", "javascript:alert(1)", "p", "", "/?kind=file&x=y", "/?kind=text", "?", "?//evil.example", "/p#x",
		"/users/sign_out", "/users/pushes/delete", "/assets/app.js", "/api/v2/pushes/active", "/healthz", "/p/x/preview", "/nowhere", "/p;evil", "/P",
	} {
		b := a.Browser()
		b.Cookies["wanted"] = base64.RawURLEncoding.EncodeToString([]byte(path))
		if at := b.SignIn(servertest.AnnEmail, servertest.AnnPassword).Want(http.StatusSeeOther).Header.Get("Location"); at != "/" {
			t.Errorf("%q leads to %s", path, at)
		}
	}
	for value, want := range map[string]string{"/p?q=//evil.example%0d%0a": "/p?q=%2F%2Fevil.example%0D%0A", "/p?\\\\evil": "/p?%5C%5Cevil=", "/p?%": "/p"} {
		b := a.Browser()
		b.Cookies["wanted"] = base64.RawURLEncoding.EncodeToString([]byte(value))
		b.SignIn(servertest.AnnEmail, servertest.AnnPassword).To(want)
	}
	b := a.Browser()
	b.Cookies["wanted"] = "/p"
	b.SignIn(servertest.AnnEmail, servertest.AnnPassword).To("/")
}

func TestOnlyAGetIsWanted(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t)
	b := a.Browser()
	b.Post("/users/token/revoke", "id", "1").To("/users/sign_in")
	b.Do(http.MethodHead, "/p", "", http.Header{}).To("/users/sign_in")
	if len(b.Cookies) > 0 {
		t.Errorf("it is wanted: %v", b.Cookies)
	}
	c := b.Get("/p").To("/users/sign_in").Cookies()
	if len(c) != 1 || c[0].Name != "wanted" || !c[0].HttpOnly || c[0].SameSite != http.SameSiteLaxMode || c[0].MaxAge != 600 {
		t.Errorf("%v", c)
	}
}

func TestWhatIsWantedLiesBelowTheBasePath(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, func(c *config.Config) { c.BasePath = "/tools/push" })
	b := a.Browser()
	b.Get("/tools/push/p?state=expired").To("/tools/push/users/sign_in")
	b.Post("/tools/push/users/sign_in", "email", servertest.AnnEmail, "password", servertest.AnnPassword).To("/tools/push/p?state=expired")
	b = a.Browser()
	b.Cookies["wanted"] = base64.RawURLEncoding.EncodeToString([]byte("/tools/push/p"))
	b.Post("/tools/push/users/sign_in", "email", servertest.AnnEmail, "password", servertest.AnnPassword).To("/tools/push/")
}

func TestWhatIsWantedOutlastsTheSecondFactor(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t)
	totp, _ := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword).EnableMFA()
	b := a.Browser()
	b.Get("/users/sessions").To("/users/sign_in")
	b.SignIn(servertest.AnnEmail, servertest.AnnPassword).To("/users/sign_in")
	b.Post("/users/sign_in/code", "code", a.Code(totp, 1)).To("/users/sessions")
}
