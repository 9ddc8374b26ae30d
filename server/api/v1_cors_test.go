package api_test

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/server/servertest"
)

// elsewhere are the headers of a request by a script of another site, as Chromium sends
// them.
var elsewhere = http.Header{"Origin": {"https://elsewhere.example"}, "Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"cors"}, "Sec-Fetch-Dest": {"empty"}}

// asks are the headers of a browser's question before such a request.
func asks(headers string) http.Header {
	return http.Header{"Origin": {"https://elsewhere.example"}, "Access-Control-Request-Method": {"POST"}, "Access-Control-Request-Headers": {headers}}
}

// shared returns the headers of an answer that open it to other sites.
func shared(got servertest.Answer) (names []string) {
	for name, values := range got.Header {
		if strings.HasPrefix(name, "Access-Control-") {
			names = append(names, name+": "+strings.Join(values, "|"))
		}
	}
	slices.Sort(names)
	return names
}

func TestAScriptOfAnotherSiteMayCreateAPushInVersion1(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) {
		c.AllowedHosts, c.Limits.AnonymousPerMinute = []string{"127.0.0.1", "box.example"}, 5
	})
	want := []string{"Access-Control-Allow-Headers: content-type,x-user-token", "Access-Control-Allow-Methods: POST", "Access-Control-Allow-Origin: *"}
	if got := a.Do("OPTIONS", "/p.json", "", asks("content-type,x-user-token")).Want(http.StatusOK); !slices.Equal(shared(got), want) || got.Body != "" {
		t.Errorf("%v %s", got.Header, got.Body)
	}
	for _, odd := range []string{"a: b", "x\"", "a;b", strings.Repeat("a", 1001), ""} {
		if got := a.Do("OPTIONS", "/p.json", "", asks(odd)).Want(http.StatusOK); !slices.Equal(shared(got), want[1:]) {
			t.Errorf("%q: %v", odd, got.Header)
		}
	}
	if got := a.Do("OPTIONS", "/p.json", "", asks(strings.Repeat("a", 1000))).Want(http.StatusOK); len(shared(got)) != 3 {
		t.Errorf("%v", got.Header)
	}
	far := servertest.Far(1)
	for _, c := range []struct {
		contentType, body string
		status            int
	}{
		{"application/json", `{"password":{"payload":"x"}}`, http.StatusCreated},
		{"application/x-www-form-urlencoded;charset=UTF-8", `password%5Bpayload%5D=x`, http.StatusCreated},
		{"application/json", `{`, http.StatusBadRequest},
		{"application/json", `{"password":{"payload":""}}`, http.StatusUnprocessableEntity},
		{"application/json", `{"password":{"payload":"","kind":"file"}}`, http.StatusUnauthorized},
		{"application/json", `{"password":{"payload":"x"}}`, http.StatusTooManyRequests},
	} {
		got := a.Do("POST", "/p.json", c.body, elsewhere, far, http.Header{"Content-Type": {c.contentType}}).Want(c.status)
		if !slices.Equal(shared(got), want[2:]) {
			t.Errorf("%s: %v", c.body, got.Header)
		}
	}
	other := http.Header{"Host": {"other.example"}} // its sites must not learn that a server is here
	if got := a.Do("POST", "/p.json", `{}`, elsewhere, other).Want(http.StatusMisdirectedRequest); len(shared(got)) != 0 {
		t.Errorf("%v", got.Header)
	}
	a.Do("OPTIONS", "/p.json", "", asks(""), other).Want(http.StatusMisdirectedRequest)
}

func TestNothingElseIsOpenToScriptsOfOtherSites(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddTokenUser("ann@example.com")
	token := a.Create(`"payload":"x"`)
	for _, c := range []struct {
		method, path, body string
		status             int
	}{
		{"POST", pushes, `{"push":{"payload":"x"}}`, http.StatusCreated},
		{"POST", "/r.json", `{"url":{"payload":"https://example.com"}}`, http.StatusCreated},
		{"POST", "/f.json", `{"file_push":{"files":[{"filename":"a","content":"aGk="}]}}`, http.StatusCreated},
		{"GET", "/p/" + token + ".json", "", http.StatusOK},
		{"GET", "/p/" + token + "/preview.json", "", http.StatusOK},
		{"GET", "/p/active.json", "", http.StatusOK},
		{"GET", "/api/v1/version", "", http.StatusOK},
		{"OPTIONS", "/f.json", "", http.StatusMethodNotAllowed},
		{"OPTIONS", "/r.json", "", http.StatusMethodNotAllowed},
		{"OPTIONS", "/p/" + token + ".json", "", http.StatusMethodNotAllowed},
		{"OPTIONS", pushes, "", http.StatusMethodNotAllowed},
		{"GET", "/p.json", "", http.StatusMethodNotAllowed},
	} {
		if got := a.Do(c.method, c.path, c.body, ann, elsewhere, asks("content-type")); got.Status != c.status || len(shared(got)) != 0 {
			t.Errorf("%s %s: %d %v", c.method, c.path, got.Status, got.Header)
		}
	}
}

func TestSettingsShutOutScriptsOfOtherSites(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*config.Config){
		"api_v1_cors":   func(c *config.Config) { c.APIv1CORS = false },
		"enable_api_v1": func(c *config.Config) { c.EnableAPIv1 = false },
		"create_networks": func(c *config.Config) {
			c.CreateNetworks = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
		},
	} {
		a := servertest.New(t, change)
		for _, got := range []servertest.Answer{
			a.Do("OPTIONS", "/p.json", "", asks("content-type")),
			a.Do("POST", "/p.json", `{"password":{"payload":"x"}}`, elsewhere),
		} {
			if len(shared(got)) != 0 {
				t.Errorf("%s: %d %v", name, got.Status, got.Header)
			}
		}
	}
}
