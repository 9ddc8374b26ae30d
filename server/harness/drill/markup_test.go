package drill_test

import (
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"pushbox/internal/secret"
	"pushbox/server/servertest"
	"pushbox/store"
)

// markup is what harms where it gets into a page as it is.
var markup = append(slices.Clone(servertest.Hostile), `<a href="https://evil.example" target=_top>sign in again</a>`, `<meta http-equiv=refresh content="0;url=//evil.example">`, `"autofocus onfocus=alert(1) x="`)

// lifeless fails the test if an answer has anything that runs, loads, frames or links,
// except what the server's pages have themselves; or if its policy would allow it.
func lifeless(t *testing.T, what string, got servertest.Answer) {
	t.Helper()
	media := got.Header.Get("Content-Type")
	if !strings.HasPrefix(media, "text/html") {
		if got.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %s, and a browser may take it for a page", what, media)
		}
		return
	}
	policy := got.Header.Get("Content-Security-Policy")
	for _, part := range []string{"default-src 'none'", "script-src 'self'", "base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'"} {
		if !slices.Contains(strings.Split(policy, "; "), part) {
			t.Fatalf("%s: the policy is %q", what, policy)
		}
	}
	p := got.Page()
	for _, n := range p.Find(func(servertest.Node) bool { return true }) {
		if reason := alive(n); reason != "" {
			t.Errorf("%s: <%s>: %s", what, n.Data, reason)
		}
	}
}

// alive says what of an element does something that no template has it do.
func alive(n servertest.Node) string {
	switch n.Data {
	case "script":
		if !strings.HasPrefix(servertest.Attr(n, "src"), "/assets/") || servertest.TextOf(n) != "" {
			return "a script"
		}
	case "iframe", "object", "embed", "base", "img", "style", "math", "template", "frame", "portal":
		if n.Data != "template" || !slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "data-late" }) { // the scripts of a form
			return "no page has one"
		}
	case "meta":
		if servertest.Attr(n, "http-equiv") != "" {
			return "it says " + servertest.Attr(n, "http-equiv")
		}
	}
	for _, at := range n.Attr {
		switch key := strings.ToLower(at.Key); {
		case strings.HasPrefix(key, "on"), key == "style", key == "srcdoc":
			return key
		case key == "href" || key == "src" || key == "action" || key == "formaction":
			u, err := url.Parse(at.Val)
			if key == "href" && strings.HasPrefix(at.Val, "mailto:?body=") { // of a receipt
				continue
			}
			if here := err == nil && (u.Host == "" && u.Scheme == "" || u.Scheme == "http" && u.Hostname() == "127.0.0.1"); !here {
				return key + "=" + at.Val
			}
		}
	}
	return ""
}

// GHSA-5chg-cq29-gfqf, Password Pusher before 1.48.1: a template took a text as it
// came; the one for confirming an account had a token out of the query in it.
func drillReflectedMarkup(t *testing.T) {
	a := servertest.NewSite(t, servertest.SignUps)
	b, guest := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword), a.Browser()
	token := b.Get("/users/token").Want(http.StatusOK)
	lifeless(t, "a page with nothing in it", token)
	for _, text := range []string{strings.Join(markup, ""), markup[1], markup[3]} {
		q, p := url.QueryEscape(text), url.PathEscape(text)
		for _, path := range []string{
			"/?kind=" + q + "&payload=" + q, "/users/sign_in?made=" + q + "&late=" + q, "/users/sign_in?lang=" + q, "/users/sign_in?" + q + "=" + q, "/users/sign_up?email=" + q,
			"/users/first/" + p, "/users/password?done=" + q, "/p/" + p, "/p/" + p + "/r", "/p?q=" + q, "/p?state=" + q + "&page=" + q, "/help/api?" + q, "/assets/" + p, "/" + p, "/r/" + p, "/users/" + p + "?confirmation_token=" + q,
		} {
			lifeless(t, path, b.Get(path))
			lifeless(t, path, guest.Get(path))
		}
		for path, fields := range map[string][]string{
			"/users/sign_in": {"email", text, "password", text}, "/users/sign_up": {"email", text, "password", text}, "/users/token": {"label", text + strings.Repeat("x", 100), "days", text},
			"/users/mfa": {"password", text, "secret", text, "code", text}, "/users/password": {"old", text, "new", text, "again", text}, "/users/sessions/end": {"id", text},
			"/": {"push[payload]", text, "push[expire_after_days]", text, "push[name]", text, "push[note]", text, "push[expire_after_views]", "0"},
		} {
			lifeless(t, path, b.Post(path, fields...))
			lifeless(t, path, guest.Post(path, fields...))
		}
		a.Store.Clock.Advance(time.Minute) // past the limit of guessing
	}
	for _, host := range []string{`push.example.com"><script>alert(1)</script>`, "push.example.com/<script>"} {
		a.Get("/users/token", http.Header{"X-Forwarded-Host": {host}, "Cookie": {"pushbox_session=" + b.Session()}}).Want(http.StatusBadRequest)
	}
}

// GHSA-4xg4-54hm-9j77, Gokapi before 2.0.0: the list of API keys had their names in
// it as they were given.
func drillMarkupInALabel(t *testing.T) {
	a := servertest.NewSite(t)
	b := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	for _, text := range markup {
		made := b.Post("/users/token", "password", servertest.AnnPassword, "label", text, "days", "0")
		lifeless(t, "the new token", made)
		list := b.Get("/users/token")
		lifeless(t, "the list", list)
		if made.Status == http.StatusCreated && !list.Shows(strings.TrimSpace(text)) {
			t.Errorf("%q is not shown as it is", text)
		}
	}
}

// pushNamedFiles pushes a file of each name and returns the push, as its sender and as the
// store have it.
func pushNamedFiles(a *servertest.Server, names ...string) servertest.Pushed {
	a.T.Helper()
	return a.PushNamed("owner@example.com", func(in *store.NewPush, u *store.Upload) {
		for range names {
			in.Name, in.Note = secret.New(names[0]), secret.New(names[0])
		}
		u.Describe(names[0], names[0])
	}, []byte("x"))
}

// GHSA-95rc-wc32-gm53, Gokapi before 2.0.0: a file's name ran as a script for
// every user who opened the list of uploads.
func drillMarkupInTheListOfUploads(t *testing.T) {
	a := servertest.New(t)
	owner := a.AddSessionUser("owner@example.com")
	for _, text := range markup {
		token := pushNamedFiles(a, text).Token.Reveal()
		a.Get(pushes+"/"+token, http.Header{"User-Agent": {strings.Map(visibleOnly, text)}, "Referer": {strings.Map(visibleOnly, text)}}).Want(http.StatusOK)
		for _, path := range []string{"/p", "/p?q=" + url.QueryEscape(text), "/p/" + token + "/audit"} {
			lifeless(t, path, a.Get(path, owner).Want(http.StatusOK))
		}
		made := a.SendParts(servertest.FilePush{Before: servertest.Typed(map[string]string{"kind": "file", "name": text, "note": text}), Files: []servertest.File{{Name: strings.Map(visibleOnly, strings.ReplaceAll(text, `"`, "%22")), Media: "text/html", Content: []byte("x")}}}, owner)
		lifeless(t, "the new push", made)
	}
}

// visibleOnly drops what no header can have.
func visibleOnly(c rune) rune {
	if c < ' ' || c > '~' {
		return -1
	}
	return c
}

// GHSA-8j72-p2wm-6738, PrivateBin before 1.2.2 and 1.3.2: the name of an attached
// file got into the page as markup. Here the page has it exactly, except characters
// that no file name may have.
func drillMarkupInAFileName(t *testing.T) {
	a := servertest.New(t)
	for _, text := range markup {
		p := pushNamedFiles(a, text)
		page := a.Send("/p/"+p.Token.Reveal(), nil).Want(http.StatusOK)
		lifeless(t, text, page)
		stored := a.FilesOf(p.Token.Reveal())[0].Name
		shown := page.Page().Find(func(n servertest.Node) bool { return servertest.Attr(n, "class") == "name" })
		if len(shown) != 1 || servertest.TextOf(shown[0]) != strings.ReplaceAll(stored, "\x00", "\ufffd") {
			t.Errorf("%q is not shown as it is: %q", text, stored)
		}
	}
}

// GHSA-867c-p784-5q6g, PrivateBin 1.7.7 to 2.0.1: a file's name beside its size
// could have a link or a refresh in it, which sent people to another site.
func drillLinkInAFileName(t *testing.T) {
	a := servertest.New(t)
	for _, text := range append(slices.Clone(markup), "https://evil.example/", "//evil.example/x", "[here](https://evil.example)", "x\r\nLocation: https://evil.example", `x"; filename=evil.html`) {
		p := pushNamedFiles(a, text)
		page := a.Send("/p/"+p.Token.Reveal(), nil).Want(http.StatusOK)
		lifeless(t, text, page)
		links := make(map[string]bool)
		for _, n := range page.Page().Find(func(n servertest.Node) bool { return n.Data == "a" && n.Parent != nil && within(n, "main") }) {
			links[servertest.Attr(n, "href")] = true
		}
		if len(links) != 1 || !strings.HasPrefix(slices.Collect(maps.Keys(links))[0], "/d/") {
			t.Errorf("%q: the page leads to %v", text, links)
		}
		got := a.Get(p.Shown()[0]).Want(http.StatusOK)
		_, params, err := mime.ParseMediaType(got.Header.Get("Content-Disposition"))
		if name := a.FilesOf(p.Token.Reveal())[0].Name; err != nil || len(params) != 1 || params["filename"] != name || got.Header.Get("Location")+got.Header.Get("Refresh") != "" {
			t.Errorf("%q: %v", text, got.Header)
		}
	}
}

// within reports whether an element is inside one of that name.
func within(n servertest.Node, name string) bool {
	for p := n.Parent; p != nil; p = p.Parent {
		if p.Type == html.ElementNode && p.Data == name {
			return true
		}
	}
	return false
}
