package server_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"pushbox/config"
)

const below = "/tools/push" // a base path

func newSiteBelow(t *testing.T, changes ...func(*config.Config)) *api {
	t.Helper()
	return newSite(t, append(changes, func(c *config.Config) { c.BasePath, c.EnableSignups = below, true })...)
}

// leads are the addresses on a page, but for those within it.
func (p page) leads() (all []string) {
	for _, name := range []string{"href", "src", "action", "data-step", "data-words"} {
		for _, n := range p.find(func(n node) bool { return attr(n, name) != "" && n.Data != "input" }) {
			if to := attr(n, name); !strings.ContainsAny(to[:1], "#?") {
				all = append(all, to)
			}
		}
	}
	return all
}

func TestEverythingLiesBelowTheBasePath(t *testing.T) {
	t.Parallel()
	a := newSiteBelow(t)
	b := a.browser()
	b.post(below+"/users/sign_in", "email", annEmail, "password", annPassword).to(below + "/")
	sent := b.post(below+"/", "push[payload]", "the secret", "push[kind]", "text", "push[expire_after_days]", "2", "push[expire_after_views]", "5").want(http.StatusCreated)
	link := strings.TrimPrefix(sent.link(), a.url)
	if !strings.HasPrefix(link, below+"/p/") {
		t.Fatalf("the link is %s", sent.link())
	}
	todo, seen := append(sent.page().leads(), link, strings.TrimSuffix(link, "/r")+"/audit", below+"/nowhere"), make(map[string]bool)
	for ; len(todo) > 0; todo = todo[1:] {
		at := strings.TrimPrefix(todo[0], a.url)
		if seen[at] {
			continue
		}
		seen[at] = true
		if !strings.HasPrefix(at, below+"/") {
			t.Errorf("something leads to %s", at)
			continue
		}
		got := b.get(at)
		if got.status != http.StatusOK && got.status != http.StatusSeeOther && got.status != http.StatusMethodNotAllowed && at != below+"/nowhere" {
			t.Errorf("%s is answered %d", at, got.status)
		}
		if got.status == http.StatusSeeOther {
			todo = append(todo, got.header.Get("Location"))
		}
		if strings.HasPrefix(got.header.Get("Content-Type"), "text/html") {
			todo = append(todo, got.page().leads()...)
		}
	}
	for _, at := range []string{"/", "/p", "/users/token", "/users/sessions", "/users/mfa", "/users/password", "/users/sign_in", "/help/api", "/api/v2/openapi.json"} {
		if !seen[below+at] {
			t.Errorf("no page leads to %s", at)
		}
	}
	b.post(below + "/users/sign_out").to(below + "/users/sign_in")
}

func TestAPushIsOpenedAndDeletedBelowTheBasePath(t *testing.T) {
	t.Parallel()
	a := newSiteBelow(t)
	token := a.do("POST", below+pushes+".json", `{"push":{"payload":"the secret"}}`).want(http.StatusCreated).text("url_token")
	step := a.get(below + "/p/" + token + "/r").want(http.StatusOK).page()
	opened := a.send(strings.TrimPrefix(step.forms()[0], "post "), nil).want(http.StatusOK).says("the secret").page()
	a.send(strings.TrimPrefix(opened.forms()[0], "post "), nil).want(http.StatusOK)
	a.get(below + "/p/" + token).want(http.StatusNotFound)
	if got := a.get(below + "/f/" + token).header.Get("Location"); got != below+"/p/"+token {
		t.Errorf("an old link leads to %s", got)
	}
	doc := a.get(below + "/api/v2/openapi").want(http.StatusOK)
	if !strings.Contains(doc.body, `"servers":[{"url":"`+a.url+below+`"}]`) {
		t.Errorf("the document is for %.300s", doc.body)
	}
	files := a.pushFiles(annEmail, []byte("in a file"))
	shown := a.get(below + pushes + "/" + files.token.Reveal()).want(http.StatusOK)
	if at, _, _ := strings.Cut(shown.body[strings.Index(shown.body, a.url+below+"/d/"):], `"`); a.get(strings.TrimPrefix(at, a.url)).want(http.StatusOK).body != "in a file" {
		t.Errorf("there is no file at %s", at)
	}
}

func TestBesideTheBasePathThereIsNothingButProbes(t *testing.T) {
	t.Parallel()
	a := newSiteBelow(t)
	for _, row := range a.handler.Rows() {
		path := strings.NewReplacer(":url_token", "x", ":name", "x", ":grant", "x", ":file", "1").Replace(row.Pattern)
		for _, at := range []string{path, below + "er" + path, "/x" + below + path, below + below + path} {
			want := http.StatusNotFound
			if at == "/healthz" || at == "/readyz" {
				want = http.StatusOK
			}
			if got := a.do(row.Method, at, "", urlencoded); got.status != want || got.header.Get("Location") != "" {
				t.Errorf("%s %s: %d", row.Method, at, got.status)
			}
		}
	}
	a.get(below + "/healthz").want(http.StatusOK)
	a.get(below + "/readyz").want(http.StatusOK)
	a.get(below).want(http.StatusOK)
	if got := a.get("/api/v2/version").problem(); got != "not-found" {
		t.Errorf("a program is told %s", got)
	}
	if got := a.get(below + "/api/v2/nothing").want(http.StatusNotFound).problem(); got != "not-found" {
		t.Errorf("a program is told %s", got)
	}
}

func TestCookiesAreForTheBasePathAlone(t *testing.T) {
	t.Parallel()
	a := newSiteBelow(t)
	for proto, name := range map[string]string{"http": "pushbox_session", "https": "__Secure-pushbox"} {
		b := a.browser(http.Header{"X-Forwarded-Proto": {proto}})
		got := b.post(below+"/users/sign_in?lang=de", "email", annEmail, "password", annPassword).want(http.StatusSeeOther)
		names := make([]string, 0, 1)
		for _, c := range got.cookies() {
			names = append(names, c.Name)
			if c.Path != below || c.Secure != (proto == "https") {
				t.Errorf("%s: %v", proto, c)
			}
		}
		if !slices.Contains(names, name) {
			t.Errorf("%s: the cookies are %v", proto, names)
		}
		b.get(below + "/users/token").want(http.StatusOK)
	}
}
