package server_test

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func userAgent(text string) http.Header { return http.Header{"User-Agent": {text}} }

func TestSessionsAreListedAndEnded(t *testing.T) {
	t.Parallel()
	a := newSite(t)
	b := a.signedIn(annEmail, annPassword, userAgent("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"))
	alone := b.get("/users/sessions").want(http.StatusOK).says("Firefox on Linux").says("This session").says("127.0.0.1")
	if len(alone.inputs("id")) != 0 || alone.shows("End all other sessions") {
		t.Error(alone.body)
	}
	a.store.Clock.Advance(time.Hour)
	phone := a.signedIn(annEmail, annPassword, far(7), userAgent("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1"))
	list := b.get("/users/sessions").says("Safari on iPhone").says("203.0.113.7").says("2026-01-01 01:00 UTC").says("2026-01-01 00:00 UTC").says("End all other sessions")
	if ids := list.inputs("id"); len(ids) != 1 || strings.Count(list.body, "This session") != 1 {
		t.Fatal(list.body)
	}
	b.post("/users/sessions/end", "id", list.inputs("id")[0]).to("/users/sessions")
	phone.get("/users/sessions").to("/users/sign_in")
	b.get("/users/sessions").want(http.StatusOK)
	for _, gone := range []string{list.inputs("id")[0], "0", "-1", "x", "", "99999999999999999999"} {
		b.post("/users/sessions/end", "id", gone).to("/users/sessions")
	}
}

func TestAllOtherSessionsEnd(t *testing.T) {
	t.Parallel()
	a := newSite(t)
	a.person("bob@example.com", annPassword)
	bob := a.signedIn("bob@example.com", annPassword)
	var others []*browser
	for range 3 {
		others = append(others, a.signedIn(annEmail, annPassword))
	}
	b := a.signedIn(annEmail, annPassword)
	b.post("/users/sessions/end", "others", "yes").to("/users/sessions")
	for _, other := range others {
		other.get("/users/sessions").to("/users/sign_in")
	}
	b.get("/users/sessions").want(http.StatusOK)
	bob.get("/users/sessions").want(http.StatusOK)
}

func TestAgentsAreShownInWordsThatPeopleKnow(t *testing.T) {
	t.Parallel()
	a := newSite(t)
	const webkit = " AppleWebKit/537.36 (KHTML, like Gecko) "
	for header, want := range map[string]string{
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64)" + webkit + "Chrome/140.0.0.0 Safari/537.36":                              "Chrome on Windows",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64)" + webkit + "Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0":                "Edge on Windows",
		"Mozilla/5.0 (X11; CrOS x86_64 14541.0.0)" + webkit + "Chrome/140.0.0.0 Safari/537.36":                               "Chrome on ChromeOS",
		"Mozilla/5.0 (Linux; Android 15; Pixel 9)" + webkit + "Chrome/140.0.0.0 Mobile Safari/537.36":                        "Chrome on Android",
		"Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/28.0 Chrome/130.0.0.0 Safari": "Samsung Internet on Android",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605":   "Safari on macOS",
		"Mozilla/5.0 (iPad; CPU OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/140.0 Mobile Safari":   "Chrome on iPad",
		"curl/8.10.1":                         "curl",
		"Something (Windows NT 10.0)":         "Windows",
		"<script>alert(1)</script>":           "An unknown program",
		"":                                    "An unknown program",
		strings.Repeat("x", 4000) + "Chrome/": "An unknown program",
	} {
		got := a.signedIn(annEmail, annPassword, userAgent(header)).get("/users/sessions")
		row := got.body[strings.Index(got.body, "<tbody>"):strings.Index(got.body, "This session")]
		if !strings.Contains(row[strings.LastIndex(row, "<tr>"):], ">"+want) {
			t.Errorf("%.80s: %s", header, row)
		}
	}
}
