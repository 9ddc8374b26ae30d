package docs

import (
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pushbox/internal/proctest"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/golden"
)

// TestTheDrillWorksAsItIsWritten runs every command of docs/backup.md,
// beside a server that has an account and a push, and compares the output with what is
// written.
func TestTheDrillWorksAsItIsWritten(t *testing.T) {
	t.Parallel()
	want := string(readFile(t, "docs/backup.md"))
	sh := newShell(t)
	proctest.APIToken(t, sh.dir)
	sh.run("curl -sf --data-urlencode 'push[payload]=a secret' " + documented + "/api/v2/pushes")
	for name, content := range map[string]string{"identity.txt": ageIdentity, "recipient.txt": ageRecipient} {
		env.OK(t, os.WriteFile(filepath.Join(sh.dir, name), []byte(content+"\n"), 0o600))
	}
	if got := keyless(sh.follow(want), sh.dir); timeless(got) != timeless(want) {
		t.Errorf("the output is\n%s", got)
	}
	if sh.ran < 12 {
		t.Errorf("only %d commands were run", sh.ran)
	}
	if left, err := filepath.Glob(filepath.Join(sh.dir, "data", "pushbox.db.new-*")); err != nil || len(left) > 0 {
		t.Errorf("there is %v: %v", left, err)
	}
}

// An identity of age and its recipient, made for these tests.
const (
	ageIdentity  = "AGE-SECRET-KEY-1QAFVYTSCLCQ3SREVU8ZGC56WWZTGKREG4RWW0N93J26VL2GUNXPQ9V7ZE5"
	ageRecipient = "age1z28ymd46k3n8qk38suln6028xtphx544zy3d5ek56z9ssgkrfpvsl5kc67"
)

// TestTheManualsCommandsOfReloadAndDoctorWork runs them as they are written, with a
// running server.
func TestTheManualsCommandsOfReloadAndDoctorWork(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	for _, heading := range []string{"## Reload", "## Doctor"} {
		ran := 0
		for line := range strings.Lines(section(t, "docs/operating.md", heading)) {
			if command, ok := strings.CutPrefix(line, "    "); ok {
				s.run(strings.ReplaceAll(strings.TrimSpace(command), "https://push.example.com", s.url))
				ran++
			}
		}
		if ran == 0 {
			t.Errorf("%s has no commands", heading)
		}
	}
}

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
		res, _ := env.Ask(t, method, server.URL+path, body, env.Form, "Origin: "+server.URL, "X-Forwarded-For: "+guesser)
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

const testingManual = "docs/testing.md"

func TestTheManualHasEveryHarness(t *testing.T) {
	t.Parallel()
	text, found := string(readFile(t, testingManual)), 0
	for _, pattern := range []string{"internal/harness/*/doc.go", "*/harness/*/doc.go"} {
		docs := env.Must(filepath.Glob(pattern))(t)
		for _, doc := range docs {
			found++
			if !strings.Contains(text, "`"+filepath.Dir(doc)+"`") {
				t.Errorf("the table does not name %s", doc)
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d harnesses were found", found)
	}
}

func TestTheManualHasEveryLength(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("| Variable | What it counts | Least | Usual | Long |\n|---|---|---|---|---|\n")
	var names []string
	for _, w := range env.Works() {
		names = append(names, w.Name)
		least := "–"
		if w.Least > 0 {
			least = fmt.Sprint(w.Least)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %d | %d |\n", w.Name, w.What, least, w.Usual, w.Long)
	}
	const begins, ends = "<!-- the lengths: go test ./internal/harness/docs -update -->", "<!-- the end of them -->"
	golden.Section(t, absolute(t, testingManual), begins, ends, b.String())
	if read := lengths(t); !slices.Equal(names, read) {
		t.Errorf("env.Works has %v, but tests read %v", names, read)
	}
}

// lengths are the variables that tests read their lengths from, sorted.
func lengths(t *testing.T) []string {
	t.Helper()
	all := make(map[string]bool)
	read := regexp.MustCompile(`env\.Length\(\w+, "(PUSHBOX_TEST_\w+)"\)`)
	root := absolute(t, ".")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") && path != root):
			return filepath.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		b, err := os.ReadFile(path)
		for _, m := range read.FindAllStringSubmatch(string(b), -1) {
			all[m[1]] = true
		}
		return err
	})
	env.OK(t, err)
	return slices.Sorted(maps.Keys(all))
}

// What passes for a reader of the README is what .ci/run runs.
func TestTheGateRunsTheTestsAsTheREADMEDoes(t *testing.T) {
	t.Parallel()
	readme := regexp.MustCompile(`(?m)^\$ (go test .*)$`).FindStringSubmatch(string(readFile(t, "README.md")))
	if readme == nil {
		t.Fatal("README.md has no command that begins with go test")
	}
	step := regexp.MustCompile(`(?ms)^test\(\) \{\n(.*?)^\}$`).FindStringSubmatch(string(readFile(t, ".ci/run")))
	if step == nil || !strings.Contains(step[1], "\n\t"+readme[1]+"\n") {
		t.Errorf(".ci/run does not have the command %q in its step test", readme[1])
	}
}

// keyless replaces what differs each time: directories, keys and their times.
func keyless(text, dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		text = strings.ReplaceAll(text, real, "DIR")
	}
	text = strings.ReplaceAll(text, dir, "DIR")
	text = regexp.MustCompile(`\(ID [0-9a-f]{8}\)`).ReplaceAllString(text, "(ID KEYID)")
	return regexp.MustCompile(`\.old-20\d{6}T\d{6}Z`).ReplaceAllString(text, ".old-TIME")
}

// wantFollowed runs the commands of a text, and compares their output with what is
// written.
func wantFollowed(t *testing.T, s *shell, text string, least int) {
	t.Helper()
	got := strings.Split(keyless(s.follow(text), s.dir), "\n")
	for i, want := range strings.Split(text, "\n") {
		if i >= len(got) || got[i] != want {
			t.Fatalf("line %d is\n%s\nand the output is\n%s", i+1, want, strings.Join(got[min(i, len(got)):min(i+1, len(got))], ""))
		}
	}
	if s.ran < least {
		t.Errorf("%d commands were run", s.ran)
	}
}

func TestTheCommandsAboutKeysWorkWithAServerAndWithout(t *testing.T) {
	t.Parallel()
	text := string(readFile(t, "docs/keys.md"))
	for _, online := range []bool{true, false} {
		s := newIdleShell(t, "testdata/databases/schema-6")
		s.run("pushbox compact") // which upgrades it
		s.run("rm data/pushbox.db.schema6")
		if online {
			server := env.Must(proctest.Start(s.dir, s.env, nil))(t)
			t.Cleanup(server.Kill)
		}
		wantFollowed(t, s, text, 4)
		if out, stderr := s.run("pushbox user list"); !strings.Contains(out, "ann@example.com") || stderr != "" {
			t.Errorf("then the accounts are %s%s", out, stderr)
		}
	}
}

func TestTheCommandsAboutUpgradingWork(t *testing.T) {
	t.Parallel()
	text := readFile(t, "docs/upgrading.md")
	s := newIdleShell(t, "testdata/databases/schema-4")
	wantFollowed(t, s, string(text), 3)

	// The commands for going back are not in such a block.
	s = newIdleShell(t, "testdata/databases/schema-4")
	s.run("pushbox compact")
	const back = "cp data/pushbox.db.schema4 data/pushbox.db"
	if !strings.Contains(string(text), "\n    "+back+"\n") {
		t.Error("the manual does not say how to go back")
	}
	s.run(back)
	if _, stderr := s.run("pushbox compact"); !strings.Contains(stderr, "upgraded the database from schema 4") {
		t.Errorf("the old database is not restored: %s", stderr)
	}
}

// newIdleShell returns a shell whose directory has a database and its key, without a
// server.
func newIdleShell(t *testing.T, from string) *shell {
	t.Helper()
	s := &shell{t: t, url: documented, dir: t.TempDir(), env: proctest.Environ()}
	data := filepath.Join(s.dir, "data")
	env.OK(t, os.Mkdir(data, 0o700))
	for _, name := range []string{"pushbox.db", "master.key"} {
		env.OK(t, os.WriteFile(filepath.Join(data, name), env.Read(t, filepath.Join(from, name)), 0o600))
	}
	return s
}
