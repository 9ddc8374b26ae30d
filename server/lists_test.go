package server_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

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
