package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"pushbox/server/servertest"
)

func TestTheAuditLog(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann, bob := a.AddTokenUser("ann@example.com"), a.AddTokenUser("bob@example.com")
	token := a.Create(`"payload":"x","passphrase":"p","expire_after_views":2`, ann)
	path := pushes + "/" + token
	who := http.Header{"X-Forwarded-For": {"203.0.113.7"}, "User-Agent": {strings.Repeat("é", 300)}, "Referer": {strings.Repeat("r", 256)}}
	a.Store.Clock.Advance(time.Second)
	a.Get(path+"?passphrase=p", who).Want(http.StatusOK)
	a.Get(path + "?passphrase=no").Want(http.StatusUnauthorized)
	a.Get(path+"?passphrase=p", ann).Want(http.StatusOK)
	a.Get(path + "/preview").Want(http.StatusOK)
	a.Do("DELETE", path, "", ann).Want(http.StatusOK)
	a.Get(path).Want(http.StatusOK)

	got := a.Get(path+"/audit", ann).Want(http.StatusOK)
	if !slices.Equal(got.Keys(), []string{"logs"}) {
		t.Errorf("keys %v", got.Keys())
	}
	logs := got.Object()["logs"].([]any)
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
		"ip": "203.0.113.7", "user_agent": strings.Repeat("é", 127), "referrer": strings.Repeat("r", 255),
		"kind": "view", "created_at": "2026-01-01T00:00:01.000Z",
	} {
		if view[key] != want {
			t.Errorf("%s is %v", key, view[key])
		}
	}
	if first := logs[0].(map[string]any); first["referrer"] != "" {
		t.Errorf("a missing referrer is %v", first["referrer"])
	}
	a.Get(path + "/audit").Want(http.StatusUnauthorized)
	a.Get(path+"/audit", bob).Want(http.StatusForbidden)
	a.Get(pushes+"/"+a.Create(`"payload":"x"`)+"/audit", ann).Want(http.StatusForbidden)
}

func TestPages(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddTokenUser("ann@example.com")
	token := a.Create(`"payload":"x","expire_after_views":100`, ann)
	for range 50 {
		a.Get(pushes + "/" + token).Want(http.StatusOK)
	}
	for _, path := range []string{pushes + "/active", pushes + "/expired", pushes + "/" + token + "/audit"} {
		for _, page := range []string{"0", "-1", "201", "1.0", "x", "", "+1", " 1", "99999999999999999999"} {
			if got := a.Get(path+"?page="+strings.ReplaceAll(strings.ReplaceAll(page, "+", "%2B"), " ", "%20"), ann); got.Status != http.StatusBadRequest || got.Problem() != "bad-request" {
				t.Errorf("%s page %q: %d %s", path, page, got.Status, got.Body)
			}
		}
		for _, page := range []string{"1", "200"} {
			a.Get(path+"?page="+page, ann).Want(http.StatusOK)
		}
	}
	if got := a.Get(pushes+"/active?page=200", ann).Body; got != "[]\n" {
		t.Errorf("past the end: %s", got)
	}
	first := a.Get(pushes+"/"+token+"/audit?page=1", ann).Object()["logs"].([]any)
	second := a.Get(pushes+"/"+token+"/audit?page=2", ann).Object()["logs"].([]any)
	if len(first) != 50 || len(second) != 1 || first[0].(map[string]any)["kind"] != "creation" || second[0].(map[string]any)["kind"] != "view" {
		t.Errorf("%d and %d entries", len(first), len(second))
	}
}

func TestListsHavePagesAndEndedPushesOfTheirOwn(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddTokenUser("ann@example.com")
	for i := range 51 {
		a.Create(fmt.Sprintf(`"payload":"x","name":"%d"`, i), ann)
		a.Store.Clock.Advance(time.Millisecond)
	}
	a.Do("DELETE", pushes+"/"+a.Create(`"payload":"x","name":"gone"`, ann), "", ann).Want(http.StatusOK)
	for path, want := range map[string]string{"/active": "50", "/active?page=2": "0", "/expired": "gone"} {
		l := a.Get(pushes+path, ann).List()
		if len(l) == 0 || l[0]["name"] != want || l[0]["expired"] != (want == "gone") || path != "/active" && len(l) != 1 {
			t.Errorf("%s: %v", path, l)
		}
	}
}
