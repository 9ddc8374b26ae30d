package server_test

import (
	"fmt"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/store"
)

// everyAnswer is an answer of each kind: success, each class of error, each
// kind of route.
func everyAnswer(a *api) map[string]answer {
	ann := a.user("every@example.com")
	token := a.create(`"payload":"x","passphrase":"p"`, ann)
	return map[string]answer{
		"version":      a.get("/api/v2/version"),
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
		"root":         a.get("/"),
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
		"/api/v2/version.json", pushes + "/active.json", pushes + "/expired.json",
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
		pushes + "//" + token, pushes + ".json/", pushes + "/" + token + ".json.json",
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
	const all = `{"application_version":"3.0.0","api_version":"2.1","edition":"oss","features":{"anonymous_access":%t,"api_token_authentication":true,"accounts":{"enabled":false},"pushes":{"enabled":true,"email_auto_dispatch":false,"file_attachments":{"enabled":false,"requires_authentication":true},"url_pushes":{"enabled":%[1]t},"qr_code_pushes":{"enabled":%[1]t}},"requests":{"enabled":false}}}` + "\n"
	for _, on := range []bool{true, false} {
		a := newAPI(t, func(c *config.Config) { c.AllowAnonymous, c.EnableURLPushes, c.EnableQRPushes = on, on, on })
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

func TestTheKeysOfAPush(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	ann := a.user("ann@example.com")
	base := senderKeys[:len(senderKeys)-2]
	made := a.do("POST", pushes, `{"push":{"payload":"x"}}`, ann).want(http.StatusCreated)
	token := made.text("url_token")
	for name, test := range map[string]struct {
		got  []string
		want []string
	}{
		"create": {made.keys(), senderKeys},
		"show":   {a.get(pushes + "/" + token).keys(), append(slices.Clone(base), "payload", "files")},
		"delete": {a.do("DELETE", pushes+"/"+token, "", ann).keys(), base},
	} {
		if !slices.Equal(test.got, test.want) {
			t.Errorf("%s: %v", name, test.got)
		}
	}
	other := a.create(`"payload":"x"`, ann)
	for path, token := range map[string]string{"/active": other, "/expired": token} {
		l := a.get(pushes+path, ann).want(http.StatusOK).list()
		if len(l) != 1 || len(l[0]) != len(senderKeys) || l[0]["url_token"] != token {
			t.Errorf("%s: %v", path, l)
		}
		for _, key := range senderKeys {
			if _, has := l[0][key]; !has {
				t.Errorf("%s: no %s", path, key)
			}
		}
	}
}

func TestANewPush(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	got := a.do("POST", pushes, `{"push":{"payload":"x","name":"n","note":"o","passphrase":"p"}}`, a.user("ann@example.com")).want(http.StatusCreated)
	token := got.text("url_token")
	if !regexp.MustCompile(`^[a-z2-7]{34}$`).MatchString(token) {
		t.Errorf("token %q", token)
	}
	got.has(map[string]string{
		"kind": "text", "html_url": a.url + "/p/" + token + "/r", "json_url": a.url + "/api/v2/pushes/" + token,
		"created_at": "2026-01-01T00:00:00.000Z", "updated_at": "2026-01-01T00:00:00.000Z", "expires_at": "2026-01-08T00:00:00.000Z",
		"expire_after_days": "7", "expire_after_views": "5", "days_remaining": "7", "views_remaining": "5",
		"expired": "false", "expired_on": "null", "deleted": "false", "deletable_by_viewer": "true", "retrieval_step": "true",
		"passphrase": "null", "passphrase_protected": "true", "name": "n", "note": "o",
	})
}

func TestAbsentTextIsEmpty(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	a.do("POST", pushes, `{"push":{"payload":"x"}}`).want(http.StatusCreated).has(map[string]string{"name": "", "note": "", "passphrase": "null"})
}

func TestTheLinkHasARetrievalStepWhereThePushHas(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	for _, kind := range []string{`"payload":"x"`, `"kind":"url","payload":"https://example.com"`, `"kind":"qr","payload":"x"`} {
		for step, tail := range map[string]string{"true": "/r", "false": ""} {
			token := a.create(kind + `,"retrieval_step":` + step)
			want := a.url + "/p/" + token + tail
			a.get(pushes + "/" + token + "/preview").want(http.StatusOK).has(map[string]string{"url": want})
			a.get(pushes + "/" + token).want(http.StatusOK).has(map[string]string{"html_url": want, "retrieval_step": step})
		}
	}
}

func TestWhatLinksBeginWith(t *testing.T) {
	t.Parallel()
	proxied := http.Header{"Host": {"inner:80"}, "X-Forwarded-Proto": {"https"}, "X-Forwarded-Host": {"push.example.com"}, "X-Forwarded-For": {"203.0.113.9"}}
	for name, test := range map[string]struct {
		change func(*config.Config)
		header http.Header
		want   string
	}{
		"the request's host":   {nil, http.Header{"Host": {"box.lan:8080"}}, "http://box.lan:8080/"},
		"an IPv6 host":         {nil, http.Header{"Host": {"[::1]:5100"}}, "http://[::1]:5100/"},
		"what the proxy tells": {nil, proxied, "https://push.example.com/"},
		"not what others tell": {func(c *config.Config) { c.TrustedProxies = nil }, proxied, "http://inner:80/"},
		"the setting":          {func(c *config.Config) { c.BaseURL = "https://set.example" }, proxied, "https://set.example/"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var changes []func(*config.Config)
			if test.change != nil {
				changes = append(changes, test.change)
			}
			a := newAPI(t, changes...)
			got := a.do("POST", pushes, `{"push":{"payload":"x"}}`, test.header).want(http.StatusCreated)
			token := got.text("url_token")
			got.has(map[string]string{"html_url": test.want + "p/" + token + "/r", "json_url": test.want + "api/v2/pushes/" + token})
		})
	}
}

func TestAHostThatIsNoneIsRefused(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	for _, h := range []http.Header{
		{"Host": {"a\"b"}},
		{"X-Forwarded-Host": {"evil.example/path"}, "X-Forwarded-For": {"203.0.113.9"}},
	} {
		got := a.do("POST", pushes, `{"push":{"payload":"x"}}`, h)
		if got.status != http.StatusBadRequest {
			t.Errorf("%v: %d %s", h, got.status, got.body)
		}
	}
}

func TestDaysAndViewsRunDown(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	token := a.create(`"payload":"x","expire_after_days":2,"expire_after_views":3`)
	a.store.Clock.Advance(time.Hour)
	a.get(pushes + "/" + token).want(http.StatusOK).has(map[string]string{
		"days_remaining": "2", "views_remaining": "2", "created_at": "2026-01-01T00:00:00.000Z", "updated_at": "2026-01-01T01:00:00.000Z",
	})
	a.store.Clock.Advance(23 * time.Hour)
	a.get(pushes + "/" + token).want(http.StatusOK).has(map[string]string{"days_remaining": "1", "views_remaining": "1"})
	a.store.Clock.Advance(day)
	a.get(pushes + "/" + token).want(http.StatusOK).has(map[string]string{
		"days_remaining": "0", "views_remaining": "1", "expired": "true", "expired_on": "2026-01-03T00:00:00.000Z",
		"deleted": "false", "payload": "null", "files": "[]",
	})
}

func TestTheLastViewAndAfter(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	token := a.create(`"payload":"x","expire_after_views":1`)
	a.get(pushes + "/" + token).want(http.StatusOK).has(map[string]string{"payload": "x", "expired": "false", "expired_on": "null", "views_remaining": "0"})
	for range 2 {
		a.get(pushes + "/" + token).want(http.StatusOK).has(map[string]string{
			"payload": "null", "files": "[]", "expired": "true", "deleted": "false", "views_remaining": "0", "days_remaining": "0",
		})
	}
}

func TestADeletedPush(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	token := a.create(`"payload":"x"`)
	for range 2 {
		a.do("DELETE", pushes+"/"+token, "").want(http.StatusOK).has(map[string]string{
			"expired": "true", "deleted": "true", "expired_on": "2026-01-01T00:00:00.000Z", "views_remaining": "5",
		})
		a.store.Clock.Advance(time.Minute)
	}
	a.get(pushes + "/" + token).want(http.StatusOK).has(map[string]string{"payload": "null", "expired": "true", "deleted": "true"})
	a.get(pushes + "/" + token + "/preview").want(http.StatusOK).has(map[string]string{"url": a.url + "/p/" + token + "/r"})
}

func TestWhoMayDelete(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	ann, bob := a.user("ann@example.com"), a.user("bob@example.com")
	kept := a.create(`"payload":"x","deletable_by_viewer":false`, ann)
	if a.do("DELETE", pushes+"/"+kept, "").want(http.StatusUnauthorized).problem() != "unauthorized" {
		t.Error("another text for nobody")
	}
	if a.do("DELETE", pushes+"/"+kept, "", bob).want(http.StatusForbidden).problem() != "forbidden" {
		t.Error("another text for a stranger")
	}
	a.do("DELETE", pushes+"/"+kept, "", ann).want(http.StatusOK)
	free := a.create(`"payload":"x","deletable_by_viewer":true`, ann)
	a.do("DELETE", pushes+"/"+free, "", bob).want(http.StatusOK)
}

func TestUnknownMalformedAndPurgedAreTheSame(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	ann := a.user("ann@example.com")
	purged := a.create(`"payload":"x","expire_after_days":1`)
	a.store.Clock.Advance(3 * day)
	a.store.SweepAll()
	tokens := []string{purged, store.NewToken(a.store.Clock.Now()).Reveal(), "x", strings.Repeat("a", 34), strings.Repeat("0", 34), strings.Repeat("a", 5000), "%00", "..%2f"}
	for _, tail := range []string{"", "?passphrase=p", "/preview", "/audit", "/audit?page=2"} {
		bodies := make(map[string]bool)
		for _, token := range tokens {
			a.store.Clock.Advance(time.Minute) // past the limit of guessing
			got := a.get(pushes+"/"+token+tail, ann).want(http.StatusNotFound)
			got.header.Del("Date")
			bodies[got.body+fmt.Sprint(got.header)] = true
		}
		if len(bodies) != 1 {
			t.Errorf("%q: they are told apart: %v", tail, bodies)
		}
	}
	if got := a.get(pushes + "/" + purged); got.body != `{"error":"not-found","message":"There is nothing at this address."}`+"\n" {
		t.Errorf("it is %s", got.body)
	}
}

func TestTheOwnersOwnRetrieval(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	ann := a.user("ann@example.com")
	token := a.create(`"payload":"x","passphrase":"p","expire_after_views":1`, ann)
	a.get(pushes+"/"+token, ann).want(http.StatusUnauthorized)
	for range 2 {
		a.get(pushes+"/"+token+"?passphrase=p", ann).want(http.StatusOK).has(map[string]string{"payload": "x", "views_remaining": "1"})
	}
}

func TestAPassphrase(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	const p = "päss wörd&+%"
	form := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	for name, ask := range map[string]func(path string) answer{
		"query":  func(path string) answer { return a.get(path + "?passphrase=p%C3%A4ss+w%C3%B6rd%26%2B%25") },
		"header": func(path string) answer { return a.get(path, http.Header{"X-Push-Passphrase": {p}}) },
		"form":   func(path string) answer { return a.do("GET", path, "passphrase=p%C3%A4ss+w%C3%B6rd%26%2B%25", form) },
	} {
		path := pushes + "/" + a.create(`"payload":"x","passphrase":"`+p+`"`)
		for _, wrong := range []answer{a.get(path), a.get(path + "?passphrase=wrong"), a.get(path, http.Header{"X-Push-Passphrase": {"wrong"}})} {
			wrong.want(http.StatusUnauthorized)
			if wrong.problem() != "That passphrase is incorrect." || wrong.header.Get("WWW-Authenticate") != "Bearer" {
				t.Errorf("%s: %s %v", name, wrong.body, wrong.header)
			}
		}
		ask(path).want(http.StatusOK).has(map[string]string{"payload": "x", "views_remaining": "4", "passphrase": "null", "passphrase_protected": "true"})
	}
}

func TestABlankPassphraseIsNone(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	for _, blank := range []string{`""`, `" "`, `null`} {
		token := a.create(`"payload":"x","passphrase":` + blank)
		a.get(pushes + "/" + token + "?passphrase=ignored").want(http.StatusOK).has(map[string]string{"passphrase_protected": "false"})
	}
}

func TestAnExpiredPushAsksForNoPassphrase(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	token := a.create(`"payload":"x","passphrase":"p"`)
	a.do("DELETE", pushes+"/"+token, "").want(http.StatusOK)
	a.get(pushes + "/" + token).want(http.StatusOK).has(map[string]string{"expired": "true", "payload": "null"})
}

func TestWrongPassphrasesAreLimited(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	path := pushes + "/" + a.create(`"payload":"x","passphrase":"p"`)
	for range 6 {
		a.get(path).want(http.StatusUnauthorized) // none at all is not a guess
	}
	for range 5 {
		a.get(path + "?passphrase=wrong").want(http.StatusUnauthorized)
	}
	got := a.get(path + "?passphrase=p").want(http.StatusTooManyRequests)
	if got.problem() != "too-many-requests" || got.header.Get("Retry-After") != "60" {
		t.Errorf("%s, Retry-After %q", got.body, got.header.Get("Retry-After"))
	}
	a.store.Clock.Advance(time.Minute)
	a.get(path + "?passphrase=p").want(http.StatusOK)
}

func TestWrongPassphrasesOfManyClientsAreLimitedPerPush(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	path := pushes + "/" + a.create(`"payload":"x","passphrase":"p"`)
	from := func(n int) http.Header { return http.Header{"X-Forwarded-For": {fmt.Sprintf("203.0.113.%d", n)}} }
	for n := range 20 {
		a.get(path+"?passphrase=wrong", from(n)).want(http.StatusUnauthorized)
	}
	a.get(path+"?passphrase=p", from(99)).want(http.StatusTooManyRequests)
}

func TestTheAuditLog(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	ann, bob := a.user("ann@example.com"), a.user("bob@example.com")
	token := a.create(`"payload":"x","passphrase":"p","expire_after_views":2`, ann)
	path := pushes + "/" + token
	who := http.Header{"X-Forwarded-For": {"203.0.113.7"}, "User-Agent": {strings.Repeat("é", 300)}, "Referer": {strings.Repeat("r", 256)}}
	a.store.Clock.Advance(time.Second)
	a.get(path+"?passphrase=p", who).want(http.StatusOK)
	a.get(path + "?passphrase=no").want(http.StatusUnauthorized)
	a.get(path+"?passphrase=p", ann).want(http.StatusOK)
	a.get(path + "/preview").want(http.StatusOK)
	a.do("DELETE", path, "", ann).want(http.StatusOK)
	a.get(path).want(http.StatusOK)

	got := a.get(path+"/audit", ann).want(http.StatusOK)
	if !slices.Equal(got.keys(), []string{"logs"}) {
		t.Errorf("keys %v", got.keys())
	}
	logs := got.object()["logs"].([]any)
	var kinds []string
	for _, l := range logs {
		entry := l.(map[string]any)
		if len(entry) != 6 || entry["created_at"] != entry["updated_at"] {
			t.Errorf("entry %v", entry)
		}
		kinds = append(kinds, fmt.Sprint(entry["kind"]))
	}
	if want := "creation view failed_passphrase owner_view expire failed_view"; strings.Join(kinds, " ") != want {
		t.Errorf("kinds %v", kinds)
	}
	view := logs[1].(map[string]any)
	for key, want := range map[string]string{
		"ip": "203.0.113.7", "user_agent": strings.Repeat("é", 255), "referrer": strings.Repeat("r", 255),
		"kind": "view", "created_at": "2026-01-01T00:00:01.000Z",
	} {
		if view[key] != want {
			t.Errorf("%s is %v", key, view[key])
		}
	}
	if first := logs[0].(map[string]any); first["referrer"] != "" {
		t.Errorf("a missing referrer is %v", first["referrer"])
	}
	a.get(path + "/audit").want(http.StatusUnauthorized)
	a.get(path+"/audit", bob).want(http.StatusForbidden)
	a.get(pushes+"/"+a.create(`"payload":"x"`)+"/audit", ann).want(http.StatusForbidden)
}

func TestPages(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	ann := a.user("ann@example.com")
	token := a.create(`"payload":"x","expire_after_views":100`, ann)
	for range 50 {
		a.get(pushes + "/" + token).want(http.StatusOK)
	}
	for _, path := range []string{pushes + "/active", pushes + "/expired", pushes + "/" + token + "/audit"} {
		for _, page := range []string{"0", "-1", "201", "1.0", "x", "", "+1", " 1", "99999999999999999999"} {
			if got := a.get(path+"?page="+strings.ReplaceAll(strings.ReplaceAll(page, "+", "%2B"), " ", "%20"), ann); got.status != http.StatusBadRequest || got.problem() != "bad-request" {
				t.Errorf("%s page %q: %d %s", path, page, got.status, got.body)
			}
		}
		for _, page := range []string{"1", "200"} {
			a.get(path+"?page="+page, ann).want(http.StatusOK)
		}
	}
	if got := a.get(pushes+"/active?page=200", ann).body; got != "[]\n" {
		t.Errorf("past the end: %s", got)
	}
	first := a.get(pushes+"/"+token+"/audit?page=1", ann).object()["logs"].([]any)
	second := a.get(pushes+"/"+token+"/audit?page=2", ann).object()["logs"].([]any)
	if len(first) != 50 || len(second) != 1 || first[0].(map[string]any)["kind"] != "creation" || second[0].(map[string]any)["kind"] != "view" {
		t.Errorf("%d and %d entries", len(first), len(second))
	}
}

func TestListsAreOnesOwnNewestFirst(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	ann, bob := a.user("ann@example.com"), a.user("bob@example.com")
	for i := range 51 {
		a.create(fmt.Sprintf(`"payload":"x","name":"%d"`, i), ann)
		a.store.Clock.Advance(time.Millisecond)
	}
	a.create(`"payload":"x","name":"bob's"`, bob)
	a.create(`"payload":"x","name":"nobody's"`)
	first, second := a.get(pushes+"/active", ann).list(), a.get(pushes+"/active?page=2", ann).list()
	if len(first) != 50 || len(second) != 1 || first[0]["name"] != "50" || second[0]["name"] != "0" {
		t.Errorf("%d and %d pushes", len(first), len(second))
	}
	a.do("DELETE", pushes+"/"+fmt.Sprint(first[0]["url_token"]), "", ann).want(http.StatusOK)
	if l := a.get(pushes+"/expired", ann).list(); len(l) != 1 || l[0]["name"] != "50" || l[0]["expired"] != true {
		t.Errorf("expired: %v", l)
	}
	if l := a.get(pushes+"/active", ann).list(); len(l) != 50 || l[0]["name"] != "49" {
		t.Errorf("active: %d", len(l))
	}
}

func TestHealthSaysOK(t *testing.T) {
	t.Parallel()
	a := newAPI(t, func(c *config.Config) { c.AllowAnonymous = false })
	if got := a.get("/healthz", http.Header{"Authorization": {"Bearer x"}}).want(http.StatusOK); got.body != `{"status":"ok"}`+"\n" {
		t.Errorf("%s", got.body)
	}
}

func TestAJumpOfTheClockIsToldAs503(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	token := a.create(`"payload":"x"`)
	a.store.Clock.Jump(30 * day)
	for _, got := range []answer{a.get(pushes + "/" + token), a.do("POST", pushes, `{"push":{"payload":"x"}}`)} {
		got.want(http.StatusServiceUnavailable)
		if got.problem() != "unavailable" || got.header.Get("Retry-After") != "60" {
			t.Errorf("%s %v", got.body, got.header)
		}
	}
	a.store.Clock.Jump(-30 * day)
	a.get(pushes + "/" + token).want(http.StatusOK).has(map[string]string{"payload": "x"})
}

// A request line is not what net/http's client lets a test send, so these are
// written by hand.
func TestOddRequestTargets(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	for _, line := range []string{"OPTIONS *", "GET http://other.example/api/v2/version", "GET /api/v2/pushes/%2e%2e/version"} {
		c, err := net.Dial("tcp", strings.TrimPrefix(a.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(10 * time.Second))
		fmt.Fprintf(c, "%s HTTP/1.1\r\nHost: box\r\nConnection: close\r\n\r\n", line)
		buf := make([]byte, 12)
		if _, err := c.Read(buf); err != nil || !strings.HasPrefix(string(buf), "HTTP/1.1 ") || strings.HasPrefix(string(buf), "HTTP/1.1 5") {
			t.Errorf("%s: %q, %v", line, buf, err)
		}
		_ = c.Close()
	}
}
