package server_test

import (
	"net/http"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/server/servertest"
)

func TestALinkThatIsGoneSaysWhyAndWhatToDo(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	a.Get("/p/"+strings.Repeat("a", 34)+"/r").Want(http.StatusNotFound).Page().
		Has("This link no longer works", "as often as allowed", "expired or was deleted", "incomplete", "Could you send me a new one?")
}

func TestTheLanguageCanBeChosenOnErrorsAndAfterForms(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	protected := "/p/" + a.Create(`"payload":"x","passphrase":"open sesame"`)
	chooser := func(p servertest.Page) bool {
		return len(p.Find(func(n servertest.Node) bool { return servertest.Attr(n, "hreflang") == "de" })) == 1
	}
	for name, test := range map[string]struct {
		page servertest.Page
		want bool
	}{
		"an unknown push":    {a.Get("/p/" + strings.Repeat("a", 34)).Page(), true},
		"a wrong passphrase": {a.Send(protected, map[string]string{"passphrase": "wrong"}).Page(), true},
		"a wrong sign-in":    {a.Send("/users/sign_in", map[string]string{"email": "eve@example.com", "password": "no"}).Page(), true},
		"an opened push":     {a.Send("/p/"+a.Create(`"payload":"x"`), nil).Page(), false},
		"a form with errors": {a.SendForm(map[string]string{"kind": "text", "payload": ""}).Want(http.StatusUnprocessableEntity).Page(), false},
	} {
		if chooser(test.page) != test.want {
			t.Errorf("%s: %v", name, !test.want)
		}
	}
	a.Get(protected+"?lang=de", servertest.Visit).Want(http.StatusOK).Page().Has("Passphrase", "Öffnen")
}

func TestAnUnknownAddressKnowsWhoIsSignedIn(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t)
	b := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	b.Get("/nowhere").Want(http.StatusNotFound).Says(servertest.AnnEmail)
}

func TestThereIsAnIconWhereProgramsLookForIt(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"", "/push"} {
		a := servertest.New(t, func(c *config.Config) { c.BasePath = base })
		at := a.Get(base + "/favicon.ico").Want(http.StatusSeeOther).Header.Get("Location")
		if got := a.Get(at).Want(http.StatusOK); got.Header.Get("Content-Type") != "image/png" {
			t.Errorf("%s: %v", at, got.Header)
		}
	}
}
