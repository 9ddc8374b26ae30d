package pages_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/secret"
	"pushbox/server/servertest"
	"pushbox/store"
)

// freezes lets three wrong passphrases freeze a push.
func freezes(c *config.Config) { c.Limits.PassphrasesPerLife = 3 }

func TestAFrozenPushIsThawedByItsOwner(t *testing.T) {
	t.Parallel()
	for name, thaw := range map[string]func(a *servertest.Server, token string, session, bearer http.Header){
		"on its page": func(a *servertest.Server, token string, session, _ http.Header) {
			a.SendOwn("/p/"+token+"/thaw", nil, session).To("/p/" + token + "/audit")
		},
		"by the API": func(a *servertest.Server, token string, _, bearer http.Header) {
			a.Do(http.MethodPost, pushes+"/"+token+"/thaw", "", bearer).Want(http.StatusOK)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := servertest.New(t, freezes)
			session, bearer := a.AddSessionUser("ann@example.com"), a.AddToken("ann@example.com")
			p := a.Mine(a.Actor("ann@example.com"), func(in *store.NewPush) { in.Passphrase = secret.New("right") })
			token := p.Token.Reveal()
			path := pushes + "/" + token
			a.Get("/p/"+token+"/audit", session).Lacks("frozen", "/thaw")
			for n := range 3 {
				a.Get(path+"?passphrase=wrong", servertest.Far(n)).Want(http.StatusUnauthorized)
			}
			for _, query := range []string{"", "?passphrase=wrong", "?passphrase=right"} {
				if got := a.Get(path+query, servertest.Far(9)).Want(http.StatusForbidden); got.Problem() != "frozen" {
					t.Errorf("%s: %s", query, got.Body)
				}
			}
			a.Get("/p/" + token + "/r").Want(http.StatusOK).Says("This secret is locked")
			a.Send("/p/"+token, map[string]string{"passphrase": "right"}).Want(http.StatusForbidden).Says("This secret is locked")
			a.Get("/p", session).Says("Locked")
			a.Get("/p/"+token+"/audit", session).Says("This secret is locked", "Wrong passphrase; locked after it", ">Unlock<")
			thaw(a, token, session, bearer)
			a.Get("/p/"+token+"/audit", session).Says("Unlocked by you").Lacks(">Unlock<")
			a.Get(path+"?passphrase=right", servertest.Far(9)).Want(http.StatusOK)
		})
	}
}

// Without an account, the receipt is what shows who the sender is.
func TestAFrozenPushIsThawedOnItsReceipt(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, freezes)
	made := a.Send("/", map[string]string{"push[kind]": "text", "push[payload]": "the secret", "push[passphrase]": "right", "push[expire_after_days]": "7", "push[expire_after_views]": "5"})
	receipt := made.Want(http.StatusSeeOther).Header.Get("Location")
	token := a.Get(receipt).Want(http.StatusOK).PushToken()
	path := pushes + "/" + token
	frozen := func() bool { return !strings.Contains(a.Get(receipt).Want(http.StatusOK).Tag("frozen"), " hidden") }
	if frozen() {
		t.Error("it is frozen from the beginning")
	}
	for n := range 3 {
		a.Get(path+"?passphrase=wrong", servertest.Far(n)).Want(http.StatusUnauthorized)
	}
	if got := a.Get(path+"?passphrase=right", servertest.Far(9)).Want(http.StatusForbidden); got.Problem() != "frozen" || !frozen() {
		t.Errorf("after too many: %s", got.Body)
	}
	a.Get(receipt).Says("Wrong passphrase; locked after it")
	for _, thaw := range []string{"/p/" + token + "/receipt/" + strings.Repeat("a", 26) + "/thaw", "/p/" + a.Create(`"payload":"x"`) + receipt[strings.Index(receipt, "/receipt/"):] + "/thaw"} {
		a.Send(thaw, nil).Want(http.StatusNotFound)
	}
	a.Do(http.MethodPost, path+"/thaw", "", a.AddTokenUser("ann@example.com")).Want(http.StatusForbidden)
	if !frozen() {
		t.Error("a stranger has thawed it")
	}
	for range 2 {
		if to := a.Send(receipt+"/thaw", nil).Want(http.StatusSeeOther).Header.Get("Location"); to != receipt || frozen() {
			t.Errorf("its sender thaws it, and is led to %s", to)
		}
	}
	a.Get(receipt).Says("Unlocked by you")
	a.Get(path+"?passphrase=right", servertest.Far(9)).Want(http.StatusOK).Has(map[string]string{"payload": "the secret"})
}

// A browser that was right before opens the push whatever strangers do, from any address.
func TestABrowserThatWasRightIsKnownToThePush(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) { c.Limits.PassphrasesPerPush = 3 })
	token := a.Create(`"payload":"x","passphrase":"right"`)
	path := "/p/" + token
	opened := a.Browser(servertest.Far(1)).Post(path, "passphrase", "right").Want(http.StatusOK)
	var known *http.Cookie
	for _, c := range opened.Cookies() {
		if c.Name == "known" {
			known = c
		}
	}
	if known == nil || known.Path != path || !known.HttpOnly || known.SameSite != http.SameSiteLaxMode || known.MaxAge != 0 || !known.Expires.IsZero() {
		t.Fatalf("the cookie is %v", known)
	}
	for n := range 3 {
		a.Get(pushes+path[2:]+"?passphrase=wrong", http.Header{"X-Forwarded-For": {fmt.Sprintf("198.51.%d.1", n)}}).Want(http.StatusUnauthorized)
	}
	a.Browser(servertest.Far(2)).Post(path, "passphrase", "right").Want(http.StatusTooManyRequests)
	moved := a.Browser(servertest.Far(3))
	moved.Cookies["known"] = known.Value
	moved.Post(path, "passphrase", "right").Want(http.StatusOK)
	for _, c := range a.Browser().Post("/p/" + a.Create(`"payload":"x"`)).Want(http.StatusOK).Cookies() {
		if c.Name == known.Name {
			t.Error("a push without a passphrase has a mark")
		}
	}
}

func TestABrowserThatWasSignedInIsKnownToTheAccount(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, func(c *config.Config) { c.Limits.SignInsPerAccount = 2 })
	b := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword, servertest.Far(1))
	b.Post("/users/sign_out").To("/users/sign_in")
	for n := range 2 {
		a.Browser(servertest.Far(100+n)).SignIn(servertest.AnnEmail, "wrong").Want(http.StatusForbidden)
	}
	a.Browser(servertest.Far(9)).SignIn(servertest.AnnEmail, servertest.AnnPassword).Want(http.StatusTooManyRequests)
	b.SignIn(servertest.AnnEmail, servertest.AnnPassword).To("/")
}
