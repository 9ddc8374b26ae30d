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

// startVictim starts a server in dir and waits until it serves. It ends with
// the test, also where that runs out of time.
func startVictim(t *testing.T, dir string) *victim {
	t.Helper()
	p, err := startServer(dir, victimEnviron(), nil)
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

func victimEnviron() []string { return append(plainEnviron(), "GORACE=atexit_sleep_ms=0") }

// killAfter lets some time pass and kills the server.
func (v *victim) killAfter(d time.Duration) {
	v.t.Helper()
	select {
	case <-v.ended:
	case <-time.After(d):
	}
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
	log := v.stderr.String()
	if err != nil || code != want {
		v.t.Fatalf("%v, exit code %d:\n%s", err, code, log[max(0, len(log)-4000):])
	}
	for line := range strings.Lines(log) {
		if strings.Contains(line, `"level":"error"`) || strings.Contains(line, "panic") || strings.Contains(line, "DATA RACE") {
			v.t.Errorf("in its log: %s", line)
		}
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
