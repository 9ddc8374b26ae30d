package pages_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/server/servertest"
	"pushbox/store"
	"pushbox/store/record"
)

func TestALinkWithoutAStepOpensForAPersonOnly(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		members string
		opens   bool
	}{
		{`"payload":"inside it","retrieval_step":false`, true},
		{`"payload":"inside it","retrieval_step":true`, false},
		{`"payload":"inside it","retrieval_step":false,"passphrase":"p"`, false},
	} {
		a := servertest.New(t)
		token := a.Create(test.members)
		before := a.Trace(token)
		got := a.Get("/p/"+token, servertest.Visit).Want(http.StatusOK).Page()
		opened := strings.Contains(got.Body, "inside it")
		if opened != test.opens || a.Trace(token).Views-before.Views != map[bool]int{true: 1}[opened] {
			t.Errorf("%s: opened %v, %v became %v", test.members, opened, before, a.Trace(token))
		}
		const cookie = "opened=1; Path=/p/"
		if want := cookie + token + "; HttpOnly; SameSite=Lax"; opened && !slices.Contains(got.Header.Values("Set-Cookie"), want) {
			t.Errorf("its cookies are %q", got.Header.Values("Set-Cookie"))
		}
		before = a.Trace(token)
		back := http.Header{"Cookie": {"opened=1"}}
		a.Get("/p/"+token, servertest.Visit, back).Want(http.StatusOK).Page().Lacks("inside it")
		a.Get("/p/"+token+"/r", servertest.Visit).Want(http.StatusOK).Page().Lacks("inside it")
		a.Get("/p/"+token+"?lang=en", servertest.Visit).Want(http.StatusOK).Page().Lacks("inside it")
		a.Do(http.MethodHead, "/p/"+token, "", servertest.Visit).Want(http.StatusOK)
		if after := a.Trace(token); after != before {
			t.Errorf("%s: %v became %v", test.members, before, after)
		}
	}
}

func TestTheCookieOfAnOpeningIsForTheAddressThatTheBrowserHas(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	token := strings.ToUpper(a.Create(`"payload":"x","retrieval_step":false`))
	got := a.Get("/p/"+token, servertest.Visit, http.Header{"X-Forwarded-Proto": {"https"}}).Want(http.StatusOK)
	if want := "__Secure-opened=1; Path=/p/" + token + "; HttpOnly; Secure; SameSite=Lax"; !slices.Contains(got.Header.Values("Set-Cookie"), want) {
		t.Errorf("its cookies are %q", got.Header.Values("Set-Cookie"))
	}
}

func TestUnknownExpiredAndDeletedPushesShareOnePage(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	purged := a.Create(`"payload":"x","expire_after_days":1`)
	a.Store.Clock.Advance(3 * day)
	a.Store.SweepAll()
	late := a.Create(`"payload":"x","expire_after_days":1,"passphrase":"p"`)
	deleted := a.Create(`"payload":"x"`)
	spent := a.Create(`"payload":"x","expire_after_views":1`)
	a.Send("/p/"+spent, nil).Want(http.StatusOK)
	a.Do("DELETE", pushes+"/"+deleted, "").Want(http.StatusOK)
	a.Store.Clock.Advance(day) // and no sweep
	tokens := []string{spent, deleted, late, purged, store.NewToken(a.Store.Clock.Now()).Reveal(), "x", strings.Repeat("0", 34), "%00"}
	for _, language := range []string{"en", "xx"} {
		same := make(map[string]bool)
		for _, token := range tokens {
			a.Store.Clock.Advance(time.Minute) // past the limit of guessing
			header := http.Header{"Accept-Language": {language}}
			for _, got := range []servertest.Answer{a.Get("/p/"+token, header), a.Get("/p/"+token, servertest.Visit, header), a.Get("/p/"+token+"/r", header), a.Send("/p/"+token, nil, header)} {
				got.Want(http.StatusNotFound)
				got.Header.Del("Date")
				same[got.Body+got.Header.Get("Set-Cookie")] = true
			}
		}
		if len(same) != 1 {
			t.Errorf("%d different pages", len(same))
		}
	}
}

func TestOnlyTheButtonOfAnExpiredPushLeavesAnEntry(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	for _, members := range []string{`"payload":"x","expire_after_views":1`, `"payload":"x","expire_after_views":1,"retrieval_step":false`, `"payload":"x","expire_after_days":1,"retrieval_step":false`} {
		token := a.Create(members)
		a.Send("/p/"+token, nil).Want(http.StatusOK)
		a.Store.Clock.Advance(day) // and no sweep
		before := a.Trace(token)
		a.Get("/p/"+token, servertest.Visit).Want(http.StatusNotFound)
		a.Get("/p/" + token).Want(http.StatusNotFound)
		a.Get("/p/" + token + "/r").Want(http.StatusNotFound)
		a.Do(http.MethodHead, "/p/"+token+"/r", "").Want(http.StatusNotFound)
		if after := a.Trace(token); after.Views != before.Views || after.Seq != before.Seq || after.State == record.Live {
			t.Errorf("%s: %v became %v", members, before, after)
		}
		a.Send("/p/"+token, nil).Want(http.StatusNotFound)
		if after := a.Trace(token); after.Seq != before.Seq+1 || after.Views != before.Views {
			t.Errorf("%s: %v became %v", members, before, after)
		}
	}
}

func TestRequestsForUnknownPushesAreLimited(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	token := a.Create(`"payload":"x","expire_after_views":1`)
	a.Send("/p/"+token, nil).Want(http.StatusOK)
	image := http.Header{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Dest": {"image"}}
	for range 30 { // neither counts
		a.Get("/p/" + token + "/r").Want(http.StatusNotFound)
		a.Get("/p/unknown/r", image).Want(http.StatusNotFound)
	}
	click := http.Header{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Dest": {"document"}}
	for range 20 {
		a.Get("/p/unknown/r", click).Want(http.StatusNotFound)
	}
	a.Get("/p/unknown/r").Want(http.StatusTooManyRequests)
	a.Get("/p/" + token + "/r").Want(http.StatusTooManyRequests) // it looks as an unknown one does
	a.Get("/p/unknown/r", image).Want(http.StatusTooManyRequests)
	a.Get("/p/" + a.Create(`"payload":"x"`) + "/r").Want(http.StatusOK)
}

func TestAPeerWhoseForwardingHeadersAreNotBelievedIsToldOfOnce(t *testing.T) {
	t.Parallel()
	told := func(a *servertest.Server) int { return strings.Count(a.Log.String(), "not in trusted_proxies") }
	trusting := servertest.New(t)
	trusting.Get("/healthz", servertest.Far(1))
	a := servertest.New(t, func(c *config.Config) { c.TrustedProxies = nil })
	a.Get("/healthz")
	if told(trusting) != 0 || told(a) != 0 {
		t.Error("a peer without such headers, or a trusted one, is told of")
	}
	for n := range 3 {
		a.Get("/healthz", servertest.Far(n))
	}
	if told(a) != 1 {
		t.Errorf("it is told of %d times", told(a))
	}
}

func TestDeletingOnThePage(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	free, kept := a.Create(`"payload":"x"`), a.Create(`"payload":"x","deletable_by_viewer":false,"expire_after_views":2`)
	got := a.Send("/p/"+free, nil).Want(http.StatusOK).Page().Has("Delete for everyone")
	if want := []string{"post /p/" + free + "/expire"}; !slices.Equal(got.Forms(), want) {
		t.Errorf("forms %v", got.Forms())
	}
	a.Send("/p/"+free+"/expire", nil).Want(http.StatusOK).Page().Has("No one can open this link any more.")
	again, unknown := a.Send("/p/"+free+"/expire", nil), a.Send("/p/"+strings.Repeat("a", len(free))+"/expire", nil)
	if again.Want(http.StatusNotFound).Body != unknown.Want(http.StatusNotFound).Body {
		t.Error("what was deleted is not as what never was")
	}
	if after := a.Trace(free); after.State != record.Deleted {
		t.Errorf("%v", after)
	}
	a.Send("/p/"+kept, nil).Want(http.StatusOK).Page().Lacks("Delete for everyone")
	a.Send("/p/"+kept+"/expire", nil).Want(http.StatusForbidden).Page().Has("This is not yours")
	a.Send("/p/"+kept, nil).Want(http.StatusOK)
	a.Send("/p/"+kept+"/expire", nil).Want(http.StatusNotFound) // as one that never was
	a.Send("/p/"+store.NewToken(a.Store.Clock.Now()).Reveal()+"/expire", nil).Want(http.StatusNotFound)
	a.Get("/p/" + free + "/expire").Want(http.StatusMethodNotAllowed)
}

func TestLinksOfOlderVersionsAreRedirected(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	token := a.Create(`"payload":"x"`)
	for _, test := range []struct{ path, to string }{
		{"/f/" + token, "/p/" + token},
		{"/r/" + token, "/p/" + token},
		{"/f/" + token + "/r", "/p/" + token + "/r"},
		{"/r/" + token + "/r", "/p/" + token + "/r"},
		{"/r/" + strings.ToUpper(token), "/p/" + token},
		{"/r/" + strings.Repeat("a", 34) + "?x=//elsewhere.example", "/p/" + strings.Repeat("a", 34) + "?x=//elsewhere.example"},
		{"/f/abc123", "/p/abc123"},
		{"/r/fK27-v_nslkd/r?passphrase=x&locale=fr", "/p/fk27-v_nslkd/r?passphrase=x&locale=fr"},
		{"/f/" + token + "/passphrase", "/p/" + token + "/r"},
		{"/r/" + token + "/passphrase", "/p/" + token + "/r"},
		{"/p/" + token + "/passphrase", "/p/" + token + "/r"},
		{"/de/p/" + token, "/p/" + token + "?locale=de"},
		{"/en/f/" + token, "/p/" + token + "?locale=en"},
		{"/pt-br/r/" + token + "/r", "/p/" + token + "/r?locale=pt"},
		{"/zh-CN/p/abc123/r?x=1", "/p/abc123/r?x=1&locale=zh"},
		{"/th/p/" + token, "/p/" + token}, // pushbox has no Thai
		{"/api/p/" + token, ""},
		{"/de/q/" + token, ""},
		{"/de/p/" + token + "/audit", "/p/" + token + "/audit?locale=de"},
		{"/de/p/", "/p?locale=de"},
		{"/f/" + strings.Repeat("a", 64), "/p/" + strings.Repeat("a", 64)},
		{"/f/" + strings.Repeat("a", 65), ""},
		{"/f//elsewhere.example", ""},
		{"/f/%5celsewhere.example", ""},
		{"/f/..", ""},
		{"/de/p/a%0d%0ab", ""},
		{"/api_tokens", "/users/token"},
		{"/api?locale=de", "/help/api?locale=de"},
		{"/p/new", "/"},
		{"/p/new?locale=de", "/?locale=de"},
		{"/p/new?tab=files", "/?kind=file&tab=files"},
		{"/p/new?tab=url", "/?kind=url&tab=url"},
		{"/p/new?tab=qr", "/?kind=qr&tab=qr"},
		{"/p/new?tab=//elsewhere.example", "/?tab=//elsewhere.example"},
		{"/f/new", "/?kind=file"},
		{"/r/new", "/?kind=url"},
		{"/de/p/new", "/?locale=de"},
		{"/de/f/new", "/?kind=file&locale=de"},
		{"/p/active", "/p"},
		{"/f/expired", "/p?state=expired"},
		{"/de/r/expired", "/p?state=expired&locale=de"},
		{"/de", "/?locale=de"},
		{"/pt-BR/", "/?locale=pt"},
		{"/th", "/"},
		{"/d-e", ""},
		{"/d1", ""},
		{"/deu", ""},
		{"/de/en", ""},
		{"/de/api", "/help/api?locale=de"},
		{"/de/users/sign_in", "/users/sign_in?locale=de"},
		{"/de/users/sign_up", "/users/sign_up?locale=de"},
		{"/de/users/token", "/users/token?locale=de"},
		{"/users/edit", "/users/account"},
		{"/users/password/new", "/users/sign_in"},
		{"/de/users/password/new", "/users/sign_in?locale=de"},
		{"/pages/about", "/"},
		{"/en/pages/faq", "/?locale=en"},
		{"/first_run", "/"},
	} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			got := a.Do(method, test.path, "", servertest.Visit)
			if want := map[bool]int{true: 301, false: 404}[test.to != ""]; got.Status != want || got.Header.Get("Location") != test.to || got.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s %s: %d %v", method, test.path, got.Status, got.Header)
			}
		}
	}
	if after := a.Trace(token); after.Views != 0 || after.Seq != 1 {
		t.Errorf("%v", after)
	}
}

func TestAStoreThatDoubtsItsClockOpensNothing(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	token := a.Create(`"payload":"inside it"`)
	a.Store.Clock.Jump(30 * day)
	page := a.Send("/p/"+token, nil).Want(http.StatusServiceUnavailable).Page()
	page.Lacks("inside it")
	if !strings.Contains(page.Body, `<noscript><p><a class="button quiet" href="/p/`+token+`/r">Try again</a>`) { // the page leads on without scripts, too
		t.Error(page.Body)
	}
	a.Store.Clock.Jump(-30 * day)
	a.Send("/p/"+token, nil).Want(http.StatusOK).Page().Has("inside it", "4 views left")
}

func TestAPersonFollowsALinkFromAnywhere(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	for _, from := range []http.Header{
		{"Sec-Fetch-Site": {"cross-site"}},
		{"Sec-Fetch-Site": {"none"}},
		{"Sec-Fetch-Site": {"same-origin"}},
		{"Referer": {"https://teams.example/"}, "Cookie": {"other=1"}},
	} {
		token := a.Create(`"payload":"inside it","retrieval_step":false`)
		a.Get("/p/"+token+"?utm_source=chat", servertest.Navigation(from)).Want(http.StatusOK).Page().Has("inside it")
		if after := a.Trace(token); after.Views != 1 {
			t.Errorf("%v: %v", from, after)
		}
	}
}
