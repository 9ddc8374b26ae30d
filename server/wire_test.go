package server_test

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/testkit/env"
	"pushbox/server/servertest"
	"pushbox/store/record"
)

// everyAnswer returns answers of every sort: successes, each class of error, each kind
// of route.
func everyAnswer(a *servertest.Server) map[string]servertest.Answer {
	ann := a.AddTokenUser("every@example.com")
	token := a.Create(`"payload":"x","passphrase":"p"`, ann)
	return map[string]servertest.Answer{
		"version":      a.Get("/api/v2/version"),
		"openapi":      a.Get("/api/v2/openapi.json"),
		"health":       a.Get("/healthz"),
		"created":      a.Do("POST", pushes, `{"push":{"payload":"x"}}`),
		"bad body":     a.Do("POST", pushes, `{`),
		"invalid":      a.Do("POST", pushes, `{"push":{"payload":""}}`),
		"media type":   a.Do("POST", pushes, `x`, http.Header{"Content-Type": {"text/plain"}}),
		"bad token":    a.Get(pushes+"/active", http.Header{"Authorization": {"Bearer x"}}),
		"no token":     a.Get(pushes + "/active"),
		"active":       a.Get(pushes+"/active", ann),
		"expired":      a.Get(pushes+"/expired", ann),
		"passphrase":   a.Get(pushes + "/" + token),
		"shown":        a.Get(pushes + "/" + token + "?passphrase=p"),
		"preview":      a.Get(pushes + "/" + token + "/preview"),
		"audit":        a.Get(pushes+"/"+token+"/audit", ann),
		"unknown":      a.Get(pushes + "/nothing"),
		"no endpoint":  a.Get("/api/v2/nothing"),
		"wrong method": a.Do("PUT", pushes, ""),
		"deleted":      a.Do("DELETE", pushes+"/"+token, "", ann),
	}
}

func TestEveryAnswerIsJSONAndNotCached(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	for name, got := range everyAnswer(a) {
		for header, want := range map[string]string{
			"Content-Type":           "application/json; charset=utf-8",
			"Cache-Control":          "no-store",
			"X-Robots-Tag":           "noindex, nofollow",
			"X-Content-Type-Options": "nosniff",
			"Referrer-Policy":        "no-referrer",

			"Content-Security-Policy": "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
		} {
			if v := got.Header.Values(header); !slices.Equal(v, []string{want}) {
				t.Errorf("%s: %s is %q", name, header, v)
			}
		}
		if len(got.Header.Values("Access-Control-Allow-Origin")) != 0 || len(got.Header.Values("Set-Cookie")) != 0 {
			t.Errorf("%s: CORS or a cookie: %v", name, got.Header)
		}
	}
}

func TestAcceptChangesNothing(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	for _, accept := range []string{"text/html", "application/xml", "*/*", "", "application/json;q=0"} {
		got := a.Get("/api/v2/version", http.Header{"Accept": {accept}}).Want(http.StatusOK)
		if got.Header.Get("Content-Type") != "application/json; charset=utf-8" {
			t.Errorf("Accept %q: %v", accept, got.Header)
		}
	}
}

func TestEveryPathTakesASuffix(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddTokenUser("ann@example.com")
	token := a.Do("POST", pushes+".json", `{"push":{"payload":"x"}}`, ann).Want(http.StatusCreated).Text("url_token")
	for _, path := range []string{
		"/api/v2/version.json", "/api/v2/openapi.json", pushes + "/active.json", pushes + "/expired.json",
		pushes + "/" + token + ".json", pushes + "/" + token + "/preview.json", pushes + "/" + token + "/audit.json",
	} {
		a.Get(path, ann).Want(http.StatusOK)
	}
	a.Do("DELETE", pushes+"/"+token+".json", "", ann).Want(http.StatusOK)
}

func TestNothingRedirects(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	token := a.Create(`"payload":"x"`)
	for _, path := range []string{
		"/API/v2/version", "/api/v2/../v2/version", "/api/v2/./version",
		pushes + "/" + token + "/Preview", pushes + "//audit", pushes + "//preview", pushes + "/.json", pushes + "/" + token + ".json.json",
	} {
		got := a.Get(path)
		if known := got.Status == http.StatusMethodNotAllowed && path == pushes+"/.json"; got.Status != http.StatusNotFound && !known || got.Header.Get("Location") != "" {
			t.Errorf("%s: %d %v", path, got.Status, got.Header)
		}
	}
	a.Get(pushes + "/" + token).Want(http.StatusOK).Has(map[string]string{"views_remaining": "4"})
}

// Some clients join an address that ends in a slash with a path that begins with one.
func TestMoreSlashesChangeNothing(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"", "/push"} {
		a := servertest.New(t, func(c *config.Config) { c.BasePath = base })
		at := func(path string) string { return "//" + strings.TrimPrefix(base+"/", "/") + path }
		token := a.Do("POST", at("api/v2//pushes/"), `{"push":{"payload":"x"}}`).Want(http.StatusCreated).Text("url_token")
		for _, path := range []string{
			"api/v2/version", "api//v2/version/", "/api/v2/version.json", "api/v2/version.json/", "healthz/",
			"api/v2/pushes//" + token + "/preview//", "p/" + token + "/", "/p//" + token + "/r", "/", "",
		} {
			a.Get(at(path)).Want(http.StatusOK)
		}
		for _, path := range []string{"api/v2", "api/v2/pushes//audit", "api/v2/versio/n"} {
			if got := a.Get(at(path)).Want(http.StatusNotFound); got.Problem() != "not-found" {
				t.Errorf("%s: %s", path, got.Body)
			}
		}
		a.Get(at("api/v2/pushes/" + token + "//")).Want(http.StatusOK).Has(map[string]string{"payload": "x", "views_remaining": "4"})
	}
}

// A proxy may shut off what is not for everyone by how its path begins.
func TestMoreSlashesLeadToNothingElse(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"", "/push"} {
		a := servertest.New(t, func(c *config.Config) { c.BasePath = base })
		session := a.AddSessionUser("root@example.com")
		a.SetAdmin("root@example.com", true)
		token := a.AddScopedToken("root@example.com", record.ScopeAdmin)
		for path, boss := range map[string]http.Header{
			"/admin": session, "/admin/log": session, "/api/v2/admin/accounts": token, "/users/account": session, "/users/sessions": session, "/p": session, "/help/api": session,
		} {
			a.Get(base+path, boss).Want(http.StatusOK)
			for _, other := range []string{"/" + base + path, base + "/" + path, base + strings.ReplaceAll(path, "/", "//"), base + path + "//"} {
				a.Get(other, boss).Want(http.StatusNotFound)
			}
		}
	}
}

// A proxy that compares paths must see what the router sees.
func TestAPathWithNeedlessEscapesIsRefused(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	token := a.Create(`"payload":"x"`)
	for path, want := range map[string]int{
		"/api/v2/%76ersion":                            400,
		"/api/v2%2Fversion":                            400,
		"/api/v2%2fversion":                            400,
		"/api/v2/version%2E":                           400,
		"/%6detrics":                                   400,
		"/api/v2/pushes/%2e%2e/version":                400,
		pushes + "/%" + escape(token[0]) + token[1:]:   400,
		"/p/%" + escape(token[0]) + token[1:]:          400,
		pushes + "/a%3Ab":                              400,
		pushes + "/a:b":                                404,
		pushes + "/a!b":                                404,
		pushes + "/%00":                                404,
		pushes + "/%C3%A4":                             404,
		pushes + "/%c3%a4":                             404,
		pushes + "/a%5cb":                              404,
		pushes + "/" + token + "%20":                   404,
		pushes + "/%25" + escape(token[0]) + token[1:]: 404,
	} {
		if got := a.Raw("GET " + path + " HTTP/1.1\r\nHost: box\r\n\r\n"); !strings.Contains(got, fmt.Sprintf(" %d ", want)) {
			t.Errorf("%s: %s", path, got)
		}
	}
	a.Get(pushes + "/" + token).Want(http.StatusOK).Has(map[string]string{"views_remaining": "4"})
}

// Each row of the table, at both entry points: with its first letter and with its last
// slash escaped.
func TestNoRouteIsReachedByAnEscapedPath(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	outer := a.Recipients()
	for _, row := range a.Handler.Rows() {
		path := strings.NewReplacer(":url_token", "tt", ":", "x").Replace(row.Pattern)
		if path == "/" {
			continue
		}
		all := []string{"/%" + escape(path[1]) + path[2:]}
		if slash := strings.LastIndexByte(path, '/'); slash > 0 {
			all = append(all, path[:slash]+"%2F"+path[slash+1:], path[:slash]+"%2f"+path[slash+1:])
		}
		for _, escaped := range all {
			for _, at := range []*servertest.Server{a, outer} {
				if got := at.Raw(row.Method + " " + escaped + " HTTP/1.1\r\nHost: box\r\n\r\n"); !strings.Contains(got, " 400 ") {
					t.Errorf("%s %s: %s", row.Method, escaped, got)
				}
			}
		}
	}
}

func escape(c byte) string { return fmt.Sprintf("%02X", c) }

func TestAURLTokenMayBeInUpperOrLowerCase(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	token := a.Create(`"payload":"x"`)
	a.Get(pushes + "/" + strings.ToUpper(token)).Want(http.StatusOK).Has(map[string]string{"url_token": token, "payload": "x"})
}

func TestOtherMethodsGetAnAllowHeader(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	token := a.Create(`"payload":"x","expire_after_views":1`)
	for _, test := range []struct{ method, path, allow string }{
		{"HEAD", pushes + "/" + token, "DELETE, GET"},
		{"HEAD", pushes + "/" + token + ".json", "DELETE, GET"},
		{"POST", pushes + "/" + token, "DELETE, GET"},
		{"OPTIONS", pushes + "/" + token, "DELETE, GET"},
		{"PATCH", pushes + "/" + token + "/preview", "GET, HEAD"},
		{"PUT", pushes + "/active", "DELETE, GET, HEAD"},
		{"GET", pushes, "POST"},
		{"OPTIONS", pushes, "POST"},
		{"POST", "/api/v2/version", "GET, HEAD"},
		{"DELETE", "/healthz", "GET, HEAD"},
		{"BREW", pushes, "POST"},
		{"POST", "/d/a/1", "GET, HEAD"},
	} {
		got := a.Do(test.method, test.path, "")
		if got.Status != http.StatusMethodNotAllowed || got.Header.Get("Allow") != test.allow {
			t.Errorf("%s %s: %d, Allow %q", test.method, test.path, got.Status, got.Header.Get("Allow"))
		}
		if test.method != "HEAD" && got.Problem() != "method-not-allowed" {
			t.Errorf("%s %s: %s", test.method, test.path, got.Body)
		}
	}
	a.Get(pushes + "/" + token).Want(http.StatusOK).Has(map[string]string{"payload": "x"})
}

// Services that watch a server ask with HEAD.
func TestHEADIsGETWithoutABody(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddTokenUser("ann@example.com")
	push := a.Create(`"payload":"x","retrieval_step":false`, ann)
	for _, path := range []string{
		"/api/v2/version", "/api/v2/openapi.json", "/healthz", "/readyz", "/robots.txt", "/.well-known/security.txt", "/help/api", "/", "/p/" + push, "/p/" + push + "/r", "/users/sign_in",
		pushes + "/active", pushes + "/expired", pushes + "/" + push + "/preview", pushes + "/" + push + "/audit", pushes + "/nothing/preview", "/p/nothing",
	} {
		plain := codings("identity")
		get, head := a.Get(path, ann, plain), a.Do("HEAD", path, "", ann, plain)
		if zipped := a.Do("HEAD", path, "", ann, codings("gzip")); zipped.Header.Get("Content-Length") != a.Get(path, ann, codings("gzip")).Header.Get("Content-Length") {
			t.Errorf("%s, compressed: HEAD %v", path, zipped.Header)
		}
		if head.Status != get.Status || head.Body != "" || head.Header.Get("Content-Length") != get.Header.Get("Content-Length") || head.Header.Get("Content-Type") != get.Header.Get("Content-Type") {
			t.Errorf("%s: %d %v, and HEAD %d %v", path, get.Status, get.Header, head.Status, head.Header)
		}
	}
	navigates := http.Header{"Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {"document"}}
	a.Do("HEAD", "/p/"+push, "", navigates).Want(http.StatusOK)
	a.Do("HEAD", pushes+"/"+push, "", ann).Want(http.StatusMethodNotAllowed)
	a.Get(pushes + "/" + push).Want(http.StatusOK).Has(map[string]string{"views_remaining": "4"})
}

// A browser says when it asks for something that the user did not ask for.
func TestARetrievalThatIsNotMeantCountsNothing(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	token := a.Create(`"payload":"x"`)
	push := pushes + "/" + token
	for _, h := range []http.Header{
		{"Sec-Purpose": {"prefetch"}},
		{"Sec-Purpose": {"prefetch;prerender"}},
		{"Purpose": {"prefetch"}},
		{"X-Moz": {"prefetch"}},
		{"Sec-Fetch-Mode": {"no-cors"}},
		{"Sec-Fetch-Mode": {"no-cors"}, "Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Dest": {"image"}},
	} {
		for _, path := range []string{push, push + ".json", "/p/" + token + ".json", "/f/" + token + ".json", "/r/" + token + "/r.json"} {
			if got := a.Get(path, h).Want(http.StatusForbidden); got.Problem() != "forbidden" {
				t.Errorf("%s, %v: %s", path, h, got.Body)
			}
		}
		a.Get(push+"/preview", h).Want(http.StatusOK)
	}
	for i, mode := range []string{"navigate", "cors", "same-origin", ""} {
		views := fmt.Sprint(4 - i)
		a.Get(push, http.Header{"Sec-Fetch-Mode": {mode}, "Sec-Fetch-Site": {"cross-site"}}).Want(http.StatusOK).Has(map[string]string{"views_remaining": views})
	}
}

// A page of another site can send a form, or an image's request, and cannot set a header.
func TestAnotherSitesFormChangesNothing(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	push := pushes + "/" + a.Create(`"payload":"x"`)
	send := func(site, mode string) (post, del servertest.Answer) {
		h := http.Header{"Sec-Fetch-Site": {site}, "Sec-Fetch-Mode": {mode}}
		return a.Do("POST", pushes, `{"push":{"payload":"x"}}`, h), a.Do("DELETE", push, "", h)
	}
	for _, mode := range []string{"navigate", "no-cors"} {
		post, del := send("cross-site", mode)
		if post.Want(http.StatusForbidden).Problem() != "forbidden" || del.Want(http.StatusForbidden).Problem() != "forbidden" {
			t.Errorf("%s: %s %s", mode, post.Body, del.Body)
		}
	}
	for site, mode := range map[string]string{"cross-site": "cors", "same-origin": "navigate", "same-site": "navigate", "none": "navigate", "": ""} {
		post, _ := send(site, mode)
		post.Want(http.StatusCreated)
	}
}

// Whatever the route of the API, of either version.
func TestAnotherSitesFormReachesNoRoute(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, servertest.TakesRequests)
	ann := a.AddTokenUser("ann@example.com")
	pages := a.Handler.RouteNames(true)
	for _, row := range a.Handler.Rows() {
		if row.Method == http.MethodGet || row.Method == http.MethodHead || slices.Contains(pages, row.Name) {
			continue
		}
		path := strings.Replace(row.Pattern, ":url_token", a.Create(`"payload":"x"`, ann), 1)
		for _, mode := range []string{"navigate", "no-cors"} {
			h := http.Header{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {mode}}
			if got := a.Do(row.Method, path, `{"push":{"payload":"x"},"password":{"payload":"x"}}`, h, ann); got.Status != http.StatusForbidden {
				t.Errorf("%s %s, %s: %d", row.Method, path, mode, got.Status)
			}
		}
	}
}

func TestTheVersionTellsTheFeatures(t *testing.T) {
	t.Parallel()
	const all = `{"application_version":"3.0.0","api_version":"2.1","edition":"oss","features":{"anonymous_access":%t,"api_token_authentication":true,"accounts":{"enabled":false},"pushes":{"enabled":true,"email_auto_dispatch":false,"file_attachments":{"enabled":%[1]t,"requires_authentication":true},"url_pushes":{"enabled":%[1]t},"qr_code_pushes":{"enabled":%[1]t}},"requests":{"enabled":%[1]t,"email_auto_dispatch":false}}}` + "\n"
	for _, on := range []bool{true, false} {
		a := servertest.New(t, func(c *config.Config) {
			c.AllowAnonymous, c.EnableFilePushes, c.EnableURLPushes, c.EnableQRPushes, c.EnableRequests = on, on, on, on, on
		})
		for _, h := range []http.Header{{}, {"Authorization": {"Bearer nonsense"}}, {"X-User-Token": {"x"}}} {
			if got := a.Get("/api/v2/version", h).Want(http.StatusOK); got.Body != fmt.Sprintf(all, on) {
				t.Errorf("it is %s", got.Body)
			}
		}
	}
}

func TestHealthSaysOK(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) { c.AllowAnonymous = false })
	if got := a.Get("/healthz", http.Header{"Authorization": {"Bearer x"}}).Want(http.StatusOK); got.Body != `{"status":"ok"}`+"\n" {
		t.Errorf("%s", got.Body)
	}
}

// Balancers ask in this way.
func TestHealthNeedsNoHost(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	for _, path := range []string{"/healthz", "/api/v2/version"} {
		if got := a.Raw("GET " + path + " HTTP/1.0\r\n\r\n"); !strings.Contains(got, " 200 ") {
			t.Errorf("%s: %s", path, got)
		}
	}
}

func TestOddRequestTargets(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	for target, status := range map[string]string{
		"OPTIONS *": " 200 ", // the test's server answers that itself; serve does not
		"GET http://other.example/api/v2/version": " 200 ",
		"GET /api/v2/pushes/%2e%2e/version":       " 400 ",
		"GET /api/v2/pushes/a%2fpreview":          " 400 ",
	} {
		if got := a.Raw(target + " HTTP/1.1\r\nHost: box\r\n\r\n"); !strings.Contains(got, status) {
			t.Errorf("%s: %s", target, got)
		}
	}
}

// Each row of that section names what would be there if the row were not true.
func TestWhatIsMissingIsMissing(t *testing.T) {
	t.Parallel()
	manual, err := os.ReadFile("../docs/differences.md")
	env.OK(t, err)
	_, rest, _ := strings.Cut(string(manual), "\n## What is missing\n")
	part, _, _ := strings.Cut(rest, "\n## ")
	rows := regexp.MustCompile(`(?m)^\| (.*) \| .* \| (.*) \|$`).FindAllStringSubmatch(part, -1)
	if len(rows) < 2 {
		t.Fatalf("the section has %d rows", len(rows))
	}
	routes := make(map[string]bool)
	param := regexp.MustCompile(`:[a-z_]+`)
	for _, r := range servertest.New(t).Handler.Rows() {
		routes[r.Method+" "+param.ReplaceAllString(r.Pattern, "TOKEN")] = true
	}
	span := regexp.MustCompile("`([^`]+)`")
	for _, row := range rows[1:] { // the first one has the titles
		signs := span.FindAllStringSubmatch(row[2], -1)
		if len(signs) == 0 {
			t.Errorf("%s: no setting or route says so", row[1])
		}
		for _, sign := range signs {
			isSetting := slices.ContainsFunc(config.Keys(), func(k config.Setting) bool {
				return k.Key == sign[1] || strings.HasPrefix(k.Key, sign[1]+".")
			})
			if isSetting || routes[sign[1]] {
				t.Errorf("%s: there is %s", row[1], sign[1])
			}
		}
	}
	for _, there := range []string{"GET /p/TOKEN/preview", "GET /users/password/forgotten", "GET /admin", "OPTIONS /p.json"} {
		if !routes[there] {
			t.Errorf("there is no %s: the routes are not read as the rows are", there)
		}
	}
}

func TestVersion1CanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) { c.EnableAPIv1 = false })
	token := a.Create(`"payload":"x","expire_after_views":1`)
	asked := 0
	for _, row := range a.Handler.Rows() {
		if !strings.HasPrefix(row.Name, "v1_") {
			continue
		}
		asked++
		got := a.Do(row.Method, pathOf(a, row), "").Want(http.StatusNotFound)
		if row.Method == http.MethodHead {
			continue // it has no body
		}
		if got.Problem() != "not-found" || !strings.Contains(got.Text("error"), "API version 1 is switched off") || got.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s %s: %v %s", row.Method, row.Pattern, got.Header, got.Body)
		}
	}
	if asked < 20 {
		t.Errorf("only %d routes", asked)
	}
	if got := a.Get("/p.json").Want(http.StatusNotFound); !strings.Contains(got.Text("error"), "API version 1 is switched off") {
		t.Errorf("another method: %s", got.Body)
	}
	a.Get(pushes + "/" + token).Want(http.StatusOK).Has(map[string]string{"payload": "x"})
}
