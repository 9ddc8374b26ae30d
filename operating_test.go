package main

import (
	"os"
	"strings"
	"testing"
)

// TestTheManualsCommandsOfReloadAndDoctorWork runs them as they stand there, against
// a server that runs.
func TestTheManualsCommandsOfReloadAndDoctorWork(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	s := newShell(t)
	for _, section := range []string{"## Reload", "## Doctor"} {
		_, part, found := strings.Cut(string(text), section+"\n")
		part, _, _ = strings.Cut(part, "\n## ")
		if !found {
			t.Fatalf("there is no section %s", section)
		}
		ran := 0
		for line := range strings.Lines(part) {
			if command, ok := strings.CutPrefix(line, "    "); ok {
				s.run(strings.ReplaceAll(strings.TrimSpace(command), "https://push.example.com", s.url))
				ran++
			}
		}
		if ran == 0 {
			t.Errorf("%s has no commands", section)
		}
	}
}
