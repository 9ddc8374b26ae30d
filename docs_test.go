package main

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Documents with commands that must work as they are written. A block fenced as
// console has commands, each behind "$ ", and under each what it prints. Behind
// the word console are the statuses that its requests are answered with.
var documents = []string{"README.md", "docs/api.md"}

// TestTheDocumentsCommandsWork runs every command of the documents against a
// server, and compares what it prints with what is written, but for tokens and
// times. With PUSHBOX_UPDATE_DOCS=1 it writes down what they print instead.
func TestTheDocumentsCommandsWork(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("the documents show curl, and it is not installed here")
	}
	for _, name := range documents {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			shell := newShell(t)
			if !strings.Contains(string(text), "API_TOKEN=$(") {
				shell.makeToken()
			}
			got := shell.follow(string(text))
			if os.Getenv("PUSHBOX_UPDATE_DOCS") != "" {
				if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, have := strings.Split(timeless(string(text)), "\n"), strings.Split(timeless(got), "\n")
			for i := range min(len(want), len(have)) {
				if want[i] != have[i] {
					t.Fatalf("line %d of what it says is\n%s\nand it comes out as\n%s", i+1, want[i], have[i])
				}
			}
			if shell.ran < 8 || len(want) != len(have) {
				t.Errorf("%d commands were run, %d lines became %d", shell.ran, len(want), len(have))
			}
		})
	}
}

const documented = "http://127.0.0.1:5100" // where the documents say that the server is

// timeless takes out of a text what differs each time.
func timeless(text string) string {
	for pattern, name := range map[string]string{
		`/d/[a-z2-7]{32}/`: "/d/GRANT/",
		`[a-z2-7]{34}`:     "TOKEN",
		`20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z`: "TIME",
		`\d+\.\d [KM]iB`: "SIZE",
		`curl/[0-9.]+`:   "curl/VERSION",
	} {
		text = regexp.MustCompile(pattern).ReplaceAllString(text, name)
	}
	return text
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

	statuses []string // that the block's requests still have to get
}

// newShell starts a server.
func newShell(t *testing.T) *shell {
	t.Helper()
	s := &shell{t: t, dir: t.TempDir(), env: plainEnviron()}
	server, err := startServer(s.dir, s.env, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.kill)
	s.url = server.url
	return s
}

// makeToken adds an account of which API_TOKEN is a token.
func (s *shell) makeToken() {
	s.t.Helper()
	s.run("echo 'at least ten characters' | pushbox user add reader@example.com --password-stdin")
	token, _ := s.run("pushbox token create reader@example.com")
	s.env = append(s.env, "API_TOKEN="+strings.TrimSpace(token))
}

// plainEnviron is the environment without what is meant for pushbox or its tests.
func plainEnviron() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "PUSHBOX_") })
}

// follow returns the document with the output of every command as it came out.
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

// step runs one command. What a shell would keep of it, this one does.
func (s *shell) step(command string) string {
	s.ran++
	name, value, assigns := strings.Cut(command, "=")
	switch {
	case command == "go run . serve":
		return ""
	case assigns && strings.HasPrefix(value, "$("):
		text, said := s.run("echo " + value)
		s.env = append(s.env, name+"="+strings.TrimSpace(text))
		return said
	case assigns && name == "TOKEN":
		s.env = append(s.env, "TOKEN="+s.token)
		return ""
	}
	var out, said string
	if strings.HasPrefix(command, "curl ") {
		out = s.request(command)
	} else {
		out, said = s.run(command)
	}
	if m := regexp.MustCompile(`"url_token":"([a-z2-7]{34})"`).FindStringSubmatch(out); m != nil {
		s.token = m[1]
		s.env = append(s.env, "TOKEN="+s.token)
	}
	if all := said + out; all == "" || strings.HasSuffix(all, "\n") {
		return strings.ReplaceAll(all, s.url, documented)
	}
	s.t.Fatalf("%s: the output has no end of line: %s", command, out)
	return ""
}

// request runs a command that makes a request, and wants the block's next status.
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

// run returns what a command wrote to standard output and to standard error.
func (s *shell) run(command string) (stdout, stderr string) {
	s.t.Helper()
	command = strings.ReplaceAll(strings.ReplaceAll(command, documented, s.url), "go run . ", "pushbox ")
	cmd := exec.CommandContext(s.t.Context(), "sh", "-c", command)
	cmd.Dir, cmd.Env = s.dir, s.env
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		s.t.Fatalf("%s: %v\n%s", command, err, &said)
	}
	return out.String(), said.String()
}
