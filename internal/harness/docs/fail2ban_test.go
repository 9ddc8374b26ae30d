package docs

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"pushbox/internal/proctest"
	"pushbox/internal/testkit/env"
)

// TestTheFilterOfFail2banFindsRefusedSignIns reads the filter as fail2ban does, as far as this
// one goes, and the log of a server.
func TestTheFilterOfFail2banFindsRefusedSignIns(t *testing.T) {
	t.Parallel()
	text := readFile(t, "deploy/fail2ban/filter.conf")
	found := regexp.MustCompile(`(?m)^failregex = (.*)$`).FindSubmatch(text)
	if found == nil {
		t.Fatal("the filter has no failregex")
	}
	filter := regexp.MustCompile(strings.ReplaceAll(string(found[1]), "<ADDR>", `([0-9a-f.:]+)`))

	server := proctest.StartServer(t, t.TempDir())
	const guesser = "203.0.113.7"
	ask := func(method, path, body string) int {
		req, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body))
		env.OK(t, err)
		req.Header = http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Origin": {server.URL}, "X-Forwarded-For": {guesser}}
		res, err := http.DefaultClient.Do(req)
		env.OK(t, err)
		_ = res.Body.Close()
		return res.StatusCode
	}
	guess := url.Values{"user[email]": {"ann@example.com"}, "user[password]": {`","client":"198.51.100.1"`}}.Encode()
	if got := ask(http.MethodPost, "/users/sign_in", guess); got != http.StatusForbidden {
		t.Fatalf("a wrong password: %d", got)
	}
	for _, path := range []string{"/users/sign_in", "/p/unknown", `/x","route":"sign_in","status":403,"client":"198.51.100.1"`} {
		ask(http.MethodGet, strings.ReplaceAll(path, `"`, "%22"), "")
	}
	server.Stop()
	var banned []string
	for line := range strings.Lines(server.Log()) {
		for _, before := range []string{"", time.Now().Format(time.Stamp) + " box pushbox[77]: "} { // in a file, and in the journal
			if m := filter.FindStringSubmatch(before + line); m != nil {
				banned = append(banned, m[1])
			}
		}
	}
	if strings.Join(banned, " ") != guesser+" "+guesser {
		t.Errorf("it finds %q in\n%s", banned, server.Log())
	}
}
