package server_test

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
)

// GHSA-76c2-66pg-fj2f, Password Pusher before 2.8.1: a url push took addresses of
// any scheme, and sent its recipients on to a script in a data: address.
func drillAddressThatIsAScript(t *testing.T) {
	a := newAPI(t)
	for _, address := range []string{
		"data:text/html,<script>alert(1)</script>", "data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==", "DATA:text/html,x", "javascript:alert(1)", "JaVaScRiPt://example.com/%0aalert(1)",
		"java\tscript:alert(1)", "\x01javascript:alert(1)", " javascript:alert(1)", "javascript:alert(1)//https://example.com", "vbscript:x", "blob:https://example.com/x", "file:///etc/passwd",
		"view-source:https://example.com", "filesystem:https://example.com/x", "about:blank", "//example.com", "https:example.com", "https:/\\example.com", "https://", "data://example.com/,<script>alert(1)</script>",
	} {
		a.do("POST", pushes, `{"push":{"kind":"url","payload":`+quoted(address)+`}}`).want(http.StatusUnprocessableEntity)
		a.sendForm(typed(map[string]string{"kind": "url", "payload": address})).want(http.StatusUnprocessableEntity)
	}
	const good = "https://example.com/?next=data:text/html,x"
	for _, step := range []string{"true", "false"} {
		token := a.create(`"kind":"url","payload":` + quoted(good) + `,"retrieval_step":` + step)
		got := a.send("/p/"+token, nil).want(http.StatusOK)
		if got.header.Get("Location")+got.header.Get("Refresh") != "" || got.page().find(func(n node) bool { return attr(n, "href") == good }) == nil {
			t.Errorf("with a step %s nobody is asked: %v", step, got.header)
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
		"from nobody's proxy": func(c *config.Config) { c.TrustedProxies = nil },
		"where it is set":     func(c *config.Config) { c.BaseURL = "https://push.example.com" },
	} {
		a := newAPI(t, change)
		owner := a.user("ann@example.com")
		cookie, _ := a.signIn("bob@example.com")
		token := a.create(`"payload":"x"`, owner)
		for _, got := range []answer{
			a.do("POST", pushes, `{"push":{"payload":"x"}}`, made), a.get(pushes+"/"+token, made), a.get(pushes+"/"+token+"/preview", made), a.get(pushes+"/active", made, owner),
			a.sendForm(typed(nil), made, http.Header{"Sec-Fetch-Site": {"same-origin"}}), a.get("/help/api", made), a.get("/api/v2/openapi", made), a.get("/users/token", made, cookie), a.get("/p", made, cookie),
			a.get("/f/"+token, made), a.get("/p/"+token+"/audit", made),
		} {
			if got.status >= 400 || strings.Contains(got.body+fmt.Sprint(got.header), evil) {
				t.Errorf("%s: %d, %v, %.300s", name, got.status, got.header, got.body)
			}
		}
	}
}

// GHSA-g2j9-g8r5-rg82, PrivateBin 1.7.7 to 2.0.2: a cookie that names the template
// was a path, and read any file of its kind. Here a cookie names the language, and a
// path an asset.
func drillPathInACookie(t *testing.T) {
	a := newAPI(t)
	dir := filepath.Dir(a.store.Path)
	const canary = "canary-in-a-file-of-the-server"
	for _, name := range []string{"canary.html", "canary.json", "canary"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(canary), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	plain := a.get("/users/sign_in").want(http.StatusOK)
	up := strings.Repeat("../", 12) + strings.TrimPrefix(dir, "/") + "/canary"
	for _, path := range []string{
		dir + "/canary", up, up + ".json", url.QueryEscape(up), strings.ReplaceAll(up, "/", `\`), "../../data/canary", "....//....//canary", "file://" + dir + "/canary", "messages/en", "../go.mod", "en\x00" + up, "pushbox.db", "/etc/passwd",
	} {
		q, p := url.QueryEscape(path), strings.ReplaceAll(path, "\x00", "%00")
		cookie := strings.Map(visibleOnly, path)
		got := a.get("/users/sign_in?template="+q, http.Header{"Cookie": {"lang=" + cookie + "; template=" + cookie}})
		if got.status != http.StatusOK || got.body != plain.body {
			t.Errorf("the cookie %q changes the page: %d", path, got.status)
		}
		for _, target := range []string{"/users/sign_in?lang=" + q, "/assets/" + p, "/assets/" + url.PathEscape(path), "/assets/..%2f" + q, "/" + url.PathEscape(path), "/%2e%2e/" + url.PathEscape(path)} {
			if got, err := a.try("GET", target, ""); err == nil && (strings.Contains(got.body, canary) || strings.Contains(got.body, "root:") || got.status >= 500) {
				t.Errorf("%s: %d %.100s", target, got.status, got.body)
			}
		}
	}
}

// GHSA-6r69-c6wg-7g8m, yopass before 14.7.0: the metrics had a label for each
// method that anybody made up, and kept them all. Here what is counted and logged
// comes out of the table of routes.
func drillMadeUpMethods(t *testing.T) {
	a := newAPI(t)
	token := a.create(`"payload":"x"`)
	names := append(append(a.handler.RouteNames(true), a.handler.RouteNames(false)...), "none")
	for i := range 300 {
		method := fmt.Sprintf("MADEUP%d", i)
		for _, path := range []string{"/", pushes + "/" + token, fmt.Sprintf("/madeup%d", i)} {
			got := a.do(method, path, "")
			if got.status != http.StatusMethodNotAllowed && got.status != http.StatusNotFound || strings.Contains(strings.ToLower(got.body+fmt.Sprint(got.header)), "madeup") {
				t.Fatalf("%s %s: %d %s", method, path, got.status, got.body)
			}
		}
	}
	for line := range strings.Lines(a.log.String()) {
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
	a := newAPI(t)
	cookie, by := a.signIn("ann@example.com")
	token := a.mine(by).Token.Reveal()
	file := a.pushFiles("bob@example.com", []byte("x")).shown()[0]
	for _, path := range []string{
		"/", "/p", "/p/" + token, "/p/" + token + "/r", "/p/" + token + "/audit", "/p/" + token + "/audit.csv", "/users/sign_in", "/users/token", "/users/mfa", "/help/api", "/nowhere", "/robots.txt", "/healthz",
		"/f/" + token, pushes + "/" + token, pushes + "/nothing", "/api/v2/version", file, file + "0", "/assets/nothing.js",
	} {
		for _, method := range []string{"GET", "HEAD", "OPTIONS", "POST", "DELETE"} {
			got := a.do(method, path, "", cookie)
			policy := got.header.Get("Content-Security-Policy")
			if !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") {
				t.Errorf("%s %s: the policy is %q", method, path, policy)
			}
			if got.header.Get("X-Content-Type-Options") != "nosniff" || got.header.Get("Referrer-Policy") == "" || got.header.Get("Access-Control-Allow-Origin") != "" || got.status >= 500 {
				t.Errorf("%s %s: %d %v", method, path, got.status, got.header)
			}
		}
	}
}
