package main

import (
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pushbox/internal/testkit/env"
	"pushbox/internal/tools/tool"
)

func TestWrongArgumentsAreRefused(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"an unknown flag":   {"--verfy"},
		"an unknown system": {"--target", "plan9/amd64"},
		"an argument":       {"linux/amd64"},
	} {
		var out, notes strings.Builder
		var bad tool.UsageError
		if err := command(t.Context(), args, &out, &notes); !errors.As(err, &bad) || bad.Error() == "" || out.Len() > 0 {
			t.Errorf("%s: %v, and %q", name, err, &out)
		}
	}
	var out, notes strings.Builder
	if err := command(t.Context(), []string{"--help"}, &out, &notes); !errors.Is(err, flag.ErrHelp) || !strings.Contains(notes.String(), "-vuln-db URL") {
		t.Errorf("help: %v, %q", err, &notes)
	}
}

func TestAReleaseIsForEverySystemUnlessSomeAreNamed(t *testing.T) {
	t.Parallel()
	all, err := parse(nil, io.Discard)
	if err != nil || len(all.targets) != len(allTargets()) || filepath.Base(all.dist) != "dist" || !filepath.IsAbs(all.dist) {
		t.Errorf("%+v, %v", all, err)
	}
	two, err := parse([]string{"--target", "linux/armv7", "--target", "darwin/arm64"}, io.Discard)
	if err != nil || !slices.Equal(two.targets, []target{"linux/armv7", "darwin/arm64"}) {
		t.Errorf("%+v, %v", two, err)
	}
}

func TestOtherFilesAreNotReplaced(t *testing.T) {
	t.Parallel()
	j := aJob(t)
	write(t, "", j.dist, "thesis.tex")
	for _, dist := range []string{j.dist, filepath.Join(j.dist, "thesis.tex")} {
		var bad tool.UsageError
		j.dist = dist
		if _, err := j.publish(t.Context()); !errors.As(err, &bad) || !strings.Contains(err.Error(), "--dist") {
			t.Errorf("%s would be replaced: %v", dist, err)
		}
	}
}

// TestACopyIsTheTreeAsItIs: the second build has the commit and the changes of the
// first, and no other files.
func TestACopyIsTheTreeAsItIs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	for _, name := range []string{"kept", "changed", "gone"} {
		write(t, "first", dir, name)
	}
	write(t, "/ignored\n", dir, ".gitignore")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-q", "-m", "first")
	git(t, dir, "tag", "v1.2.3")
	write(t, "second", dir, "changed")
	write(t, "new", dir, "sub", "new")
	write(t, "", dir, "ignored")
	env.OK(t, os.Remove(filepath.Join(dir, "gone")))
	s := source{root: dir, commit: git(t, dir, "rev-parse", "HEAD")}
	copied := filepath.Join(t.TempDir(), "copy")
	env.OK(t, s.copyTo(t.Context(), copied))
	for _, args := range [][]string{{"rev-parse", "HEAD"}, {"status", "--porcelain"}, {"tag"}} {
		if a, b := git(t, dir, args...), git(t, copied, args...); a != b {
			t.Errorf("git %s: %q there, %q in the copy", strings.Join(args, " "), a, b)
		}
	}
	names, err := filepath.Glob(copied + "/[a-z]*")
	if want := []string{copied + "/changed", copied + "/kept", copied + "/sub"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("%q, %v", names, err)
	}
	env.Equal(t, "the change is", string(read(t, copied, "changed")), "second")
}

func TestOnlyACommitIsPublished(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if _, err := findSource(t.Context(), false); err == nil || !strings.Contains(err.Error(), "clone") {
		t.Errorf("no repository: %v", err)
	}
	git(t, dir, "init", "-q")
	git(t, dir, "commit", "-q", "--allow-empty", "-m", "first")
	if s, err := findSource(t.Context(), false); err != nil || len(s.commit) < 40 || s.time.IsZero() || s.version == "" {
		t.Errorf("%+v, %v", s, err)
	}
	write(t, "", dir, "more")
	if _, err := findSource(t.Context(), false); err == nil || !strings.Contains(err.Error(), "--allow-changes") || !strings.Contains(err.Error(), "more") {
		t.Errorf("a change: %v", err)
	}
	if _, err := findSource(t.Context(), true); err != nil {
		t.Errorf("a change that may be: %v", err)
	}
}

// TestEachDependencyIsExplained compares the modules that go.mod requires directly, and
// those of the release tools, with docs/dependencies.md.
func TestEachDependencyIsExplained(t *testing.T) {
	t.Parallel()
	document := string(read(t, "../../../docs/dependencies.md"))
	for _, dir := range []string{"../../..", "tools"} {
		list := env.Must(run(t.Context(), dir, nil, "go", "list", "-m", "-f", "{{if not (or .Main .Indirect)}}{{.Path}}{{end}}", "all"))(t)
		seen := 0
		for module := range strings.SplitSeq(list, "\n") {
			if module == "" {
				continue
			}
			seen++
			if row := regexp.MustCompile(`(?m)^\|.*\b` + regexp.QuoteMeta(module) + `\b[^|]*\|`); !row.MatchString(document) {
				t.Errorf("docs/dependencies.md has no row for %s", module)
			}
		}
		if seen < 2 {
			t.Errorf("only %d modules were found in %s", seen, dir)
		}
	}
}

// TestMinisignVerifiesTheSignature follows docs/install.md.
func TestMinisignVerifiesTheSignature(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("minisign"); err != nil {
		t.Skip("minisign is not installed here")
	}
	j := aJob(t)
	public, sums := filepath.Join(j.work, "minisign.pub"), filepath.Join(j.dist, sumsName)
	j.sign = filepath.Join(j.work, "pushbox.key")
	do(t, "minisign", "-G", "-W", "-s", j.sign, "-p", public)
	write(t, "the sums\n", sums)
	env.OK(t, j.signSums(t.Context(), strings.NewReader("")))
	env.Contains(t, "it", do(t, "minisign", "-V", "-p", public, "-m", sums), "pushbox 1.2.3, commit 0123456789abcdef")
	write(t, "other sums\n", sums)
	if said, err := exec.CommandContext(t.Context(), "minisign", "-V", "-p", public, "-m", sums).CombinedOutput(); err == nil {
		t.Errorf("other sums are accepted: %s", said)
	}
	j.sign += "x"
	if err := j.signSums(t.Context(), strings.NewReader("")); err == nil || !strings.Contains(err.Error(), "minisign") {
		t.Errorf("without a key: %v", err)
	}
}

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
		write(t, content, dir, name)
	}
	return "file://" + filepath.ToSlash(dir)
}

func TestAKnownVulnerabilityEndsTheRelease(t *testing.T) {
	t.Parallel()
	env.NeedLong(t, "it builds govulncheck")
	for name, c := range map[string]struct{ db, want string }{
		"none":               {vulnDatabase(t, "0.0.1"), ""},
		"one":                {vulnDatabase(t, "99.0.0"), "GO-2026-0001"},
		"no database":        {"file://" + filepath.ToSlash(t.TempDir()), "--without-vulncheck"},
		"one out of reach":   {"http://127.0.0.1:1", "--without-vulncheck"},
		"an address of none": {"nowhere", "--without-vulncheck"},
	} {
		j := aJob(t)
		j.vulnDB = c.db
		err := j.checkProgram(t.Context(), executable(t))
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
}
