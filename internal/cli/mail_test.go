package cli

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/emersion/go-smtp"

	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/mailtest"
)

// mailSettings writes a configuration for a mail server, and returns its name.
func mailSettings(t *testing.T, s *mailtest.Server, more ...string) string {
	t.Helper()
	dir := t.TempDir()
	ca, password := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "password")
	lines := append([]string{
		"base_url: https://push.example.org", "mail:", "  host: " + s.Host, "  port: " + strconv.Itoa(s.Port), "  from: push@example.org", "  ca_file: " + ca,
	}, more...)
	name := filepath.Join(dir, "config.yaml")
	for file, text := range map[string]string{ca: string(s.PEM), password: "right\n", name: strings.ReplaceAll(strings.Join(lines, "\n"), "DIR", dir) + "\n"} {
		env.OK(t, os.WriteFile(file, []byte(text), 0o600))
	}
	return name
}

func TestMailTestSaysWhetherMailIsTaken(t *testing.T) {
	t.Parallel()
	s := mailtest.New(t, mailtest.Setup{StartTLS: true, User: "push", Refuse: func(to string, _ int) *smtp.SMTPError {
		if strings.HasPrefix(to, "gone") {
			return mailtest.Reply(550, "there is no "+to)
		}
		return nil
	}})
	signedIn := mailSettings(t, s, "  user: push", "  password_file: DIR/password")
	run(t, t.TempDir(), "", "mail", "test", "bob@example.net", "--config", signedIn).want(t, exitDone, "accepted the mail after")
	if got := s.Mails(); len(got) != 1 || got[0].To != "bob@example.net" || got[0].From != "push@example.org" {
		t.Errorf("it took %+v", got)
	}
	for name, test := range map[string]struct {
		args []string
		code int
		says []string
	}{
		"a refused one":      {[]string{"gone@example.net", "--config", signedIn}, exitFailed, []string{"the server said: ", "there is no gone@example.net", "refuses the mail permanently", "hint:"}},
		"no password":        {[]string{"bob@example.net", "--config", mailSettings(t, s)}, exitFailed, []string{"refuses mail from the address mail.from"}},
		"a file of nothing":  {[]string{"bob@example.net", "--config", mailSettings(t, s, "  user: push", "  password_file: DIR/none")}, exitFailed, []string{"mail.password_file", "no such file"}},
		"no mail":            {[]string{"bob@example.net"}, exitFailed, []string{"mail.host is empty", "hint:"}},
		"no address":         {[]string{"Bob <bob@example.net>", "--config", signedIn}, exitUsage, []string{"ADDRESS is not an e-mail address"}},
		"a password as CA":   {[]string{"bob@example.net", "--config", badCA(t, signedIn)}, exitFailed, []string{"mail.ca_file", "has no certificate"}},
		"more than one word": {[]string{"a@b.example", "c@d.example", "--config", signedIn}, exitUsage, nil},
	} {
		got := run(t, t.TempDir(), "", append([]string{"mail", "test"}, test.args...)...)
		if got.code != test.code {
			t.Errorf("%s: exit code %d: %s", name, got.code, got.stderr)
		}
		for _, text := range test.says {
			if !strings.Contains(got.stderr, text) {
				t.Errorf("%s: it says %s", name, got.stderr)
			}
		}
	}
}

// badCA is a configuration like another one, whose ca_file has no certificate.
func badCA(t *testing.T, like string) string {
	t.Helper()
	text, err := os.ReadFile(like)
	env.OK(t, err)
	name := filepath.Join(t.TempDir(), "config.yaml")
	env.OK(t, os.WriteFile(name, []byte(strings.ReplaceAll(string(text), "ca.pem", "password")), 0o600))
	return name
}
