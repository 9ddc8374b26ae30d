package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pushbox/internal/cli"
)

func TestTheManualHasCommandsAndExitCodes(t *testing.T) {
	t.Parallel()
	page, err := manual(tree(t))
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	for _, p := range cli.Pages()[1:] {
		if !strings.Contains(text, "\n.SS "+roff(strings.TrimPrefix(p.Path, "pushbox "))+"\n") {
			t.Errorf("%s has no section", p.Path)
		}
	}
	for _, want := range []string{`.TH PUSHBOX 1 "2023-11-14" "pushbox 1.2.3"`, ".B 75\n", `\-\-password\-stdin`} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not contain %q", want)
		}
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
		if got := roff(text); got != want {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
	if got, want := outdented("      a\n\n        b"), "  a\n\n    b"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
}

func TestExitCodesAreThoseOfTheDocument(t *testing.T) {
	t.Parallel()
	const table = "# x\n\n## Exit codes\n\n| Code | Meaning |\n|---|---|\n| 3 | `check` found it |\n\n## More\n\n| 9 | no |\n"
	got, err := exitCodes(table)
	if want := ".TP\n.B 3\ncheck found it\n"; err != nil || got != want {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := exitCodes("# x\n"); err == nil {
		t.Error("a document without codes")
	}
}

func TestEveryCompletionHasItsScript(t *testing.T) {
	t.Parallel()
	for _, shell := range shells {
		script, err := completion(t.Context(), shell.name)
		if err != nil || !strings.Contains(string(script), "pushbox") {
			t.Errorf("%s: %v", shell.name, err)
		}
		program, err := exec.LookPath(shell.name)
		if err != nil || shell.name == "powershell" { // which has no way to look only
			continue
		}
		cmd := exec.CommandContext(t.Context(), program, "-n")
		cmd.Stdin = strings.NewReader(string(script))
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", filepath.Base(program), err, said)
		}
	}
	if _, err := completion(t.Context(), "tcsh"); err == nil || !strings.Contains(err.Error(), "choose one of") {
		t.Errorf("tcsh: %v", err)
	}
}
