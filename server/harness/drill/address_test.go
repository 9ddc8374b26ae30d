package drill_test

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/testkit/env"
	"pushbox/server"
	"pushbox/server/servertest"
)

// GHSA-76c2-66pg-fj2f, Password Pusher before 2.8.1: a url push took addresses of
// any scheme, and sent its recipients on to a script in a data: address.
func drillAddressThatIsAScript(t *testing.T) {
	a := servertest.New(t)
	for _, address := range []string{
		"data:text/html,<script>alert(1)</script>", "data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==", "DATA:text/html,x", "javascript:alert(1)", "JaVaScRiPt://example.com/%0aalert(1)",
		"java\tscript:alert(1)", "\x01javascript:alert(1)", " javascript:alert(1)", "javascript:alert(1)//https://example.com", "vbscript:x", "blob:https://example.com/x", "file:///etc/passwd",
		"view-source:https://example.com", "filesystem:https://example.com/x", "about:blank", "//example.com", "https:example.com", "https:/\\example.com", "https://", "data://example.com/,<script>alert(1)</script>",
	} {
		a.Do("POST", pushes, `{"push":{"kind":"url","payload":`+servertest.Quoted(address)+`}}`).Want(http.StatusUnprocessableEntity)
		a.SendForm(servertest.Typed(map[string]string{"kind": "url", "payload": address})).Want(http.StatusUnprocessableEntity)
	}
	const good = "https://example.com/?next=data:text/html,x"
	for _, step := range []string{"true", "false"} {
		token := a.Create(`"kind":"url","payload":` + servertest.Quoted(good) + `,"retrieval_step":` + step)
		got := a.Send("/p/"+token, nil).Want(http.StatusOK)
		if got.Header.Get("Location")+got.Header.Get("Refresh") != "" || got.Page().Find(func(n servertest.Node) bool { return servertest.Attr(n, "href") == good }) == nil {
			t.Errorf("with a step %s the page does not ask first: %v", step, got.Header)
		}
	}
}

// Finding A3 of Onetime Secret's review of 2026-06-22: links were made of whatever
// host a request named, and led its readers to another site.
func drillMadeUpHost(t *testing.T) {
	const evil = "evil.example"
	made := http.Header{
		"X-Forwarded-Host": {evil}, "X-Forwarded-Server": {evil}, "X-Host": {evil}, "X-Original-Host": {evil}, "Forwarded": {"host=" + evil}, "X-Original-Url": {"https://" + evil},
		"X-Forwarded-For": {"203.0.113.9"}, "X-Forwarded-Proto": {"https"}, "X-Forwarded-Port": {"666"}, "X-Forwarded-Prefix": {"//" + evil}, "Apx-Incoming-Host": {evil}, "O-Apx-Incoming-Host": {evil},
	}
	for name, change := range map[string]func(*config.Config){
		"without a proxy": func(c *config.Config) { c.TrustedProxies = nil },
		"where it is set": func(c *config.Config) { c.BaseURL = "https://push.example.com" },
	} {
		a := servertest.New(t, change)
		owner := a.AddTokenUser("ann@example.com")
		cookie := a.AddSessionUser("bob@example.com")
		token := a.Create(`"payload":"x"`, owner)
		for _, got := range []servertest.Answer{
			a.Do("POST", pushes, `{"push":{"payload":"x"}}`, made), a.Get(pushes+"/"+token, made), a.Get(pushes+"/"+token+"/preview", made), a.Get(pushes+"/active", made, owner),
			a.SendForm(servertest.Typed(nil), made, http.Header{"Sec-Fetch-Site": {"same-origin"}}), a.Get("/help/api", made), a.Get("/api/v2/openapi", made), a.Get("/users/token", made, cookie), a.Get("/p", made, cookie),
			a.Get("/f/"+token, made), a.Get("/p/"+token+"/audit", made),
		} {
			if refused := got.Status == http.StatusMisdirectedRequest; refused != (name == "where it is set") || !refused && got.Status >= 400 || strings.Contains(got.Body+fmt.Sprint(got.Header), evil) {
				t.Errorf("%s: %d, %v, %.300s", name, got.Status, got.Header, got.Body)
			}
		}
	}
}

// GHSA-g2j9-g8r5-rg82, PrivateBin 1.7.7 to 2.0.2: a cookie that names the template
// was a path, and read any file of its kind. Here a cookie names the language, and a
// path an asset.
func drillPathInACookie(t *testing.T) {
	a := servertest.New(t)
	dir := filepath.Dir(a.Store.Path)
	const canary = "canary-in-a-file-of-the-server"
	for _, name := range []string{"canary.html", "canary.json", "canary"} {
		env.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(canary), 0o600))
	}
	plain := a.Get("/users/sign_in").Want(http.StatusOK)
	up := strings.Repeat("../", 12) + strings.TrimPrefix(dir, "/") + "/canary"
	for _, path := range []string{
		dir + "/canary", up, up + ".json", url.QueryEscape(up), strings.ReplaceAll(up, "/", `\`), "../../data/canary", "....//....//canary", "file://" + dir + "/canary", "messages/en", "../go.mod", "en\x00" + up, "pushbox.db", "/etc/passwd",
	} {
		q, p := url.QueryEscape(path), strings.ReplaceAll(path, "\x00", "%00")
		cookie := strings.Map(visibleOnly, path)
		got := a.Get("/users/sign_in?template="+q, http.Header{"Cookie": {"lang=" + cookie + "; template=" + cookie}})
		if got.Status != http.StatusOK || got.Body != plain.Body {
			t.Errorf("the cookie %q changes the page: %d", path, got.Status)
		}
		for _, target := range []string{"/users/sign_in?lang=" + q, "/assets/" + p, "/assets/" + url.PathEscape(path), "/assets/..%2f" + q, "/" + url.PathEscape(path), "/%2e%2e/" + url.PathEscape(path)} {
			if got, err := a.Try("GET", target, ""); err == nil && (strings.Contains(got.Body, canary) || strings.Contains(got.Body, "root:") || got.Status >= 500) {
				t.Errorf("%s: %d %.100s", target, got.Status, got.Body)
			}
		}
	}
}

// GHSA-6r69-c6wg-7g8m, yopass before 14.7.0: the metrics had a label for each
// method that a client made up, and kept them all. Here the names that are counted and
// logged come from the table of routes.
func drillMadeUpMethods(t *testing.T) {
	a := servertest.New(t)
	token := a.Create(`"payload":"x"`)
	var names []string
	for _, l := range server.Labels() {
		names = append(names, l.Route)
	}
	for i := range 300 {
		method := fmt.Sprintf("MADEUP%d", i)
		for _, path := range []string{"/", pushes + "/" + token, fmt.Sprintf("/madeup%d", i)} {
			got := a.Do(method, path, "")
			if got.Status != http.StatusMethodNotAllowed && got.Status != http.StatusNotFound || strings.Contains(strings.ToLower(got.Body+fmt.Sprint(got.Header)), "madeup") {
				t.Fatalf("%s %s: %d %s", method, path, got.Status, got.Body)
			}
		}
	}
	for line := range strings.Lines(a.Log.String()) {
		_, rest, _ := strings.Cut(line, `"route":"`)
		name, _, _ := strings.Cut(rest, `"`)
		if !slices.Contains(names, name) || strings.Contains(strings.ToLower(line), "madeup") {
			t.Fatalf("the line %s", line)
		}
	}
}

// Findings S1 and S2 of Onetime Secret's review of 2026-06-22: unless it was
// configured no answer had a Content-Security-Policy, and any site could frame them.
func drillHeaders(t *testing.T) {
	a := servertest.New(t)
	cookie, by := a.AddSessionUser("ann@example.com"), a.Actor("ann@example.com")
	token := a.Mine(by).Token.Reveal()
	file := a.PushFiles("bob@example.com", []byte("x")).Shown()[0]
	for _, path := range []string{
		"/", "/p", "/p/" + token, "/p/" + token + "/r", "/p/" + token + "/audit", "/p/" + token + "/audit.csv", "/users/sign_in", "/users/token", "/users/mfa", "/help/api", "/nowhere", "/robots.txt", "/healthz",
		"/f/" + token, pushes + "/" + token, pushes + "/nothing", "/api/v2/version", file, file + "0", "/assets/nothing.js",
	} {
		for _, method := range []string{"GET", "HEAD", "OPTIONS", "POST", "DELETE"} {
			got := a.Do(method, path, "", cookie)
			policy := got.Header.Get("Content-Security-Policy")
			if !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") {
				t.Errorf("%s %s: the policy is %q", method, path, policy)
			}
			if got.Header.Get("X-Content-Type-Options") != "nosniff" || got.Header.Get("Referrer-Policy") == "" || got.Header.Get("Access-Control-Allow-Origin") != "" || got.Status >= 500 {
				t.Errorf("%s %s: %d %v", method, path, got.Status, got.Header)
			}
		}
	}
}
