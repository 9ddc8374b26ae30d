package server_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Every command that the help page shows works as it is shown.
func TestTheHelpsCommandsWork(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("the help shows curl, and it is not installed here")
	}
	for _, name := range []string{"as it comes", "members only"} {
		a := newAPI(t, settings[name], sendsMail)
		ann := a.user("ann@example.com")
		commands := a.handler.HelpCommands(a.url)
		if len(commands) != len(calls) {
			t.Errorf("%s: %d commands", name, len(commands))
		}
		for id, command := range commands {
			pushed := a.pushFiles("ann@example.com", []byte("hello"))
			cmd := exec.CommandContext(t.Context(), "sh", "-c", command+" -w '\n%{http_code}'")
			cmd.Dir = t.TempDir()
			cmd.Env = append(
				os.Environ(), "TOKEN="+pushed.token.Reveal(), "GRANT="+pushed.grant(),
				"API_TOKEN="+strings.TrimPrefix(ann.Get("Authorization"), "Bearer "),
			)
			want := "\n200"
			if id == "create" || id == "notify_emails" {
				want = "\n201"
			}
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.HasSuffix(string(out), want) {
				t.Errorf("%s: %s: %v: %s", name, command, err, out)
			}
		}
	}
}
