package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pushbox/internal/testkit/env"
)

// vulnDatabase makes a database in which all versions of cobra before the given one are
// vulnerable. The test's own program has cobra.
func vulnDatabase(t *testing.T, fixed string) (address string) {
	t.Helper()
	dir := t.TempDir()
	const now = `"2026-01-01T00:00:00Z"`
	for name, content := range map[string]string{
		"index/db.json":      `{"modified":` + now + `}`,
		"index/modules.json": `[{"path":"github.com/spf13/cobra","vulns":[{"id":"GO-2026-0001","modified":` + now + `,"fixed":"` + fixed + `"}]}]`,
		"index/vulns.json":   `[{"id":"GO-2026-0001","modified":` + now + `}]`,
		"ID/GO-2026-0001.json": `{"schema_version":"1.3.1","id":"GO-2026-0001","modified":` + now + `,"published":` + now + `,"summary":"A fault",
			"details":"A fault","database_specific":{"url":"https://pkg.go.dev/vuln/GO-2026-0001"},"affected":[{"package":{"name":"github.com/spf13/cobra","ecosystem":"Go"},
			"ranges":[{"type":"SEMVER","events":[{"introduced":"0"},{"fixed":"` + fixed + `"}]}],
			"ecosystem_specific":{"imports":[{"path":"github.com/spf13/cobra"}]}}]}`,
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), dirMode); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), fileMode); err != nil {
			t.Fatal(err)
		}
	}
	return "file://" + filepath.ToSlash(dir)
}

func TestAKnownVulnerabilityEndsTheRelease(t *testing.T) {
	t.Parallel()
	env.NeedLong(t, "it builds govulncheck")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b := build{target: allTargets()[0], path: self}
	for name, c := range map[string]struct{ db, want string }{
		"none":               {vulnDatabase(t, "0.0.1"), ""},
		"one":                {vulnDatabase(t, "99.0.0"), "GO-2026-0001"},
		"no database":        {"file://" + filepath.ToSlash(t.TempDir()), "--without-vulncheck"},
		"one out of reach":   {"http://127.0.0.1:1", "--without-vulncheck"},
		"an address of none": {"nowhere", "--without-vulncheck"},
	} {
		j := job{source: tree(t), work: t.TempDir(), vulnDB: c.db}
		checker, err := j.vulnChecker(t.Context())
		if err == nil {
			err = j.checkProgram(t.Context(), checker, b)
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOnlyAFlagLeavesTheCheckForVulnerabilitiesOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, want string }{
		{"", "https://vuln.go.dev"}, {"--vuln-db file:///db", "file:///db"}, {"--without-vulncheck", ""},
	} {
		if o, err := parse(strings.Fields(c.args), io.Discard); err != nil || o.vulnDB != c.want {
			t.Errorf("%s: %q, %v", c.args, o.vulnDB, err)
		}
	}
	if _, err := parse([]string{"--vuln-db", ""}, io.Discard); err == nil {
		t.Error("an empty address is taken")
	}
	if err := (job{}).vulnerabilities(t.Context(), nil); err != nil {
		t.Errorf("no check: %v", err)
	}
}
