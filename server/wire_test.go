package server_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"pushbox/config"
)

// everyAnswer is an answer of each kind: success, each class of error, each
// kind of route.
func everyAnswer(a *api) map[string]answer {
	ann := a.user("every@example.com")
	token := a.create(`"payload":"x","passphrase":"p"`, ann)
	return map[string]answer{
		"version":      a.get("/api/v2/version"),
		"openapi":      a.get("/api/v2/openapi.json"),
		"health":       a.get("/healthz"),
		"created":      a.do("POST", pushes, `{"push":{"payload":"x"}}`),
		"bad body":     a.do("POST", pushes, `{`),
		"invalid":      a.do("POST", pushes, `{"push":{"payload":""}}`),
		"media type":   a.do("POST", pushes, `x`, http.Header{"Content-Type": {"text/plain"}}),
		"bad token":    a.get(pushes+"/active", http.Header{"Authorization": {"Bearer x"}}),
		"no token":     a.get(pushes + "/active"),
		"active":       a.get(pushes+"/active", ann),
		"expired":      a.get(pushes+"/expired", ann),
		"passphrase":   a.get(pushes + "/" + token),
		"shown":        a.get(pushes + "/" + token + "?passphrase=p"),
		"preview":      a.get(pushes + "/" + token + "/preview"),
		"audit":        a.get(pushes+"/"+token+"/audit", ann),
		"unknown":      a.get(pushes + "/nothing"),
		"no endpoint":  a.get("/api/v2/nothing"),
		"wrong method": a.do("PUT", pushes, ""),
		"deleted":      a.do("DELETE", pushes+"/"+token, "", ann),
	}
}

func TestEveryAnswerIsJSONAndKeptNowhere(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	for name, got := range everyAnswer(a) {
		for header, want := range map[string]string{
			"Content-Type":           "application/json; charset=utf-8",
			"Cache-Control":          "no-store",
			"X-Robots-Tag":           "noindex, nofollow",
			"X-Content-Type-Options": "nosniff",
			"Referrer-Policy":        "no-referrer",
		} {
			if v := got.header.Values(header); !slices.Equal(v, []string{want}) {
				t.Errorf("%s: %s is %q", name, header, v)
			}
		}
		if len(got.header.Values("Access-Control-Allow-Origin")) != 0 || len(got.header.Values("Set-Cookie")) != 0 {
			t.Errorf("%s: CORS or a cookie: %v", name, got.header)
		}
	}
}

func TestAcceptChangesNothing(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	for _, accept := range []string{"text/html", "application/xml", "*/*", "", "application/json;q=0"} {
		got := a.get("/api/v2/version", http.Header{"Accept": {accept}}).want(http.StatusOK)
		if got.header.Get("Content-Type") != "application/json; charset=utf-8" {
			t.Errorf("Accept %q: %v", accept, got.header)
		}
	}
}

func TestEveryPathTakesASuffix(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	ann := a.user("ann@example.com")
	token := a.do("POST", pushes+".json", `{"push":{"payload":"x"}}`, ann).want(http.StatusCreated).text("url_token")
	for _, path := range []string{
		"/api/v2/version.json", "/api/v2/openapi.json", pushes + "/active.json", pushes + "/expired.json",
		pushes + "/" + token + ".json", pushes + "/" + token + "/preview.json", pushes + "/" + token + "/audit.json",
	} {
		a.get(path, ann).want(http.StatusOK)
	}
	a.do("DELETE", pushes+"/"+token+".json", "", ann).want(http.StatusOK)
}

func TestNothingRedirects(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	token := a.create(`"payload":"x"`)
	for _, path := range []string{
		"/api/v2/version/", "/API/v2/version", "//api/v2/version", "/api/v2/../v2/version", "/api//v2/version",
		pushes + "/", pushes + "/" + token + "/", pushes + "/" + token + "/Preview", pushes + "/" + token + "/preview/",
		pushes + "//" + token, pushes + "//audit", pushes + "//preview", pushes + ".json/", pushes + "/" + token + ".json.json",
	} {
		if got := a.get(path); got.status != http.StatusNotFound || got.header.Get("Location") != "" {
			t.Errorf("%s: %d %v", path, got.status, got.header)
		}
	}
	a.get(pushes + "/" + token).want(http.StatusOK).has(map[string]string{"views_remaining": "4"})
}

func TestATokenIsReadInAnyCase(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	token := a.create(`"payload":"x"`)
	a.get(pushes + "/" + strings.ToUpper(token)).want(http.StatusOK).has(map[string]string{"url_token": token, "payload": "x"})
}

func TestOtherMethodsAreToldWhichThereAre(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	token := a.create(`"payload":"x","expire_after_views":1`)
	for _, test := range []struct{ method, path, allow string }{
		{"HEAD", pushes + "/" + token, "DELETE, GET"},
		{"HEAD", pushes + "/" + token + ".json", "DELETE, GET"},
		{"POST", pushes + "/" + token, "DELETE, GET"},
		{"OPTIONS", pushes + "/" + token, "DELETE, GET"},
		{"PATCH", pushes + "/" + token + "/preview", "GET"},
		{"HEAD", pushes + "/" + token + "/audit", "GET"},
		{"GET", pushes, "POST"},
		{"OPTIONS", pushes, "POST"},
		{"POST", "/api/v2/version", "GET"},
		{"DELETE", "/healthz", "GET"},
		{"BREW", pushes, "POST"},
		{"POST", "/d/a/1", "GET, HEAD"},
	} {
		got := a.do(test.method, test.path, "")
		if got.status != http.StatusMethodNotAllowed || got.header.Get("Allow") != test.allow {
			t.Errorf("%s %s: %d, Allow %q", test.method, test.path, got.status, got.header.Get("Allow"))
		}
		if test.method != "HEAD" && got.problem() != "method-not-allowed" {
			t.Errorf("%s %s: %s", test.method, test.path, got.body)
		}
	}
	a.get(pushes + "/" + token).want(http.StatusOK).has(map[string]string{"payload": "x"})
}

func TestTheVersionTellsWhatThereIs(t *testing.T) {
	t.Parallel()
	const all = `{"application_version":"3.0.0","api_version":"2.1","edition":"oss","features":{"anonymous_access":%t,"api_token_authentication":true,"accounts":{"enabled":false},"pushes":{"enabled":true,"email_auto_dispatch":false,"file_attachments":{"enabled":%[1]t,"requires_authentication":true},"url_pushes":{"enabled":%[1]t},"qr_code_pushes":{"enabled":%[1]t}},"requests":{"enabled":false}}}` + "\n"
	for _, on := range []bool{true, false} {
		a := newAPI(t, func(c *config.Config) {
			c.AllowAnonymous, c.EnableFilePushes, c.EnableURLPushes, c.EnableQRPushes = on, on, on, on
		})
		for _, h := range []http.Header{{}, {"Authorization": {"Bearer nonsense"}}, {"X-User-Token": {"x"}}} {
			if got := a.get("/api/v2/version", h).want(http.StatusOK); got.body != fmt.Sprintf(all, on) {
				t.Errorf("it is %s", got.body)
			}
		}
	}
}

var senderKeys = []string{
	"url_token", "kind", "html_url", "json_url", "created_at", "updated_at", "expires_at", "expire_after_days",
	"expire_after_views", "days_remaining", "views_remaining", "expired", "expired_on", "deleted",
	"deletable_by_viewer", "retrieval_step", "passphrase", "passphrase_protected", "name", "note",
}

func TestHealthSaysOK(t *testing.T) {
	t.Parallel()
	a := newAPI(t, func(c *config.Config) { c.AllowAnonymous = false })
	if got := a.get("/healthz", http.Header{"Authorization": {"Bearer x"}}).want(http.StatusOK); got.body != `{"status":"ok"}`+"\n" {
		t.Errorf("%s", got.body)
	}
}

// Balancers ask in this way.
func TestHealthNeedsNoHost(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	for _, path := range []string{"/healthz", "/api/v2/version"} {
		if got := a.raw("GET " + path + " HTTP/1.0\r\n\r\n"); !strings.Contains(got, " 200 ") {
			t.Errorf("%s: %s", path, got)
		}
	}
}

func TestOddRequestTargets(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	for target, status := range map[string]string{
		"OPTIONS *": " 200 ", // the test's server answers that itself; serve does not
		"GET http://other.example/api/v2/version": " 200 ",
		"GET /api/v2/pushes/%2e%2e/version":       " 404 ",
		"GET /api/v2/pushes/a%2fpreview":          " 404 ",
	} {
		if got := a.raw(target + " HTTP/1.1\r\nHost: box\r\n\r\n"); !strings.Contains(got, status) {
			t.Errorf("%s: %s", target, got)
		}
	}
}
