package api_test

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/server/servertest"
)

func TestEachPathOfVersion1MakesItsKindOfPush(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddTokenUser("ann@example.com")
	const content = `"files":[{"filename":"a.txt","content":"aGk="}]`
	for _, c := range []struct{ path, body, kind string }{
		{"/p.json", `{"password":{"payload":"x"}}`, "text"},
		{"/p.json", `{"password":{"payload":"x","kind":"qr"}}`, "qr"},
		{"/p.json", `{"password":{"payload":"https://example.com","kind":"url"}}`, "url"},
		{"/p.json", `{"password":{"payload":"x",` + content + `}}`, "file"},
		{"/p.json", `{"password":{"kind":"file",` + content + `}}`, "file"},
		{"/f.json", `{"file_push":{"payload":"x",` + content + `}}`, "file"},
		{"/f.json", `{"file_push":{"kind":"text",` + content + `}}`, "file"},
		{"/r.json", `{"url":{"payload":"https://example.com"}}`, "url"},
		{"/r.json", `{"url":{"payload":"https://example.com","kind":"text","deletable_by_viewer":true}}`, "url"},
	} {
		got := a.Do("POST", c.path, c.body, ann).Want(http.StatusCreated).Has(map[string]string{"kind": c.kind})
		if !slices.Equal(got.Keys(), senderKeys) {
			t.Errorf("%s %s: keys %q", c.path, c.body, got.Keys())
		}
	}
	for path, wrapper := range map[string]string{"/p.json": "password", "/f.json": "file_push", "/r.json": "url"} {
		for _, body := range []string{`{"push":{"payload":"x"}}`, `{"` + wrapper + `":{}}`, `{"` + wrapper + `":null}`, `{}`, `{"payload":"x"}`} {
			got := a.Do("POST", path, body, ann).Want(http.StatusBadRequest)
			got.Has(map[string]string{"error": "param is missing or the value is empty or invalid: " + wrapper})
		}
	}
}

// A push is the same for both versions: each counts on what the other did.
func TestBothVersionsSeeOneCount(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddTokenUser("ann@example.com")
	for _, from := range []func() string{
		func() string { return a.Create(`"payload":"x","expire_after_views":4`, ann) },
		func() string {
			return a.Do("POST", "/p.json", `{"password":{"payload":"x","expire_after_views":"4"}}`, ann).Want(http.StatusCreated).Text("url_token")
		},
	} {
		token := from()
		for i, path := range []string{"/p/" + token + ".json", pushes + "/" + token, "/f/" + token + ".json", "/r/" + token + "/r.json"} {
			a.Get("/p/" + token + "/preview.json").Want(http.StatusOK).Has(map[string]string{"url": a.URL + "/p/" + token + "/r"})
			a.Get(path).Want(http.StatusOK).Has(map[string]string{"views_remaining": strconv.Itoa(3 - i), "payload": "x", "expired": "false"})
		}
		for _, path := range []string{"/p/" + token + ".json", pushes + "/" + token} {
			a.Get(path).Want(http.StatusOK).Has(map[string]string{"payload": "null", "expired": "true", "deleted": "false"})
		}
	}
}

func TestARecordOfVersion1LeadsToVersion1(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) { c.BaseURL = "https://push.example.com" })
	ann := a.AddTokenUser("ann@example.com")
	made := a.Do("POST", "/p.json", `{"password":{"payload":"x","name":"wifi"}}`, ann).Want(http.StatusCreated)
	token := made.Text("url_token")
	at := "https://push.example.com/p/" + token
	record := map[string]string{"html_url": at + "/r", "json_url": at + ".json"}
	made.Has(record)
	a.Get("/p/" + token + ".json").Want(http.StatusOK).Has(record).Has(map[string]string{"payload": "x", "files": "[]"})
	if list := a.Get("/f/active.json", ann).Want(http.StatusOK).List(); len(list) != 1 || list[0]["json_url"] != at+".json" || list[0]["name"] != "wifi" {
		t.Errorf("%v", list)
	}
	if list := a.Get(pushes+"/active", ann).Want(http.StatusOK).List(); len(list) != 1 || list[0]["json_url"] != "https://push.example.com"+pushes+"/"+token {
		t.Errorf("in version 2: %v", list)
	}
	audit := a.Get("/p/"+token+"/audit.json", ann).Want(http.StatusOK)
	if views, _ := audit.Object()["views"].([]any); !slices.Equal(audit.Keys(), []string{"views"}) || len(views) != 2 || views[1].(map[string]any)["kind"] != "view" {
		t.Errorf("%s", audit.Body)
	}
	handle := a.Handle(token)
	for range 2 {
		a.Do("DELETE", "/r/"+token+".json", "", ann).Want(http.StatusOK).Has(map[string]string{"json_url": at + ".json", "expired": "true", "deleted": "true"})
		a.Get("/p/"+token+"/audit.json", ann).Want(http.StatusOK) // by its url_token, and then by its handle
		token, at = handle, "https://push.example.com/p/"+handle
	}
	if list := a.Get("/p/expired.json", ann).Want(http.StatusOK).List(); len(list) != 1 || list[0]["json_url"] != at+".json" {
		t.Errorf("%v", list)
	}
}

func TestVersion1IsBelowTheBasePath(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) { c.BasePath = "/push" })
	made := a.Do("POST", "//push/p.json/", `{"password":{"payload":"x"}}`).Want(http.StatusCreated)
	at := "/push/p/" + made.Text("url_token")
	made.Has(map[string]string{"json_url": a.URL + at + ".json", "html_url": a.URL + at + "/r"})
	a.Get(at + ".json").Want(http.StatusOK).Has(map[string]string{"payload": "x"})
	if to := a.Get("/push/de/p/" + made.Text("url_token")).Want(http.StatusMovedPermanently).Header.Get("Location"); to != at+"?locale=de" {
		t.Errorf("it leads to %s", to)
	}
}

func TestVersion1TellsItsVersionToEveryone(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) { c.AllowAnonymous, c.Limits.AnonymousPerMinute = false, 1 })
	for range 3 {
		for _, path := range []string{"/api/v1/version", "/api/v1/version.json"} {
			got := a.Get(path, servertest.Far(1), http.Header{"Authorization": {"Bearer bad"}}).Want(http.StatusOK)
			if got.Body != `{"application_version":"3.0.0","api_version":"1.5","edition":"oss"}`+"\n" {
				t.Errorf("%s", got.Body)
			}
		}
	}
}

func TestErrorsOfVersion1AreAlwaysJSON(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) { c.Limits.AnonymousPerMinute = 40 })
	ann, bob := a.AddTokenUser("ann@example.com"), a.AddTokenUser("bob@example.com")
	token := a.Create(`"payload":"x","deletable_by_viewer":false,"passphrase":"p"`, ann)
	browser := http.Header{"Accept": {"text/html,application/xhtml+xml"}, "Sec-Fetch-Dest": {"document"}, "Sec-Fetch-Mode": {"navigate"}}
	far := servertest.Far(1)
	for _, prefix := range []string{"/p", "/f", "/r"} {
		push := prefix + "/" + token
		for _, c := range []struct {
			method, path, body string
			who                http.Header
			status             int
			says               string
		}{
			{"POST", prefix + ".json", "{", ann, 400, ""},
			{"POST", prefix + ".json", "x", http.Header{"Authorization": {"Bearer bad"}}, 401, ""},
			{"GET", prefix + "/active.json", "", nil, 401, ""},
			{"GET", push + "/audit.json", "", bob, 403, "That push doesn't belong to you."},
			{"DELETE", push + ".json", "", bob, 401, "That push is not deletable by viewers."},
			{"DELETE", push + ".json", "", nil, 401, "That push is not deletable by viewers."},
			{"GET", push + ".json", "", nil, 401, "That passphrase is incorrect."},
			{"GET", push + ".json?passphrase=q", "", servertest.Far(2), 401, "That passphrase is incorrect."},
			{"GET", prefix + "/nothing.json", "", nil, 404, "not-found"},
			{"GET", prefix + "/nothing/r.json", "", nil, 404, "not-found"},
			{"GET", push + "/nothing.json", "", nil, 404, "not-found"},
			{"GET", push + "/r/r.json", "", nil, 404, "not-found"},
			{"GET", prefix + "/.json", "", nil, 404, "not-found"},
			{"GET", prefix + ".json", "", nil, 405, ""},
			{"POST", push + ".json", "", nil, 405, ""},
			{"PUT", push + ".json", "", nil, 405, ""},
			{"DELETE", push + "/audit.json", "", nil, 405, ""},
		} {
			got := a.Do(c.method, c.path, c.body, browser, c.who)
			if got.Status != c.status || got.Header.Get("Content-Type") != "application/json; charset=utf-8" || c.says != "" && got.Text("error") != c.says {
				t.Errorf("%s %s: %d %v %s", c.method, c.path, got.Status, got.Header, got.Body)
			}
			if got.Problem() == "" || got.Header.Get("Cache-Control") != "no-store" || (got.Header.Get("Allow") != "") != (c.status == 405) {
				t.Errorf("%s %s: %v", c.method, c.path, got.Header)
			}
		}
		invalid := a.Do("POST", "/p.json", `{"password":{"payload":" "}}`, browser).Want(http.StatusUnprocessableEntity)
		if invalid.Body != `{"payload":["is required"]}`+"\n" {
			t.Errorf("%s", invalid.Body)
		}
	}
	for range 41 {
		a.Get("/p.json", browser, far)
	}
	if got := a.Get("/p.json", browser, far).Want(http.StatusTooManyRequests); got.Problem() != "too-many-requests" || got.Header.Get("Retry-After") == "" {
		t.Errorf("%v %s", got.Header, got.Body)
	}
}

func TestVersion1SaysThatItIsDeprecated(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"", "/push"} {
		a := servertest.New(t, func(c *config.Config) { c.BasePath = base })
		token := a.Do("POST", base+"/p.json", `{"password":{"payload":"x"}}`).Want(http.StatusCreated).Text("url_token")
		for _, got := range []servertest.Answer{
			a.Get(base + "/api/v1/version"), a.Get(base + "/p/" + token + ".json"), a.Get(base + "/p/nothing.json"), a.Get(base + "/p/active.json"), a.Do("POST", base+"/p.json", "{"),
		} {
			link := got.Header.Get("Link")
			path, rest, _ := strings.Cut(strings.TrimPrefix(link, "<"), ">")
			if got.Header.Get("Deprecation") != "@1795305600" || rest != `; rel="deprecation"; type="application/json"` {
				t.Errorf("%d: %v", got.Status, got.Header)
			}
			if doc := a.Get(path).Want(http.StatusOK); !strings.Contains(doc.Body, "deprecated") {
				t.Errorf("%s says nothing of it", path)
			}
		}
		for _, path := range []string{"/api/v2/version", "/healthz", "/", "/p/" + token} {
			if got := a.Get(base + path); got.Header.Get("Deprecation") != "" || got.Header.Get("Link") != "" {
				t.Errorf("%s: %v", path, got.Header)
			}
		}
	}
}
