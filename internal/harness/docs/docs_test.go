package docs

import (
	"bytes"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"pushbox/internal/proctest"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/golden"
)

// Documents with commands that must work as they are written. A block fenced as console
// has commands, each after "$ ", and under each its output, in which … marks a
// part of a line that is left out. The statuses of the answers to its requests follow
// the word console.
var documents = []string{"README.md", "docs/api.md"}

// TestTheDocumentsCommandsWork runs every command of the documents with a server, and
// compares the output with what is written, except for tokens and times. With -update
// it writes the output into the documents instead, and keeps lines that still show a
// shortened form of it.
func TestTheDocumentsCommandsWork(t *testing.T) {
	t.Parallel()
	for _, name := range documents {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := readFile(t, name)
			shell := newShell(t)
			if !strings.Contains(string(text), "API_TOKEN=$(") {
				shell.makeToken()
			}
			got := shell.follow(string(text))
			if golden.Update() {
				golden.File(t, name, shortened(string(text), got))
				return
			}
			want, have := strings.Split(timeless(string(text)), "\n"), strings.Split(timeless(got), "\n")
			for i := range min(len(want), len(have)) {
				if !shows(want[i], have[i]) {
					t.Fatalf("line %d is\n%s\nand the output is\n%s", i+1, want[i], have[i])
				}
			}
			if shell.ran < 8 || len(want) != len(have) {
				t.Errorf("%d commands were run, %d lines became %d", shell.ran, len(want), len(have))
			}
		})
	}
}

const documented = "http://127.0.0.1:5100" // the address of the server in the documents

// timeless replaces what differs each time in a text.
func timeless(text string) string {
	for pattern, name := range map[string]string{
		`/d/[a-z2-7]{32}/`: "/d/GRANT/",
		`[a-z2-7]{34}`:     "TOKEN",
		`20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z`: "TIME",
		`\d+(\.\d)? [KM]iB`:                          "SIZE",
		`curl/[0-9.]+`:                               "curl/VERSION",
	} {
		text = regexp.MustCompile(pattern).ReplaceAllString(text, name)
	}
	return text
}

// shows reports whether a line of a document shows what was printed. Each … in it
// matches one or more characters; all others must be the same.
func shows(written, printed string) bool {
	parts := strings.Split(written, "…")
	for i, part := range parts {
		parts[i] = regexp.QuoteMeta(part)
	}
	return regexp.MustCompile("^" + strings.Join(parts, ".+") + "$").MatchString(printed)
}

// shortened is what was printed, except that a line of the document that shows it in a
// shortened form stays.
func shortened(written, printed string) string {
	was, is := strings.Split(written, "\n"), strings.Split(printed, "\n")
	for i := range is {
		if len(was) == len(is) && strings.Contains(was[i], "…") && shows(timeless(was[i]), timeless(is[i])) {
			is[i] = was[i]
		}
	}
	return strings.Join(is, "\n")
}

func TestAShortenedLineStandsForNothingElse(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		written, printed string
		want             bool
	}{
		{"{}", "{}", true},
		{"{}", "{} ", false},
		{`{"a":1,…,"z":9}`, `{"a":1,"b":2,"z":9}`, true},
		{`{"a":1,…}`, `{"a":1,"b":2,"z":9}`, true},
		{`{"a":1,…,"c":3,…}`, `{"a":1,"b":2,"c":3,"z":9}`, true},
		{`{"a":1,…,"z":9}`, `{"a":2,"b":2,"z":9}`, false},
		{`{"a":1,…,"z":9}`, `{"a":1,"b":2,"z":8}`, false},
		{`{"a":1,…,"z":9}`, `{"a":1,"z":9}`, false},
		{`{"a":1,…,"c":3,…,"b":2}`, `{"a":1,"b":2,"c":3,"z":9}`, false},
		{"1.…", "12 and more", false},
		{"…", "", false},
	} {
		if got := shows(test.written, test.printed); got != test.want {
			t.Errorf("%s for %s: %v", test.written, test.printed, got)
		}
	}
}

// A shell runs a document's commands one after the other, in one directory and
// with one set of variables.
type shell struct {
	t     *testing.T
	url   string
	dir   string
	env   []string
	token string // the url_token seen last
	ran   int

	statuses []string // that the block's next requests must get
}

// newShell starts a server.
func newShell(t *testing.T) *shell {
	t.Helper()
	proctest.Installed(t, "curl", "curl") // which the documents show
	s := &shell{t: t, dir: t.TempDir(), env: proctest.Environ()}
	server := env.Must(proctest.Start(s.dir, s.env, nil))(t)
	t.Cleanup(server.Kill)
	s.url = server.URL
	return s
}

// makeToken adds an account and sets API_TOKEN to one of its tokens.
func (s *shell) makeToken() {
	s.t.Helper()
	s.run("echo 'at least ten characters' | pushbox user add reader@example.com --password-stdin")
	token, _ := s.run("pushbox token create reader@example.com")
	s.env = append(s.env, "API_TOKEN="+strings.TrimSpace(token))
}

// follow runs every command of the document, and returns the document with their real
// output.
func (s *shell) follow(text string) string {
	var out strings.Builder
	inside := false
	for line := range strings.Lines(text) {
		command, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case strings.HasPrefix(line, "```"):
			if len(s.statuses) > 0 {
				s.t.Fatalf("a block expects more answers: %v", s.statuses)
			}
			var statuses string
			statuses, inside = strings.CutPrefix(line, "```console")
			s.statuses = strings.Fields(statuses)
			if !inside {
				s.statuses = nil
			}
			out.WriteString(line)
		case !inside:
			out.WriteString(line)
		case isCommand:
			out.WriteString(line)
			out.WriteString(s.step(strings.TrimSpace(command)))
		}
	}
	if inside {
		s.t.Fatal("a block of commands has no end")
	}
	return out.String()
}

// step runs one command, and keeps what a shell would keep of it.
func (s *shell) step(command string) string {
	s.ran++
	name, value, assigns := strings.Cut(command, "=")
	switch {
	case command == "go run . serve", command == "go test ./...": // the one runs already, the other runs this
		return ""
	case assigns && strings.HasPrefix(value, "$("):
		text, stderr := s.run("echo " + value)
		s.env = append(s.env, name+"="+strings.TrimSpace(text))
		return stderr
	case assigns && name == "TOKEN":
		s.env = append(s.env, "TOKEN="+s.token)
		return ""
	}
	var out, stderr string
	if strings.HasPrefix(command, "curl ") {
		out = s.request(command)
	} else {
		out, stderr = s.run(command)
	}
	if m := regexp.MustCompile(`"url_token":"([a-z2-7]{34})"`).FindStringSubmatch(out); m != nil {
		s.token = m[1]
		s.env = append(s.env, "TOKEN="+s.token)
	}
	if all := stderr + out; all == "" || strings.HasSuffix(all, "\n") {
		return strings.ReplaceAll(all, s.url, documented)
	}
	s.t.Fatalf("%s: the output has no end of line: %s", command, out)
	return ""
}

// request runs a command that makes a request. The answer must have the block's next
// status.
func (s *shell) request(command string) string {
	s.t.Helper()
	if len(s.statuses) == 0 {
		s.t.Fatalf("no status is given for %s", command)
	}
	out, _ := s.run(command + ` -w '%{http_code}'`)
	body, got := out[:len(out)-3], out[len(out)-3:]
	if got != s.statuses[0] {
		s.t.Fatalf("%s: the status is %s, not %s: %s", command, got, s.statuses[0], body)
	}
	s.statuses = s.statuses[1:]
	return body
}

// run runs a command and returns its standard output and standard error.
func (s *shell) run(command string) (stdout, stderr string) {
	s.t.Helper()
	command = strings.ReplaceAll(strings.ReplaceAll(command, documented, s.url), "go run . ", "pushbox ")
	cmd := exec.CommandContext(s.t.Context(), "sh", "-c", command)
	cmd.Dir, cmd.Env = s.dir, s.env
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		s.t.Fatalf("%s: %v\n%s", command, err, &errs)
	}
	return out.String(), errs.String()
}
