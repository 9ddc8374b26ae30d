package server_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/server"
)

// outer is the server behind its public door.
func (a *api) outer() *api {
	a.t.Helper()
	s := httptest.NewServer(a.handler.Public())
	a.t.Cleanup(func() {
		a.client.CloseIdleConnections()
		s.Close()
	})
	outer := *a
	outer.url = s.URL
	return &outer
}

// publicRoutes are all that a recipient needs.
var publicRoutes = []string{
	"version", "show", "delete", "preview", "download", "asset", "robots", "step", "push", "reveal", "expire",
	"old_push", "old_push_step", "old_url", "old_url_step", "health", "ready", "probe",
}

// pathOf is a path of a row, with parameters that lead somewhere.
func (a *api) pathOf(row server.Row) string {
	a.t.Helper()
	token := row.Word
	if token == "" {
		token = a.create(`"payload":"x"`)
	}
	path := row.Pattern
	if strings.Contains(path, ":grant") {
		path = strings.NewReplacer(":grant", a.pushFiles("owner@example.com", []byte("x")).grant(), ":file", "1").Replace(path)
	}
	asset := regexp.MustCompile(`/assets/style[^"]+`).FindString(a.get("/users/sign_in").body)
	return strings.NewReplacer(":url_token", token, "/assets/:name", asset, ":name", firstCode).Replace(path)
}

func TestThePublicDoorHasWhatRecipientsNeedAndNothingElse(t *testing.T) {
	t.Parallel()
	a := newAPI(t, func(c *config.Config) { c.EnableSignups = true })
	outer := a.outer()
	ask := func(door *api, method, path string) (got answer, line string) {
		seen := len(a.log.String())
		got = door.do(method, path, "", http.Header{"Content-Type": {"application/x-www-form-urlencoded"}})
		return got, a.log.String()[seen:]
	}
	public := 0
	for _, row := range a.handler.Rows() {
		what := row.Method + " " + row.Pattern + " " + row.Word
		inside, _ := ask(a, row.Method, a.pathOf(row))
		outside, line := ask(outer, row.Method, a.pathOf(row))
		hidden := strings.HasPrefix(row.Name, "first") || row.Name == "probe" || row.Name == "metrics" // there is an account by now, nobody asked for a probe, and there is no token for metrics
		if inside.status == http.StatusNotFound && !hidden {
			t.Errorf("%s is not behind the inner door", what)
		}
		if slices.Contains(publicRoutes, row.Name) {
			public++
			if outside.status != inside.status || !strings.Contains(line, `"route":"`+row.Name+`"`) {
				t.Errorf("%s: %d behind the public door, %d behind the other: %s", what, outside.status, inside.status, line)
			}
			continue
		}
		unknown := "/nowhere"
		switch {
		case row.Word != "":
			unknown = pushes + unknown
		case strings.HasPrefix(row.Pattern, "/api/"):
			unknown = "/api/v2" + unknown
		}
		if none, _ := ask(outer, row.Method, unknown); outside.status != http.StatusNotFound || shape(none) != shape(outside) {
			t.Errorf("%s can be told from an unknown path:\n%s\nagainst\n%s", what, shape(outside), shape(none))
		}
	}
	if public < len(publicRoutes) {
		t.Errorf("only %d public routes were tried", public)
	}
}

// shape is all that tells an answer from others.
func shape(got answer) string {
	h := got.header.Clone()
	h.Del("Date")
	var b strings.Builder
	_ = h.Write(&b)
	return b.String() + got.body
}

func TestPagesOfThePublicDoorLeadNowhereElse(t *testing.T) {
	t.Parallel()
	a := newSite(t, func(c *config.Config) { c.EnableSignups, c.Brand.Footer = true, "Our own footer" })
	outer := a.outer()
	fresh := func() string { return "/p/" + a.create(`"payload":"the secret","expire_after_views":9`) } // some pages lead to its end
	cookie := http.Header{"Cookie": {"pushbox_session=" + a.signedIn(annEmail, annPassword).session()}}
	for name, got := range map[string]answer{
		"the step":           outer.get(fresh()+"/r", cookie).want(http.StatusOK),
		"what was opened":    outer.send(fresh(), nil, cookie).want(http.StatusOK),
		"what was deleted":   outer.send(fresh()+"/expire", nil).want(http.StatusOK),
		"an unknown address": outer.get("/nowhere").want(http.StatusNotFound),
		"an unknown push":    outer.get("/p/" + strings.Repeat("a", 34) + "/r").want(http.StatusNotFound),
		"a bad form":         outer.do("POST", fresh(), "x", http.Header{"Content-Type": {"text/plain"}}),
	} {
		p := got.page()
		leads := p.find(func(n node) bool { return attr(n, "href")+attr(n, "src")+attr(n, "action") != "" })
		for _, n := range leads {
			to := attr(n, "href") + attr(n, "src") + attr(n, "action")
			if to[0] == '#' || to[0] == '?' {
				continue
			}
			if method := map[bool]string{true: "POST", false: "GET"}[n.Data == "form"]; outer.do(method, to, "", urlencoded).status != http.StatusOK {
				t.Errorf("%s leads to %s, where nothing is", name, to)
			}
		}
		if len(leads) < 3 || !strings.Contains(got.body, "Our own footer") {
			t.Errorf("%s is no page of this site: %s", name, got.body)
		}
		if strings.Contains(got.body, annEmail) || len(p.elements("nav")) > 0 {
			t.Errorf("%s has a navigation: %s", name, got.body)
		}
	}
}

func TestBehindThePublicDoorEverybodyIsAVisitor(t *testing.T) {
	t.Parallel()
	a := newSite(t)
	outer := a.outer()
	b := a.signedIn(annEmail, annPassword)
	cookie := http.Header{"Cookie": {"pushbox_session=" + b.session()}}
	push := a.mine(a.actor(annEmail))
	path := "/p/" + push.Token.Reveal()
	a.send(path, nil, cookie).want(http.StatusOK) // to its owner it counts no view
	if p, err := a.store.Preview(ctx, push.Token); err != nil || p.Views != 0 {
		t.Fatalf("%d views, %v", p.Views, err)
	}
	outer.send(path, nil, cookie).want(http.StatusOK)
	if p, err := a.store.Preview(ctx, push.Token); err != nil || p.Views != 1 {
		t.Errorf("%d views, %v", p.Views, err)
	}
}

func TestLinksLeadToThePublicDoorAndTheDocumentationToThisOne(t *testing.T) {
	t.Parallel()
	const public, inside = "https://push.example.com", "http://box.lan:5100"
	host := http.Header{"Host": {"box.lan:5100"}}
	for _, listen := range []string{"", "127.0.0.1:5101"} {
		a := newSite(t, func(c *config.Config) { c.BaseURL, c.PublicListen = public, listen })
		home := map[bool]string{true: inside, false: public}[listen != ""]
		made := a.do("POST", pushes, `{"push":{"payload":"x"}}`, host).want(http.StatusCreated)
		for _, key := range []string{"html_url", "json_url"} {
			if !strings.HasPrefix(made.text(key), public+"/") {
				t.Errorf("%q: %s is %s", listen, key, made.text(key))
			}
		}
		for _, path := range []string{"/api/v2/openapi", "/help/api"} {
			if got := a.get(path, host).want(http.StatusOK); !strings.Contains(got.body, home+"/api/v2/pushes") && !strings.Contains(got.body, `"servers":[{"url":"`+home+`"}]`) {
				t.Errorf("%q: %s does not have %s", listen, path, home)
			}
		}
	}
}

func TestEachDoorHasTheSecurityOfItsOwnAddress(t *testing.T) {
	t.Parallel()
	const public = "https://push.example.com"
	foreign := http.Header{"Origin": {public}, "Host": {"10.0.0.7"}, "Content-Type": urlencoded["Content-Type"]}
	for _, listen := range []string{"", "127.0.0.1:5101"} {
		a := newSite(t, func(c *config.Config) { c.BaseURL, c.PublicListen = public, listen })
		outer := a.outer()
		two := listen != ""
		path := "/p/" + a.create(`"payload":"x"`)
		if got := a.get("/users/sign_in?lang=de").header.Get("Set-Cookie"); strings.Contains(got, "Secure") == two {
			t.Errorf("%q: inside the cookie is %s", listen, got)
		}
		if got := outer.get(path + "/r?lang=de").header.Get("Set-Cookie"); !strings.Contains(got, "Secure") {
			t.Errorf("%q: outside the cookie is %s", listen, got)
		}
		if got := a.do("POST", path, "", foreign).status; got != map[bool]int{true: http.StatusForbidden, false: http.StatusOK}[two] {
			t.Errorf("%q: inside a form of the public address is answered %d", listen, got)
		}
		if got := outer.do("POST", path, "", foreign).status; got != http.StatusOK {
			t.Errorf("%q: outside a form of the public address is answered %d", listen, got)
		}
	}
}
