package server_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/server/servertest"
)

const below = "/tools/push" // a base path

func newSiteBelow(t *testing.T, changes ...func(*config.Config)) *servertest.Server {
	t.Helper()
	return servertest.NewSite(t, append(changes, func(c *config.Config) { c.BasePath, c.EnableSignups = below, true })...)
}

// leadsOf returns the addresses on a page, except those within it.
func leadsOf(p servertest.Page) (all []string) {
	for _, name := range []string{"href", "src", "action", "data-step", "data-words", "data-module", "data-keys"} {
		for _, n := range p.Find(func(n servertest.Node) bool { return servertest.Attr(n, name) != "" && n.Data != "input" }) {
			if to := servertest.Attr(n, name); !strings.ContainsAny(to[:1], "#?") && !strings.HasPrefix(to, "mailto:") {
				all = append(all, to)
			}
		}
	}
	return all
}

func TestEverythingLiesBelowTheBasePath(t *testing.T) {
	t.Parallel()
	a := newSiteBelow(t, servertest.TakesRequests)
	b := a.Browser()
	b.Post(below+"/users/sign_in", "email", servertest.AnnEmail, "password", servertest.AnnPassword).To(below + "/")
	sent := b.Post(below+"/", "push[payload]", "the secret", "push[kind]", "text", "push[expire_after_days]", "2", "push[expire_after_views]", "5").Want(http.StatusSeeOther)
	sent = b.Get(sent.Header.Get("Location"))
	link := strings.TrimPrefix(sent.Link(), a.URL)
	if !strings.HasPrefix(link, below+"/p/") {
		t.Fatalf("the link is %s", sent.Link())
	}
	const point = "BGPGzhXeLpR0VKd-qRlSHz7R34Zur1LkFA-O_uvxvuy5AouxGBPaO9QwJ95btpM0vXhEFqZgn9JzHxMwbwFVvRI"
	own := b.Post(below+"/requests/new", servertest.TypedRequest("public_key_p256", point)...).Want(http.StatusSeeOther).Header.Get("Location")
	asked := strings.TrimPrefix(b.Get(own).Link(), a.URL)
	if !strings.HasPrefix(asked, below+"/q/") {
		t.Fatalf("the link of a request is %s", asked)
	}
	todo, seen := append(leadsOf(sent.Page()), link, asked, strings.TrimSuffix(link, "/r")+"/audit", below+"/nowhere"), make(map[string]bool)
	for ; len(todo) > 0; todo = todo[1:] {
		at := strings.TrimPrefix(todo[0], a.URL)
		if seen[at] {
			continue
		}
		seen[at] = true
		if !strings.HasPrefix(at, below+"/") {
			t.Errorf("something leads to %s", at)
			continue
		}
		got := b.Get(at)
		if got.Status != http.StatusOK && got.Status != http.StatusSeeOther && got.Status != http.StatusMethodNotAllowed && at != below+"/nowhere" {
			t.Errorf("%s is answered %d", at, got.Status)
		}
		if got.Status == http.StatusSeeOther {
			todo = append(todo, got.Header.Get("Location"))
		}
		if strings.HasPrefix(got.Header.Get("Content-Type"), "text/html") {
			todo = append(todo, leadsOf(got.Page())...)
		}
	}
	for _, at := range []string{"/", "/p", "/users/token", "/users/sessions", "/users/account", "/users/mfa", "/users/password", "/users/sign_in", "/help/api", "/api/v2/openapi.json", "/requests", "/requests/new"} {
		if !seen[below+at] {
			t.Errorf("no page leads to %s", at)
		}
	}
	b.Post(below + "/users/sign_out").To(below + "/users/sign_in")
}

func TestAPushIsOpenedAndDeletedBelowTheBasePath(t *testing.T) {
	t.Parallel()
	a := newSiteBelow(t)
	token := a.Do("POST", below+pushes+".json", `{"push":{"payload":"the secret"}}`).Want(http.StatusCreated).Text("url_token")
	step := a.Get(below + "/p/" + token + "/r").Want(http.StatusOK).Page()
	opened := a.Send(strings.TrimPrefix(step.Forms()[0], "post "), nil).Want(http.StatusOK).Says("the secret").Page()
	a.Send(strings.TrimPrefix(opened.Forms()[0], "post "), nil).Want(http.StatusOK)
	a.Get(below + "/p/" + token).Want(http.StatusNotFound)
	if got := a.Get(below + "/f/" + token).Header.Get("Location"); got != below+"/p/"+token {
		t.Errorf("an old link leads to %s", got)
	}
	doc := a.Get(below + "/api/v2/openapi").Want(http.StatusOK)
	if !strings.Contains(doc.Body, `"servers":[{"url":"`+a.URL+below+`"}]`) {
		t.Errorf("the document is for %.300s", doc.Body)
	}
	files := a.PushFiles(servertest.AnnEmail, []byte("in a file"))
	shown := a.Get(below + pushes + "/" + files.Token.Reveal()).Want(http.StatusOK)
	if at, _, _ := strings.Cut(shown.Body[strings.Index(shown.Body, a.URL+below+"/d/"):], `"`); a.Get(strings.TrimPrefix(at, a.URL)).Want(http.StatusOK).Body != "in a file" {
		t.Errorf("there is no file at %s", at)
	}
}

func TestOutsideTheBasePathOnlyProbesAnswer(t *testing.T) {
	t.Parallel()
	a := newSiteBelow(t)
	for _, row := range a.Handler.Rows() {
		path := strings.NewReplacer(":url_token", "x", ":name", "x", ":grant", "x", ":file", "1").Replace(row.Pattern)
		for _, at := range []string{path, below + "er" + path, "/x" + below + path, below + below + path} {
			want, to := http.StatusNotFound, ""
			switch at {
			case "/healthz", "/readyz", "/up":
				want = http.StatusOK
			case "/.well-known/change-password":
				want, to = http.StatusSeeOther, below+"/users/password"
			}
			if got := a.Do(row.Method, at, "", servertest.Urlencoded); got.Status != want || got.Header.Get("Location") != to {
				t.Errorf("%s %s: %d", row.Method, at, got.Status)
			}
		}
	}
	a.Get(below + "/healthz").Want(http.StatusOK)
	a.Get(below + "/readyz").Want(http.StatusOK)
	a.Get(below).Want(http.StatusOK)
	if got := a.Get("/api/v2/version").Problem(); got != "not-found" {
		t.Errorf("a program is told %s", got)
	}
	if got := a.Get(below + "/api/v2/nothing").Want(http.StatusNotFound).Problem(); got != "not-found" {
		t.Errorf("a program is told %s", got)
	}
}

func TestCookiesAreForTheBasePathAlone(t *testing.T) {
	t.Parallel()
	a := newSiteBelow(t)
	for proto, name := range map[string]string{"http": "pushbox_session", "https": "__Secure-pushbox"} {
		b := a.Browser(http.Header{"X-Forwarded-Proto": {proto}})
		got := b.Post(below+"/users/sign_in?lang=de", "email", servertest.AnnEmail, "password", servertest.AnnPassword).Want(http.StatusSeeOther)
		names := make([]string, 0, 1)
		for _, c := range got.Cookies() {
			names = append(names, c.Name)
			if c.Path != below || c.Secure != (proto == "https") {
				t.Errorf("%s: %v", proto, c)
			}
		}
		if !slices.Contains(names, name) {
			t.Errorf("%s: the cookies are %v", proto, names)
		}
		b.Get(below + "/users/token").Want(http.StatusOK)
	}
}
