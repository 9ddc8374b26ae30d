package api_test

import (
	"net/http"
	"regexp"
	"slices"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/server/servertest"
)

func TestTheKeysOfAPush(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddTokenUser("ann@example.com")
	base := senderKeys[:len(senderKeys)-3]
	made := a.Do("POST", pushes, `{"push":{"payload":"x"}}`, ann).Want(http.StatusCreated)
	token := made.Text("url_token")
	for name, test := range map[string]struct {
		got  []string
		want []string
	}{
		"create": {made.Keys(), senderKeys},
		"show":   {a.Get(pushes + "/" + token).Keys(), append(slices.Clone(base), "payload", "files")},
		"delete": {a.Do("DELETE", pushes+"/"+token, "", ann).Keys(), base},
	} {
		if !slices.Equal(test.got, test.want) {
			t.Errorf("%s: %v", name, test.got)
		}
	}
	other := a.Create(`"payload":"x"`, ann)
	for path, token := range map[string]string{"/active": other, "/expired": a.Handle(token)} {
		l := a.Get(pushes+path, ann).Want(http.StatusOK).List()
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
	a := servertest.New(t)
	got := a.Do("POST", pushes, `{"push":{"payload":"x","name":"n","note":"o","passphrase":"p"}}`, a.AddTokenUser("ann@example.com")).Want(http.StatusCreated)
	token := got.Text("url_token")
	if !regexp.MustCompile(`^[a-z2-7]{34}$`).MatchString(token) {
		t.Errorf("token %q", token)
	}
	got.Has(map[string]string{
		"kind": "text", "html_url": a.URL + "/p/" + token + "/r", "json_url": a.URL + "/api/v2/pushes/" + token,
		"created_at": "2026-01-01T00:00:00.000Z", "updated_at": "2026-01-01T00:00:00.000Z", "expires_at": "2026-01-08T00:00:00.000Z",
		"expire_after_days": "7", "expire_after_views": "5", "days_remaining": "7", "views_remaining": "5",
		"expired": "false", "expired_on": "null", "deleted": "false", "deletable_by_viewer": "true", "retrieval_step": "true",
		"passphrase": "null", "passphrase_protected": "true", "client_encrypted": "false", "reveal": "press", "open_from": "null", "close_after_first_view": "null", "name": "n", "note": "o",
	})
}

func TestAbsentTextIsEmpty(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	a.Do("POST", pushes, `{"push":{"payload":"x"}}`).Want(http.StatusCreated).Has(map[string]string{"name": "", "note": "", "passphrase": "null"})
}

func TestTheLinkHasARetrievalStepWhereThePushHas(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	for _, kind := range []string{`"payload":"x"`, `"kind":"url","payload":"https://example.com"`, `"kind":"qr","payload":"x"`} {
		for step, tail := range map[string]string{"true": "/r", "false": ""} {
			token := a.Create(kind + `,"retrieval_step":` + step)
			want := a.URL + "/p/" + token + tail
			a.Get(pushes + "/" + token + "/preview").Want(http.StatusOK).Has(map[string]string{"url": want})
			a.Get(pushes + "/" + token).Want(http.StatusOK).Has(map[string]string{"html_url": want, "retrieval_step": step})
		}
	}
}

func TestLinksBeginWithTheAddressOfTheServer(t *testing.T) {
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
		"the setting": {func(c *config.Config) {
			c.BaseURL, c.AllowedHosts = "https://set.example", []string{"inner", "push.example.com"}
		}, proxied, "https://set.example/"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var changes []func(*config.Config)
			if test.change != nil {
				changes = append(changes, test.change)
			}
			a := servertest.New(t, changes...)
			got := a.Do("POST", pushes, `{"push":{"payload":"x"}}`, test.header).Want(http.StatusCreated)
			token := got.Text("url_token")
			got.Has(map[string]string{"html_url": test.want + "p/" + token + "/r", "json_url": test.want + "api/v2/pushes/" + token})
		})
	}
}

func TestAnInvalidHostIsRefused(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	for _, h := range []http.Header{
		{"Host": {"a\"b"}},
		{"X-Forwarded-Host": {"evil.example/path"}, "X-Forwarded-For": {"203.0.113.9"}},
	} {
		got := a.Do("POST", pushes, `{"push":{"payload":"x"}}`, h)
		if got.Status != http.StatusBadRequest {
			t.Errorf("%v: %d %s", h, got.Status, got.Body)
		}
	}
}

func TestDaysAndViewsRunDown(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	token := a.Create(`"payload":"x","expire_after_days":2,"expire_after_views":3`)
	a.Store.Clock.Advance(time.Hour)
	a.Get(pushes + "/" + token).Want(http.StatusOK).Has(map[string]string{
		"days_remaining": "2", "views_remaining": "2", "created_at": "2026-01-01T00:00:00.000Z", "updated_at": "2026-01-01T01:00:00.000Z",
	})
	a.Store.Clock.Advance(23 * time.Hour)
	a.Get(pushes + "/" + token).Want(http.StatusOK).Has(map[string]string{"days_remaining": "1", "views_remaining": "1"})
	a.Store.Clock.Advance(day)
	a.Get(pushes + "/" + token).Want(http.StatusOK).Has(map[string]string{
		"days_remaining": "0", "views_remaining": "1", "expired": "true", "expired_on": "2026-01-03T00:00:00.000Z",
		"deleted": "false", "payload": "null", "files": "[]",
	})
}

var senderKeys = []string{
	"url_token", "kind", "html_url", "json_url", "created_at", "updated_at", "expires_at", "expire_after_days",
	"expire_after_views", "days_remaining", "views_remaining", "expired", "expired_on", "deleted",
	"deletable_by_viewer", "retrieval_step", "passphrase", "passphrase_protected", "client_encrypted", "reveal", "open_from", "close_after_first_view", "name", "note", "networks",
}
