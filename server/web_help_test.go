package server_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pushbox/config"
)

var anchors = regexp.MustCompile(`href="#([^"]+)"`)

func TestTheHelpPageTellsOfEveryEndpointOfTheAPI(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	page := a.get("/help/api").want(http.StatusOK)
	page.says("/api/v2/openapi.json", "/api/v2/version", "/api/v2/pushes", "/api/v2/pushes/{url_token}/audit", "expire_after_days", "X-Push-Passphrase",
		`curl -s "`+a.url+`/api/v2/version"`, "Authorization: Bearer $API_TOKEN", "Bounds: 1 to 90")
	seen := make(map[string]bool)
	for _, m := range anchors.FindAllStringSubmatch(page.body, -1) {
		if strings.Count(page.body, ` id="`+m[1]+`"`) != 1 {
			t.Errorf("#%s leads nowhere, or to two places", m[1])
		}
		seen[m[1]] = true
	}
	for _, name := range a.handler.RouteNames(false) {
		if !slices.Contains([]string{"health", "ready", "metrics", "probe"}, name) && !seen[name] {
			t.Errorf("the route %s is not there", name)
		}
	}
	if strings.Contains(page.body, "http-equiv") || strings.Contains(page.body, " style=") {
		t.Error("something is inline")
	}
}

func TestTheHelpPageIsOpenToAllAndSaysItsLanguage(t *testing.T) {
	t.Parallel()
	a := newAPI(t, func(c *config.Config) { c.AllowAnonymous, c.BaseURL = false, "https://push.example.com" })
	page := a.get("/help/api", http.Header{"Accept-Language": {"de"}}).want(http.StatusOK)
	page.says("https://push.example.com/api/v2/version", "whoever has a valid API token").lacks(a.url)
	if strings.Count(page.body, `lang="en"`) < 2 {
		t.Error("its prose does not say that it is English")
	}
	a.do(http.MethodPost, "/help/api", "", http.Header{"Sec-Fetch-Site": {"same-origin"}}).want(http.StatusMethodNotAllowed)
}
