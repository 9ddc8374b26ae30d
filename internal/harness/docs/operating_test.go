package docs

import (
	"strings"
	"testing"
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
