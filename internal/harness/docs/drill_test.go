package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pushbox/internal/proctest"
	"pushbox/internal/testkit/env"
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
