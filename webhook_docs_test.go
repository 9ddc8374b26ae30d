package main

import (
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// block returns the n-th block of a document that is fenced as of a language.
func block(t *testing.T, name, language string, n int) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	all := regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if n >= len(all) {
		t.Fatalf("%s has %d blocks of %s", name, len(all), language)
	}
	return all[n][1]
}

// commandsOf parts a block into its commands, and what they print.
func commandsOf(text string) (commands, printed []string) {
	for line := range strings.Lines(text) {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			commands = append(commands, command)
		} else {
			printed = append(printed, strings.TrimSpace(line))
		}
	}
	return commands, printed
}

// freePort is a port of this machine that nobody listens on.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// TestTheReceiverOfTheDocumentVerifiesMessages follows docs/webhooks.md to the letter,
// but for the port, and then has a server tell of a view.
func TestTheReceiverOfTheDocumentVerifiesMessages(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("the document has a receiver in Python, and it is not installed here")
	}
	const document = "docs/webhooks.md"
	dir, port, said := t.TempDir(), freePort(t), new(watcher)
	bearer := apiToken(t, dir)
	ours := func(text string) string { return strings.ReplaceAll(text, "9000", port) }
	if err := os.WriteFile(filepath.Join(dir, "receiver.py"), []byte(ours(block(t, document, "python", 0))), 0o600); err != nil {
		t.Fatal(err)
	}
	commands, printed := commandsOf(block(t, document, "console", 0))
	script := "set -e\n" + ours(strings.Join(commands, "")) + "trap 'kill $!' EXIT\nread end\n"
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, plainEnviron(), said, said
	end, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }()
	defer func() { _ = end.Close() }() // which ends the shell, and it the receiver
	for _, line := range printed {
		waitFor(t, said, regexp.QuoteMeta(regexp.MustCompile(`\d+ ms$`).ReplaceAllString(line, "")))
	}

	server := startVictim(t, dir, "PUSHBOX_WEBHOOKS_ALLOW=public,127.0.0.1")
	a := &audience{bearer: bearer}
	a.reach(server.url)
	var made, got crashRecord
	if err := a.call(http.MethodPost, apiPushes, bearer, map[string]newPush{"push": {Payload: "seen", Views: 1}}, http.StatusCreated, &made); err != nil {
		t.Fatal(err)
	}
	if err := a.call(http.MethodGet, apiPushes+"/"+made.Token, "", nil, http.StatusOK, &got); err != nil {
		t.Fatal(err)
	}
	for _, event := range []string{"view", "last_view", "expire"} {
		waitFor(t, said, "(?m)^"+event+" text$")
	}
	server.stop()
	if log := server.stderr.String(); strings.Contains(log, made.Token) || strings.Contains(log, port+"/") {
		t.Errorf("the log tells of the link, or of the address:\n%s", log)
	}
}

// waitFor waits until a pattern was written.
func waitFor(t *testing.T, said *watcher, pattern string) {
	t.Helper()
	match := regexp.MustCompile(pattern).MatchString
	for end := time.Now().Add(patience); !match(said.String()); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("nobody wrote %s:\n%s", pattern, said)
		}
	}
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
	if err := os.WriteFile(filepath.Join(dir, "pushbox.yaml"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	startVictim(t, dir, "PUSHBOX_CONFIG=pushbox.yaml").stop()
	if err := os.WriteFile(filepath.Join(dir, "instance.secret"), []byte("not-a-secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := startServer(dir, append(victimEnviron(), "PUSHBOX_CONFIG=pushbox.yaml"), nil)
	if err == nil || !strings.Contains(err.Error(), "webhooks.secret_file: it must be whsec_") || !strings.Contains(err.Error(), "hint: make one: ") || strings.Contains(err.Error(), "not-a-secret") {
		t.Errorf("what is no secret: %v", err)
	}
}
