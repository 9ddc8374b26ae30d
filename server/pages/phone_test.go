package pages_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/testkit/env"
	"pushbox/server/servertest"
)

// share sends what a phone shares, with more headers.
func share(a *servertest.Server, shared map[string]string, headers ...http.Header) servertest.Answer {
	form := make(url.Values)
	for name, text := range shared {
		form.Set(name, text)
	}
	return a.Do("POST", "/share", form.Encode(), append(headers, servertest.Urlencoded)...)
}

func TestASharedTextIsInTheFormAndNowhereElse(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	for want, shared := range map[string]map[string]string{
		"hunter2 & <b>":               {"title": "A note", "text": "hunter2 & <b>"},
		"two\nlines":                  {"text": "two\r\nlines"},
		"look\nhttps://example.com/a": {"title": "A page", "text": "look", "url": "https://example.com/a"},
		"see https://example.com/b":   {"text": "see https://example.com/b", "url": "https://example.com/b"},
		"https://example.com/c":       {"url": "https://example.com/c"},
		"a title alone":               {"title": "a title alone"},
		"":                            {},
	} {
		for _, from := range []http.Header{{}, {"Sec-Fetch-Site": {"none"}, "Sec-Fetch-Mode": {"navigate"}, "Origin": {"null"}}} {
			got := share(a, shared, from).Want(http.StatusOK)
			if typed := got.TypedInto("payload"); typed != want {
				t.Errorf("%q is in the form, not %q", typed, want)
			}
		}
	}
	stats, err := a.Store.Stats()
	if env.OK(t, err); stats.Live != 0 {
		t.Errorf("%d pushes were made", stats.Live)
	}
	for _, kept := range []string{"hunter2", "example.com", "title alone"} {
		if strings.Contains(a.Log.String(), kept) {
			t.Errorf("%s is in the log", kept)
		}
	}
}

func TestOnlyThePhoneSharesIntoTheForm(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	for _, from := range []http.Header{{"Sec-Fetch-Site": {"cross-site"}}, {"Sec-Fetch-Site": {"same-site"}}, {"Origin": {"https://evil.example"}}} {
		if got := share(a, map[string]string{"text": "put there"}, from).Want(http.StatusForbidden); strings.Contains(got.Body, "put there") {
			t.Errorf("%v: the text is in the form", from)
		}
	}
	a.Get("/share?text=put+there").Want(http.StatusMethodNotAllowed)
	closed := servertest.New(t, func(c *config.Config) { c.AllowAnonymous = false })
	share(closed, map[string]string{"text": "x"}).To("/users/sign_in")
}

// What the browser is to encrypt must not go through the server first.
func TestNothingIsSharedWhereTheBrowserEncrypts(t *testing.T) {
	t.Parallel()
	for encryption, takes := range map[string]bool{"off": true, "offered": true, "default": false, "required": false} {
		a := servertest.New(t, func(c *config.Config) { c.ClientEncryption = encryption })
		if got := a.Get("/manifest.webmanifest").Want(http.StatusOK); strings.Contains(got.Body, "share_target") != takes {
			t.Errorf("%s: %s", encryption, got.Body)
		}
		got := share(a, map[string]string{"text": "hunter2"})
		if takes {
			got.Want(http.StatusOK).Lacks(`id="encrypt"`)
		} else {
			got.To("/")
		}
	}
}

func TestTheManifestLeadsToThePagesBelowTheBasePath(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"", "/push"} {
		a := servertest.New(t, func(c *config.Config) { c.Brand.Title, c.BasePath = `Ann's "safe"`, base })
		got := a.Get(base + "/manifest.webmanifest").Want(http.StatusOK)
		var m struct {
			Name  string `json:"name"`
			Start string `json:"start_url"`
			Icons []struct {
				Src string `json:"src"`
			} `json:"icons"`
			Share struct {
				Action string `json:"action"`
				Method string `json:"method"`
			} `json:"share_target"`
		}
		env.OK(t, json.Unmarshal([]byte(got.Body), &m))
		if m.Name != `Ann's "safe"` || m.Start != base+"/" || m.Share.Action != base+"/share" || m.Share.Method != "POST" || len(m.Icons) < 2 {
			t.Errorf("%+v", m)
		}
		for _, icon := range m.Icons {
			a.Get(icon.Src).Want(http.StatusOK)
		}
		a.Get(base + "/").Says(`<link rel="manifest" href="` + base + `/manifest.webmanifest">`)
		a.Get(base + "/.well-known/change-password").To(base + "/users/password")
	}
}
