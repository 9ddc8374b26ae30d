package pages_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/server/display"
	"pushbox/server/servertest"
	"pushbox/store"
)

func TestALinkWithALanguageIsShownInIt(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	token := a.Create(`"payload":"x"`)
	french := http.Header{"Accept-Language": {"fr"}}
	for query, want := range map[string]string{
		"": "fr", "?locale=de": "de", "?locale=pt-BR": "pt", "?locale=zh-CN": "zh", "?locale=th": "fr", "?locale=": "fr", "?locale=de&lang=es": "es", "?locale=de&lang=xx": "de",
	} {
		got := a.Get("/p/"+token+"/r"+query, french).Want(http.StatusOK)
		if tag := got.Header.Get("Content-Language"); tag != want {
			t.Errorf("%s: %s, not %s", query, tag, want)
		}
		if kept := strings.HasPrefix(got.Header.Get("Set-Cookie"), "lang="+want); kept != (want != "fr") {
			t.Errorf("%s: the cookie is %q", query, got.Header.Get("Set-Cookie"))
		}
	}
	moved := a.Get("/de/p/"+token+"/r", french).Want(http.StatusMovedPermanently)
	if got := a.Get(moved.Header.Get("Location"), french).Want(http.StatusOK); got.Header.Get("Content-Language") != "de" {
		t.Errorf("%v", got.Header)
	}
	if after := a.Trace(token); after.Views != 0 {
		t.Errorf("%v", after)
	}
	open := a.Create(`"payload":"the secret","retrieval_step":false`) // a language in the link is no switch on the page: it opens at once
	a.Get("/p/"+open+"?locale=de", servertest.Visit).Want(http.StatusOK).Page().Has("the secret")
}

func TestUpIsTheHealth(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) { c.AllowedHosts, c.BasePath = []string{"box.example"}, "/push" })
	for _, path := range []string{"/up", "/push/up"} {
		for _, method := range []string{"GET", "HEAD"} {
			a.Do(method, path, "", http.Header{"Host": {"10.0.0.7"}}).Want(http.StatusOK)
		}
	}
}

// The official extension for Chromium 0.5.0 takes the one of these elements with qr in
// it, and draws it outside the page, where there is no style.
var svgs = regexp.MustCompile(`(?s)<svg.*?</svg>`)

func TestThePageOfTheQRCodeOpensNothing(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) { c.AllowAnonymous, c.BaseURL = false, "https://push.example.com" })
	ann := a.AddTokenUser("ann@example.com")
	for fields, tail := range map[string]string{`"payload":"hidden"`: "/r", `"payload":"hidden","retrieval_step":false,"passphrase":"p"`: ""} {
		token := a.Create(fields, ann)
		got := a.Get("/p/"+token+"/preview", http.Header{"Accept": {"text/html"}}).Want(http.StatusOK)
		got.Page().Has("https://push.example.com/p/" + token + tail).Lacks("hidden")
		want := display.LinkQR("https://push.example.com/p/" + token + tail)
		code := ""
		for _, svg := range svgs.FindAllString(got.Body, -1) {
			if strings.Contains(svg, `id="qr`) {
				code += svg
			}
		}
		if !strings.Contains(code, ` d="`+want.Path+`"`) || !strings.Contains(code, `xmlns="http://www.w3.org/2000/svg"`) || !strings.Contains(code, `fill="#fff"`) {
			t.Errorf("the code is %s", code)
		}
		if after := a.Trace(token); after.Views != 0 || after.Seq != 1 {
			t.Errorf("%v", after)
		}
		a.Do("DELETE", pushes+"/"+token, "", ann).Want(http.StatusOK)
		a.Get("/p/" + token + "/preview").Want(http.StatusNotFound)
	}
	a.Get("/p/" + store.NewToken(a.Store.Clock.Now()).Reveal() + "/preview").Want(http.StatusNotFound)
}
