package server_test

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
	"pushbox/store"
)

// markup is what harms where it gets into a page as it is.
var markup = append(slices.Clone(hostile), `<a href="https://evil.example" target=_top>sign in again</a>`, `<meta http-equiv=refresh content="0;url=//evil.example">`, `"autofocus onfocus=alert(1) x="`)

// lifeless fails the test where an answer has anything that runs, loads, frames or
// leads anywhere, but for what the pages of the server have themselves; and where
// its policy would let it.
func lifeless(t *testing.T, what string, got answer) {
	t.Helper()
	media := got.header.Get("Content-Type")
	if !strings.HasPrefix(media, "text/html") {
		if got.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %s, and a browser may take it for a page", what, media)
		}
		return
	}
	policy := got.header.Get("Content-Security-Policy")
	for _, part := range []string{"default-src 'none'", "script-src 'self'", "base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'"} {
		if !slices.Contains(strings.Split(policy, "; "), part) {
			t.Fatalf("%s: the policy is %q", what, policy)
		}
	}
	p := got.page()
	for _, n := range p.find(func(node) bool { return true }) {
		if reason := alive(n); reason != "" {
			t.Errorf("%s: <%s>: %s", what, n.Data, reason)
		}
	}
}

// alive says what of an element does something that no template has it do.
func alive(n node) string {
	switch n.Data {
	case "script":
		if !strings.HasPrefix(attr(n, "src"), "/assets/") || textOf(n) != "" {
			return "a script"
		}
	case "iframe", "object", "embed", "base", "img", "style", "math", "template", "frame", "portal":
		return "no page has one"
	case "meta":
		if attr(n, "http-equiv") != "" {
			return "it says " + attr(n, "http-equiv")
		}
	}
	for _, at := range n.Attr {
		switch key := strings.ToLower(at.Key); {
		case strings.HasPrefix(key, "on"), key == "style", key == "srcdoc":
			return key
		case key == "href" || key == "src" || key == "action" || key == "formaction":
			u, err := url.Parse(at.Val)
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
	a := newSite(t, signUps)
	b, guest := a.signedIn(annEmail, annPassword), a.browser()
	token := b.get("/users/token").want(http.StatusOK)
	lifeless(t, "a page with nothing in it", token)
	for _, text := range []string{strings.Join(markup, ""), markup[1], markup[3]} {
		q, p := url.QueryEscape(text), url.PathEscape(text)
		for _, path := range []string{
			"/?kind=" + q + "&payload=" + q, "/users/sign_in?made=" + q + "&late=" + q, "/users/sign_in?lang=" + q, "/users/sign_in?" + q + "=" + q, "/users/sign_up?email=" + q,
			"/users/first/" + p, "/users/password?done=" + q, "/p/" + p, "/p/" + p + "/r", "/p?q=" + q, "/p?state=" + q + "&page=" + q, "/help/api?" + q, "/assets/" + p, "/" + p, "/r/" + p, "/users/" + p + "?confirmation_token=" + q,
		} {
			lifeless(t, path, b.get(path))
			lifeless(t, path, guest.get(path))
		}
		for path, fields := range map[string][]string{
			"/users/sign_in": {"email", text, "password", text}, "/users/sign_up": {"email", text, "password", text}, "/users/token": {"label", text + strings.Repeat("x", 100), "days", text},
			"/users/mfa": {"password", text, "secret", text, "code", text}, "/users/password": {"old", text, "new", text, "again", text}, "/users/sessions/end": {"id", text},
			"/": {"push[payload]", text, "push[expire_after_days]", text, "push[name]", text, "push[note]", text, "push[expire_after_views]", "0"},
		} {
			lifeless(t, path, b.post(path, fields...))
			lifeless(t, path, guest.post(path, fields...))
		}
		a.store.Clock.Advance(time.Minute) // past the limit of guessing
	}
	for _, host := range []string{`push.example.com"><script>alert(1)</script>`, "push.example.com/<script>"} {
		a.get("/users/token", http.Header{"X-Forwarded-Host": {host}, "Cookie": {"pushbox_session=" + b.session()}}).want(http.StatusBadRequest)
	}
}

// GHSA-4xg4-54hm-9j77, Gokapi before 2.0.0: the list of API keys had their names in
// it as they were given.
func drillMarkupInALabel(t *testing.T) {
	a := newSite(t)
	b := a.signedIn(annEmail, annPassword)
	for _, text := range markup {
		made := b.post("/users/token", "label", text, "days", "0")
		lifeless(t, "the new token", made)
		list := b.get("/users/token")
		lifeless(t, "the list", list)
		if made.status == http.StatusCreated && !list.shows(strings.TrimSpace(text)) {
			t.Errorf("%q is not shown as it is", text)
		}
	}
}

// named pushes a file of each name and returns the push, as its sender and as the
// store have it.
func (a *api) named(names ...string) pushed {
	a.t.Helper()
	return a.pushNamed("owner@example.com", func(in *store.NewPush, u *store.Upload) {
		for range names {
			in.Name, in.Note = secret.New(names[0]), secret.New(names[0])
		}
		u.Describe(names[0], names[0])
	}, []byte("x"))
}

// GHSA-95rc-wc32-gm53, Gokapi before 2.0.0: a file's name ran as a script for
// everybody who looked at the list of uploads.
func drillMarkupInTheListOfUploads(t *testing.T) {
	a := newAPI(t)
	owner, _ := a.signIn("owner@example.com")
	for _, text := range markup {
		token := a.named(text).token.Reveal()
		a.get(pushes+"/"+token, http.Header{"User-Agent": {strings.Map(visibleOnly, text)}, "Referer": {strings.Map(visibleOnly, text)}}).want(http.StatusOK)
		for _, path := range []string{"/p", "/p?q=" + url.QueryEscape(text), "/p/" + token + "/audit"} {
			lifeless(t, path, a.get(path, owner).want(http.StatusOK))
		}
		made := a.sendParts(filePush{before: typed(map[string]string{"kind": "file", "name": text, "note": text}), files: []file{{strings.Map(visibleOnly, strings.ReplaceAll(text, `"`, "%22")), "text/html", []byte("x")}}}, owner)
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
// file got into the page as markup. Here it is there to the letter, but for what
// is no part of a name.
func drillMarkupInAFileName(t *testing.T) {
	a := newAPI(t)
	for _, text := range markup {
		p := a.named(text)
		page := a.send("/p/"+p.token.Reveal(), nil).want(http.StatusOK)
		lifeless(t, text, page)
		stored := a.filesOf(p.token.Reveal())[0].name
		shown := page.page().find(func(n node) bool { return attr(n, "class") == "name" })
		if len(shown) != 1 || textOf(shown[0]) != strings.ReplaceAll(stored, "\x00", "\ufffd") {
			t.Errorf("%q is not shown as it is: %q", text, stored)
		}
	}
}

// GHSA-867c-p784-5q6g, PrivateBin 1.7.7 to 2.0.1: a file's name beside its size
// could have a link or a refresh in it, which sent people to another site.
func drillLinkInAFileName(t *testing.T) {
	a := newAPI(t)
	for _, text := range append(slices.Clone(markup), "https://evil.example/", "//evil.example/x", "[here](https://evil.example)", "x\r\nLocation: https://evil.example", `x"; filename=evil.html`) {
		p := a.named(text)
		page := a.send("/p/"+p.token.Reveal(), nil).want(http.StatusOK)
		lifeless(t, text, page)
		links := make(map[string]bool)
		for _, n := range page.page().find(func(n node) bool { return n.Data == "a" && n.Parent != nil && within(n, "main") }) {
			links[attr(n, "href")] = true
		}
		if len(links) != 1 || !strings.HasPrefix(slices.Collect(maps.Keys(links))[0], "/d/") {
			t.Errorf("%q: the page leads to %v", text, links)
		}
		got := a.get(p.shown()[0]).want(http.StatusOK)
		_, params, err := mime.ParseMediaType(got.header.Get("Content-Disposition"))
		if name := a.filesOf(p.token.Reveal())[0].name; err != nil || len(params) != 1 || params["filename"] != name || got.header.Get("Location")+got.header.Get("Refresh") != "" {
			t.Errorf("%q: %v", text, got.header)
		}
	}
}

// within reports whether an element is inside one of that name.
func within(n node, name string) bool {
	for p := n.Parent; p != nil; p = p.Parent {
		if p.Type == html.ElementNode && p.Data == name {
			return true
		}
	}
	return false
}
