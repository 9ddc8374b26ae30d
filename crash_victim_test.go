package main

import (
	"bytes"
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// A victim is a server that is there to be killed.
type victim struct {
	*process
	t *testing.T
}

// startVictim starts a server in dir, with more in its environment, and waits
// until it serves. It ends with the test, also where that runs out of time.
func startVictim(t *testing.T, dir string, environ ...string) *victim {
	t.Helper()
	p, err := startServer(dir, append(victimEnviron(), environ...), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	if end, limited := t.Deadline(); limited {
		const early = 5 * time.Second
		timer := time.AfterFunc(time.Until(end)-early, func() { _ = p.cmd.Process.Kill() })
		t.Cleanup(func() { timer.Stop() })
	}
	return &victim{process: p, t: t}
}

// victimEnviron lets one client meet as many pushes and guess as often as many
// would.
func victimEnviron() []string {
	return append(plainEnviron(), "GORACE=atexit_sleep_ms=0",
		"PUSHBOX_LIMITS_UNKNOWN_TOKENS_PER_MINUTE=100000",
		"PUSHBOX_LIMITS_PASSPHRASES_PER_CLIENT=1000", "PUSHBOX_LIMITS_PASSPHRASES_PER_PUSH=10000")
}

// pass lets time pass until the server ends, ready is closed, or it was d.
func (v *victim) pass(ready <-chan struct{}, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-v.ended:
	case <-ready:
	case <-t.C:
	}
}

// killAfter lets some time pass and kills the server.
func (v *victim) killAfter(d time.Duration) {
	v.t.Helper()
	v.pass(nil, d)
	v.kill9()
}

// kill9 kills the server, which must run until then.
func (v *victim) kill9() {
	v.t.Helper()
	v.end("KILL", -1)
}

// stop ends the server as an operator does.
func (v *victim) stop() {
	v.t.Helper()
	v.end("TERM", 0)
}

// end sends a signal and fails the test if the server does not end of it, or
// has something in its log that the signal does not explain.
func (v *victim) end(signal string, want int) {
	v.t.Helper()
	code, err := v.signal(signal)
	if err != nil || code != want {
		log := v.stderr.String()
		v.t.Fatalf("%v, exit code %d:\n%s", err, code, log[max(0, len(log)-4000):])
	}
	for _, line := range v.stderr.wrong() {
		v.t.Errorf("in its log: %s", line)
	}
}

// cutStart starts a server in dir and kills it after some time, wherever it is
// then.
func cutStart(t *testing.T, dir string, after time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), after)
	defer cancel()
	cmd := exec.CommandContext(ctx, "pushbox", "serve", "--listen", "127.0.0.1:0")
	cmd.Dir, cmd.Env = dir, victimEnviron()
	var said bytes.Buffer
	cmd.Stderr = &said
	err := cmd.Run()
	if ctx.Err() == nil {
		t.Errorf("it ended by itself: %v\n%s", err, &said)
	}
}

// pushbox runs a command in dir and returns what it prints. It fails the test
// if the command does.
func pushbox(t *testing.T, dir, stdin string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "pushbox", args...)
	cmd.Dir, cmd.Env = dir, victimEnviron()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("pushbox %s: %v\n%s%s", args[0], err, &stdout, &stderr)
	}
	return strings.TrimSpace(stdout.String())
}

// checkFile runs pushbox check, which fails when anything in the file is wrong.
func checkFile(t *testing.T, dir string) {
	t.Helper()
	pushbox(t, dir, "", "check")
}

// apiToken makes an account and a token of it.
func apiToken(t *testing.T, dir string) string {
	t.Helper()
	const email = "ann@example.com"
	pushbox(t, dir, "correct horse battery staple\n", "user", "add", email, "--password-stdin")
	return pushbox(t, dir, "", "token", "create", email)
}
