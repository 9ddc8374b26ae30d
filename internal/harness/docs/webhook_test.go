package docs

import (
	"net"
	"net/http"
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

// freePort is a free port of this machine.
func freePort(t *testing.T) string {
	t.Helper()
	_, port, _ := net.SplitHostPort(proctest.FreeAddresses(t, 1)[0])
	return port
}

// TestTheReceiverOfTheDocumentVerifiesMessages follows docs/webhooks.md, with another
// port, and then lets a server report a view.
func TestTheReceiverOfTheDocumentVerifiesMessages(t *testing.T) {
	t.Parallel()
	proctest.Installed(t, "python3", "python3")
	proctest.Installed(t, "curl", "curl")
	const document = "docs/webhooks.md"
	dir, port, output := t.TempDir(), freePort(t), new(proctest.Output)
	defer func() {
		if t.Failed() {
			t.Logf("the receiver printed\n%s", output)
		}
	}()
	bearer := proctest.APIToken(t, dir)
	ours := func(text string) string { return strings.ReplaceAll(text, "9000", port) }
	env.OK(t, os.WriteFile(filepath.Join(dir, "receiver.py"), []byte(ours(block(t, document, "python", 0))), 0o600))
	commands, printed := commandsOf(block(t, document, "console", 0))
	// The trap comes first, so that a command that fails also ends the receiver.
	script := "set -e\ntrap 'kill $!' EXIT\n" + ours(strings.Join(commands, "")) + "read end\n"
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = dir, proctest.Environ(), output, output, proctest.Patience
	end := env.Must(cmd.StdinPipe())(t)
	env.OK(t, cmd.Start())
	defer func() { _ = cmd.Wait() }()
	defer func() { _ = end.Close() }() // ends the shell, which ends the receiver
	for _, line := range printed {
		waitFor(t, output, regexp.QuoteMeta(regexp.MustCompile(`\d+ ms$`).ReplaceAllString(line, "")))
	}

	server := proctest.StartServer(t, dir, "PUSHBOX_WEBHOOKS_ALLOW=public,127.0.0.1")
	var a proctest.Caller
	a.Reach(server.URL)
	var made, got proctest.Record
	if err := a.Call(http.MethodPost, proctest.PushesPath, bearer, map[string]proctest.NewPush{"push": {Payload: "seen", Views: 1}}, http.StatusCreated, &made); err != nil {
		t.Fatal(err)
	}
	env.OK(t, a.Call(http.MethodGet, proctest.PushesPath+"/"+made.Token, "", nil, http.StatusOK, &got))
	for _, event := range []string{"view", "last_view", "expire"} {
		waitFor(t, output, "(?m)^"+event+" text$")
	}
	server.Stop()
	if log := server.Log(); strings.Contains(log, made.Token) || strings.Contains(log, port+"/") {
		t.Errorf("the log has the link or the address:\n%s", log)
	}
}

// waitFor waits until the output has a pattern.
func waitFor(t *testing.T, output *proctest.Output, pattern string) {
	t.Helper()
	match := regexp.MustCompile(pattern).MatchString
	env.Eventually(t, pattern+" is written", func() bool { return match(output.String()) })
}

// TestTheSecretOfTheDocumentIsTaken makes a secret as the document says, and starts a
// server with it.
func TestTheSecretOfTheDocumentIsTaken(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("the document makes a secret with openssl, and it is not installed here")
	}
	dir := t.TempDir()
	commands, _ := commandsOf(block(t, "docs/webhooks.md", "console", 1))
	cmd := exec.CommandContext(t.Context(), "sh", "-c", strings.Join(commands, ""))
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if info, err := os.Stat(filepath.Join(dir, "instance.secret")); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the file is %v, %v", info, err)
	}
	settings := block(t, "docs/webhooks.md", "yaml", 1)
	env.OK(t, os.WriteFile(filepath.Join(dir, "pushbox.yaml"), []byte(settings), 0o600))
	proctest.StartServer(t, dir, "PUSHBOX_CONFIG=pushbox.yaml").Stop()
	env.OK(t, os.WriteFile(filepath.Join(dir, "instance.secret"), []byte("not-a-secret\n"), 0o600))
	_, err := proctest.Start(dir, append(proctest.LoadEnviron(), "PUSHBOX_CONFIG=pushbox.yaml"), nil)
	if err == nil || !strings.Contains(err.Error(), "webhooks.secret_file: it must be whsec_") || !strings.Contains(err.Error(), "hint: make one: ") || strings.Contains(err.Error(), "not-a-secret") {
		t.Errorf("not a secret: %v", err)
	}
}

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
