package main

import (
	"bytes"
	"debug/buildinfo"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"pushbox/internal/cli"
	"pushbox/internal/testkit/env"
)

var link = regexp.MustCompile(`\]\(([^)#\s]+)[^)]*\)`)

// TestLinksLeadToFilesOfTheSamePlace: documents are read where there is no network, too.
func TestLinksLeadToFilesOfTheSamePlace(t *testing.T) {
	t.Parallel()
	documents := env.Must(aJob(t).documents(t.Context()))(t)
	for place, in := range map[string]func(string) bool{
		"the archive": func(name string) bool { return !forPackages(name) },
		"a package":   forReaders,
	} {
		there, checked := make(map[string]bool), 0
		for name := range documents {
			there[name] = in(name)
		}
		for from, f := range documents {
			if !there[from] || path.Ext(from) != ".md" {
				continue
			}
			for _, found := range link.FindAllSubmatch(f.content, -1) {
				to := string(found[1])
				if strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") {
					continue
				}
				checked++
				if name := path.Join(path.Dir(from), to); !there[name] {
					t.Errorf("%s: %s leads to %s, which is not there", place, from, name)
				}
			}
		}
		if checked < 50 {
			t.Errorf("%s: only %d links were found", place, checked)
		}
	}
}

func TestTheManualHasCommandsAndExitCodes(t *testing.T) {
	t.Parallel()
	documents := env.Must(aJob(t).documents(t.Context()))(t)
	text := string(documents["pushbox.1"].content)
	for _, p := range cli.Pages()[1:] {
		if !strings.Contains(text, "\n.SS "+roff(strings.TrimPrefix(p.Path, "pushbox "))+"\n") {
			t.Errorf("%s has no section", p.Path)
		}
	}
	for _, want := range []string{`.TH PUSHBOX 1 "2023-11-14" "pushbox 1.2.3"`, ".TP\n.B 75\nanother process uses the database; try again\n", `\-\-password\-stdin`} {
		env.Contains(t, "it", text, want)
	}
	if strings.Contains(text, "@\n") {
		t.Error("a placeholder is left")
	}
	for _, checker := range [][]string{{"groff", "-man", "-ww", "-Tutf8", "-z"}, {"mandoc", "-Tlint", "-Wwarning"}} {
		program, err := exec.LookPath(checker[0])
		if err != nil {
			continue // each is in Debian; one of them is on most machines
		}
		cmd := exec.CommandContext(t.Context(), program, checker[1:]...)
		cmd.Stdin = strings.NewReader(text)
		if said, err := cmd.CombinedOutput(); err != nil || len(said) > 0 {
			t.Errorf("%s: %v\n%s", checker[0], err, said)
		}
	}
}

func TestHelpTextsAreEscaped(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a\n.b":     "a\n\\&.b",
		"'x'":       `\&'x'`,
		`C:\data-x`: `C:\edata\-x`,
	} {
		env.Equal(t, text, roff(text), want)
	}
	if got, want := verbatim("\n      a\n\n        b\n"), ".PP\n.nf\n  a\n\n    b\n.fi\n"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
}

func TestShellsReadTheirCompletions(t *testing.T) {
	t.Parallel()
	documents := env.Must(aJob(t).documents(t.Context()))(t)
	for shell, ending := range shells {
		script := string(documents["completions/pushbox."+ending].content)
		env.Contains(t, shell, script, "pushbox")
		program, err := exec.LookPath(shell)
		if err != nil || shell == "powershell" { // which has no way to look only
			continue
		}
		cmd := exec.CommandContext(t.Context(), program, "-n")
		cmd.Stdin = strings.NewReader(script)
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", shell, err, said)
		}
	}
}

func TestWithoutALicenceNothingIsPublished(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := addLicences(&out, "example.com/m v1", "testdata"); err == nil || !strings.Contains(err.Error(), "example.com/m v1") {
		t.Errorf("%v", err)
	}
	if err := addLicences(&out, "pushbox", "../../.."); err != nil || !strings.Contains(out.String(), "MIT License") {
		t.Errorf("%v, %q", err, &out)
	}
	if _, _, licence, err := aJob(t).script(); err != nil || !strings.Contains(licence, "MIT License") {
		t.Errorf("%v, %q", err, licence)
	}
	for name, want := range map[string]bool{"LICENSE": true, "License.md": true, "COPYING": true, "LICENCE-MIT": true, "NOTICE": true, "licenses.go": false, "README": false} {
		if licenceName.MatchString(name) != want {
			t.Errorf("%s is taken for a licence: %t", name, !want)
		}
	}
}

// aJob makes a release of the source tree of these tests, into a new directory.
func aJob(t *testing.T) job {
	t.Helper()
	root := env.Must(filepath.Abs("../../.."))(t)
	s := source{root: root, version: "1.2.3", commit: "0123456789abcdef", time: time.Unix(1_700_000_000, 0).UTC()}
	return job{source: s, dist: t.TempDir(), work: t.TempDir()}
}

// aBuild returns a build for a target. Its build information is that of the test's own
// binary.
func aBuild(t *testing.T, of target) build {
	t.Helper()
	info := env.Must(buildinfo.ReadFile(executable(t)))(t)
	return build{target: of, content: []byte("the program for " + of), info: info, files: files{
		"LICENSE":              document([]byte("own conditions")),
		"README.md":            document([]byte("read me")),
		"THIRD-PARTY-LICENSES": document([]byte("their conditions")),
	}}
}

// executable is the path of the test's own binary.
func executable(t *testing.T) string {
	t.Helper()
	return env.Must(os.Executable())(t)
}

func read(t *testing.T, name ...string) []byte {
	t.Helper()
	return env.Read(t, filepath.Join(name...))
}

func write(t *testing.T, content string, name ...string) {
	t.Helper()
	path := filepath.Join(name...)
	env.OK(t, (files{filepath.Base(path): document([]byte(content))}).writeBelow(filepath.Dir(path)))
}

// do runs a program that must not fail, and returns its output.
func do(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// git runs git in a directory, as a person with a name.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	identity := []string{"-C", dir, "-c", "user.name=n", "-c", "user.email=e@example.com", "-c", "commit.gpgsign=false"}
	return strings.TrimSuffix(do(t, "git", append(identity, args...)...), "\n")
}
