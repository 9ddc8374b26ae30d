package server_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/server/servertest"
)

// Each row of that section names what would be there if the row were not true.
func TestWhatIsMissingIsMissing(t *testing.T) {
	t.Parallel()
	manual, err := os.ReadFile("../docs/differences.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(manual), "\n## What is missing\n")
	part, _, _ := strings.Cut(rest, "\n## ")
	rows := regexp.MustCompile(`(?m)^\| (.*) \| .* \| (.*) \|$`).FindAllStringSubmatch(part, -1)
	if len(rows) < 2 {
		t.Fatalf("the section has %d rows", len(rows))
	}
	routes := make(map[string]bool)
	param := regexp.MustCompile(`:[a-z_]+`)
	for _, r := range servertest.New(t).Handler.Rows() {
		routes[r.Method+" "+param.ReplaceAllString(r.Pattern, "TOKEN")] = true
	}
	span := regexp.MustCompile("`([^`]+)`")
	for _, row := range rows[1:] { // the first one has the titles
		signs := span.FindAllStringSubmatch(row[2], -1)
		if len(signs) == 0 {
			t.Errorf("%s: no setting or route says so", row[1])
		}
		for _, sign := range signs {
			isSetting := slices.ContainsFunc(config.Keys(), func(k config.Setting) bool {
				return k.Key == sign[1] || strings.HasPrefix(k.Key, sign[1]+".")
			})
			if isSetting || routes[sign[1]] {
				t.Errorf("%s: there is %s", row[1], sign[1])
			}
		}
	}
	for _, there := range []string{"GET /p/TOKEN/preview", "GET /users/password/forgotten", "GET /admin", "OPTIONS /p.json"} {
		if !routes[there] {
			t.Errorf("there is no %s: the routes are not read as the rows are", there)
		}
	}
}
