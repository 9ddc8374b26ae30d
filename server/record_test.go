package server_test

import (
	"net/http"
	"regexp"
	"slices"
	"testing"
	"time"

	"pushbox/config"
)

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
