package pages_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/testkit/env"
	"pushbox/server/servertest"
)

func TestALinkThatIsGoneSaysWhyAndWhatToDo(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	a.Get("/p/"+strings.Repeat("a", 34)+"/r").Want(http.StatusNotFound).Page().
		Has("This link no longer works", "as often as allowed", "expired or was deleted", "incomplete", "Could you send me a new one?")
	for _, path := range []string{"/nothing", "/users/nothing"} {
		a.Get(path).Want(http.StatusNotFound).Says("There is no such page").Lacks("This link no longer works")
	}
}

// A page that was asked for can be asked for again; what was sent leads back to its form.
func TestTooManyRequestsSayWhenToTryAgain(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) { c.Limits.AnonymousPerMinute = 1 })
	a.Get("/nowhere", servertest.Far(1)).Want(http.StatusNotFound)
	for method, back := range map[string]bool{"GET": false, "POST": true} {
		page := a.Do(method, "/nowhere", "", servertest.Far(1)).Want(http.StatusTooManyRequests)
		again := page.Tag("again")
		if again == "" || strings.Contains(again, "data-back hidden") != back || strings.Contains(page.Body, "Go back in your browser") != back || page.Tag("wait") == "" {
			t.Errorf("%s: %q, %s", method, again, page.Body)
		}
	}
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
		"a form with errors": {a.SendForm(map[string]string{"kind": "text", "payload": ""}).Want(http.StatusUnprocessableEntity).Page(), true},
	} {
		if chooser(test.page) != test.want {
			t.Errorf("%s: %v", name, !test.want)
		}
	}
	a.Get(protected+"?lang=de", servertest.Visit).Want(http.StatusOK).Page().Has("Passphrase", "Öffnen")
}

func TestChoosingALanguageKeepsWhatWasTyped(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, func(c *config.Config) { c.EnableRequests = true })
	b := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	asked := b.Post("/requests/new", "text", "a key", "expire_after_duration", "12", "max_answers", "1", "kinds", "text", "answer_expire_after_duration", "12").Want(http.StatusSeeOther)
	link := b.Get(asked.Header.Get("Location")).Page().ID("link")
	path, err := url.Parse(servertest.Attr(link, "value"))
	env.OK(t, err)
	inNewTab := func(p servertest.Page) bool {
		links := p.Find(func(n servertest.Node) bool { return servertest.Attr(n, "hreflang") == "de" })
		return len(links) == 1 && servertest.Attr(links[0], "target") == "_blank" && servertest.Attr(links[0], "href") == "?lang=de"
	}
	for name, test := range map[string]struct {
		page servertest.Answer
		want bool
	}{
		"an empty form":               {b.Get("/"), false},
		"a wrong form":                {b.Post("/", "push[kind]", "text", "push[payload]", ""), true},
		"a wrong form of a request":   {b.Post("/requests/new", "text", ""), true},
		"a wrong answer to a request": {b.Post(path.Path, "push[payload]", " "), true},
		"a wrong sign-in":             {a.Browser().SignIn("eve@example.com", "no"), false},
	} {
		if inNewTab(test.page.Page()) != test.want {
			t.Errorf("%s: %v", name, !test.want)
		}
	}
}

func TestSizesAreInTheLanguageOfThePage(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	for tag, want := range map[string]string{"en": "1.5\u00a0KiB", "de": "1,5\u00a0KiB", "fr": "1,5\u00a0Kio", "ja": "1.5\u00a0KiB"} {
		p := a.PushFiles("ann@example.com", make([]byte, 1536))
		page := a.Send("/p/"+p.Token.Reveal(), nil, http.Header{"Accept-Language": {tag}}).Want(http.StatusOK)
		if !page.Shows(want) {
			t.Errorf("%s: no %q", tag, want)
		}
	}
	form := a.Get("/?kind=file", a.AddSessionUser("bob@example.com"), http.Header{"Accept-Language": {"fr"}})
	if form.Says("1\u00a0Gio").Shows("GiB") {
		t.Error("an English size in French")
	}
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
