package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/proctest"
	"pushbox/internal/testkit/env"
)

// TestTheCommandsOfTheMailDocumentWork follows docs/mail.md, with other ports and with
// Debian's aiosmtpd as the mail server.
func TestTheCommandsOfTheMailDocumentWork(t *testing.T) {
	t.Parallel()
	const document = "docs/mail.md"
	for _, program := range []string{"aiosmtpd", "curl"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("the document uses " + program + ", and it is not installed here")
		}
	}
	dir, port := t.TempDir(), freePort(t)
	ours := strings.NewReplacer("2525", port)
	commands, printed := commandsOf(block(t, document, "console", 0))
	settings := regexp.MustCompile(`PUSHBOX_(MAIL_[A-Z]+|BASE_URL)=\S+`).FindAllString(ours.Replace(strings.Join(commands, "")), -1)
	bearer := proctest.APIToken(t, dir)
	server := proctest.StartServer(t, dir, settings...)
	var rest string
	for n := range 2 {
		more, wanted := commandsOf(block(t, document, "console 201", n))
		rest, printed = rest+strings.Join(more, ""), append(printed, wanted...)
	}
	rest = strings.ReplaceAll(rest, documented, server.URL)
	rest = regexp.MustCompile(`(?m)^(sleep) 1$`).ReplaceAllString(rest, "wait_for_mail")
	script := "set -e\ntrap 'kill $!' EXIT\n" + waitForMail + ours.Replace(strings.Join(commands, "")) + rest
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, append(proctest.Environ(), "API_TOKEN="+bearer), proctest.Patience
	out, err := cmd.CombinedOutput()
	timeless := regexp.MustCompile(`\d+ ms`).ReplaceAllString
	if want := strings.Join(printed, "\n") + "\n"; err != nil || timeless(string(out), "MS") != timeless(want, "MS") {
		t.Errorf("%v: it printed\n%s\nand not\n%s", err, out, want)
	}
	server.Stop()
}

// waitForMail waits for mail where the document sleeps for a second.
const waitForMail = `wanted=1
wait_for_mail() {
	wanted=$((wanted * 2))
	for i in $(seq 1200); do [ $(grep -c ^To: mail.txt) -lt $wanted ] || return 0; sleep 0.1; done
}
`

// Each recipe of the document is a valid configuration.
func TestTheRecipesOfTheMailDocumentAreValid(t *testing.T) {
	t.Parallel()
	for n := range 4 {
		name := filepath.Join(t.TempDir(), "config.yaml")
		env.OK(t, os.WriteFile(name, []byte(block(t, "docs/mail.md", "yaml", n)), 0o600))
		l, err := config.Load(config.Source{File: name})
		if err != nil || !l.Config.Mail.Enabled() {
			t.Errorf("recipe %d: %v", n+1, err)
		}
	}
}
