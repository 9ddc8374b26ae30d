package server_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/server"
	"pushbox/server/servertest"
)

// publicRoutes are the routes that recipients need.
var publicRoutes = []string{
	"version", "show", "delete", "preview", "download", "download_all", "asset", "asset_list", "certificate_key", "favicon", "robots", "contact", "step", "push", "reveal", "expire",
	"old_push", "old_step", "health", "ready", "probe",
}

// pathOf returns a path of a row, with valid parameters.
func pathOf(a *servertest.Server, row server.Row) string {
	a.T.Helper()
	token := row.Word
	if token == "" {
		token = a.Create(`"payload":"x"`)
	}
	path := row.Pattern
	if strings.Contains(path, ":grant") {
		path = strings.NewReplacer(":grant", a.PushFiles("owner@example.com", []byte("x")).Grant(), ":file", "1").Replace(path)
	}
	if _, tail, of := strings.Cut(path, "/receipt/:name"); of {
		return a.NewReceipt() + tail
	}
	asset := regexp.MustCompile(`/assets/style[^"]+`).FindString(a.Get("/users/sign_in").Body)
	return strings.NewReplacer(":language", "de", ":url_token", token, "/assets/:name", asset, ":name", "a-code").Replace(path)
}

func TestTheEntryPointForRecipientsHasOnlyWhatTheyNeed(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) {
		c.EnableSignups, c.SecurityContact = true, "mailto:security@example.com"
		c.Limits.UnknownTokensPerMinute = 1000 // words in place of a link are unknown links there
	})
	outer := a.Recipients()
	ask := func(entry *servertest.Server, method, path string) (got servertest.Answer, line string) {
		seen := len(a.Log.String())
		got = entry.Do(method, path, "", http.Header{"Content-Type": {"application/x-www-form-urlencoded"}})
		return got, a.Log.String()[seen:]
	}
	public := 0
	for _, row := range a.Handler.Rows() {
		what := row.Method + " " + row.Pattern + " " + row.Word
		inside, _ := ask(a, row.Method, pathOf(a, row))
		outside, line := ask(outer, row.Method, pathOf(a, row))
		// There is an account by now, no probe was requested, there is no token for metrics, the
		// server sends no mail, no link sets a password, and there is no sign-in provider.
		hidden := slices.ContainsFunc([]string{"first", "probe", "metrics", "forgotten", "new_password", "oidc"}, func(name string) bool { return strings.HasPrefix(row.Name, name) })
		if inside.Status == http.StatusNotFound && !hidden {
			t.Errorf("%s is not at the full entry", what)
		}
		if slices.Contains(publicRoutes, row.Name) {
			public++
			if outside.Status != inside.Status || !strings.Contains(line, `"route":"`+row.Name+`"`) {
				t.Errorf("%s: %d at the entry for recipients, %d at the full one: %s", what, outside.Status, inside.Status, line)
			}
			continue
		}
		unknown := "/nowhere"
		switch {
		case row.Word != "" && strings.HasPrefix(row.Pattern, pushes):
			unknown = pushes + unknown
		case row.Word != "" && row.Name == "old_page": // there it is a link like any other
			unknown = strings.Replace(pathOf(a, row), row.Word, "nowhere", 1)
		case strings.HasSuffix(row.Pattern, ".json"):
			unknown = row.Pattern[:2] + unknown + ".json"
		case strings.HasPrefix(row.Pattern, "/api/"):
			unknown = "/api/v2" + unknown
		}
		wantStatus := http.StatusNotFound
		if row.Method == http.MethodHead && strings.HasPrefix(unknown, pushes) { // no push can be retrieved with HEAD
			wantStatus = http.StatusMethodNotAllowed
		}
		if to := outside.Header.Get("Location"); row.Word != "" && to != "" {
			wantStatus = http.StatusMovedPermanently
			outside.Header.Set("Location", strings.Replace(to, row.Word, "nowhere", 1))
		}
		if none, _ := ask(outer, row.Method, unknown); outside.Status != wantStatus || none.Status != wantStatus || shape(none) != shape(outside) {
			t.Errorf("%s can be told from an unknown path:\n%s\nagainst\n%s", what, shape(outside), shape(none))
		}
	}
	if public < len(publicRoutes) {
		t.Errorf("only %d public routes were tried", public)
	}
}

// shape has everything that distinguishes an answer from another.
func shape(got servertest.Answer) string {
	h := got.Header.Clone()
	h.Del("Date")
	var b strings.Builder
	_ = h.Write(&b)
	return b.String() + got.Body
}

func TestPagesOfTheEntryPointForRecipientsLinkOnlyToIt(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, func(c *config.Config) { c.EnableSignups, c.Brand.Footer = true, "Our own footer" })
	outer := a.Recipients()
	fresh := func() string { return "/p/" + a.Create(`"payload":"the secret","expire_after_views":9`) } // some pages lead to its end
	cookie := http.Header{"Cookie": {"pushbox_session=" + a.SignedIn(servertest.AnnEmail, servertest.AnnPassword).Session()}}
	for name, got := range map[string]servertest.Answer{
		"the step":           outer.Get(fresh()+"/r", cookie).Want(http.StatusOK),
		"what was opened":    outer.Send(fresh(), nil, cookie).Want(http.StatusOK),
		"what was deleted":   outer.Send(fresh()+"/expire", nil).Want(http.StatusOK),
		"an unknown address": outer.Get("/nowhere").Want(http.StatusNotFound),
		"an unknown push":    outer.Get("/p/" + strings.Repeat("a", 34) + "/r").Want(http.StatusNotFound),
		"a bad form":         outer.Do("POST", fresh(), "x", http.Header{"Content-Type": {"text/plain"}}),
	} {
		p := got.Page()
		leads := p.Find(func(n servertest.Node) bool {
			return servertest.Attr(n, "href")+servertest.Attr(n, "src")+servertest.Attr(n, "action") != ""
		})
		for _, n := range leads {
			to := servertest.Attr(n, "href") + servertest.Attr(n, "src") + servertest.Attr(n, "action")
			if to[0] == '#' || to[0] == '?' {
				continue
			}
			if method := map[bool]string{true: "POST", false: "GET"}[n.Data == "form"]; outer.Do(method, to, "", servertest.Urlencoded).Status != http.StatusOK {
				t.Errorf("%s leads to %s, where nothing is", name, to)
			}
		}
		if len(leads) < 3 || !strings.Contains(got.Body, "Our own footer") {
			t.Errorf("%s is no page of this site: %s", name, got.Body)
		}
		if strings.Contains(got.Body, servertest.AnnEmail) || len(p.Elements("nav")) > 0 {
			t.Errorf("%s has a navigation: %s", name, got.Body)
		}
	}
}

func TestTheEntryPointForRecipientsIgnoresSessions(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t)
	outer := a.Recipients()
	b := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	cookie := http.Header{"Cookie": {"pushbox_session=" + b.Session()}}
	push := a.Mine(a.Actor(servertest.AnnEmail))
	path := "/p/" + push.Token.Reveal()
	a.Send(path, nil, cookie).Want(http.StatusOK) // to its owner it counts no view
	if p, err := a.Store.Preview(ctx, push.Token); err != nil || p.Views != 0 {
		t.Fatalf("%d views, %v", p.Views, err)
	}
	outer.Send(path, nil, cookie).Want(http.StatusOK)
	if p, err := a.Store.Preview(ctx, push.Token); err != nil || p.Views != 1 {
		t.Errorf("%d views, %v", p.Views, err)
	}
}

func TestLinksLeadToTheEntryPointForRecipientsAndDocumentationToTheFullOne(t *testing.T) {
	t.Parallel()
	const public, inside = "https://push.example.com", "http://box.lan:5100"
	host := http.Header{"Host": {"box.lan:5100"}}
	for _, listen := range []string{"", "127.0.0.1:5101"} {
		a := servertest.NewSite(t, func(c *config.Config) {
			c.BaseURL, c.PublicListen, c.AllowedHosts = public, listen, []string{"box.lan"}
		})
		home := map[bool]string{true: inside, false: public}[listen != ""]
		made := a.Do("POST", pushes, `{"push":{"payload":"x"}}`, host).Want(http.StatusCreated)
		for _, key := range []string{"html_url", "json_url"} {
			if !strings.HasPrefix(made.Text(key), public+"/") {
				t.Errorf("%q: %s is %s", listen, key, made.Text(key))
			}
		}
		for _, path := range []string{"/api/v2/openapi", "/help/api"} {
			if got := a.Get(path, host).Want(http.StatusOK); !strings.Contains(got.Body, home+"/api/v2/pushes") && !strings.Contains(got.Body, `"servers":[{"url":"`+home+`"}]`) {
				t.Errorf("%q: %s does not have %s", listen, path, home)
			}
		}
	}
}

func TestEachEntryPointHasTheSecurityOfItsOwnAddress(t *testing.T) {
	t.Parallel()
	const public = "https://push.example.com"
	foreign := http.Header{"Origin": {public}, "Host": {"10.0.0.7"}, "Content-Type": servertest.Urlencoded["Content-Type"]}
	for _, listen := range []string{"", "127.0.0.1:5101"} {
		a := servertest.NewSite(t, func(c *config.Config) {
			c.BaseURL, c.PublicListen, c.AllowedHosts = public, listen, []string{"10.0.0.7"}
		})
		outer := a.Recipients()
		two := listen != ""
		path := "/p/" + a.Create(`"payload":"x"`)
		if got := a.Get("/users/sign_in?lang=de").Header.Get("Set-Cookie"); strings.Contains(got, "Secure") == two {
			t.Errorf("%q: inside the cookie is %s", listen, got)
		}
		if got := outer.Get(path + "/r?lang=de").Header.Get("Set-Cookie"); !strings.Contains(got, "Secure") {
			t.Errorf("%q: outside the cookie is %s", listen, got)
		}
		if got := a.Do("POST", path, "", foreign).Status; got != map[bool]int{true: http.StatusForbidden, false: http.StatusOK}[two] {
			t.Errorf("%q: inside a form of the public address is answered %d", listen, got)
		}
		if got := outer.Do("POST", path, "", foreign).Status; got != http.StatusOK {
			t.Errorf("%q: outside a form of the public address is answered %d", listen, got)
		}
	}
}
