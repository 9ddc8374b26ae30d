package proctest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
	"pushbox/internal/tools/tool"
)

// A Server is a Process that belongs to a test. The test fails if the server does not
// react as it must.
type Server struct {
	*Process
	T      *testing.T
	Expect []string // errors that may be in its log
}

// StartServer starts a server in dir, with more variables in its environment, and waits
// until it serves. The server ends with the test, and before the test runs out of time.
func StartServer(t *testing.T, dir string, environ ...string) *Server {
	t.Helper()
	p := env.Must(Start(dir, append(LoadEnviron(), environ...), nil))(t)
	EndWith(t, p.Kill)
	return &Server{Process: p, T: t}
}

// Environ is the environment without the variables for pushbox and its tests.
func Environ() []string { return tool.Environ() }

// LoadEnviron is Environ with limits under which one client can do as much as many, and no
// request takes too long on a busy machine.
func LoadEnviron() []string {
	return tool.Environ("GORACE=atexit_sleep_ms=0", // or each process takes a second longer
		"PUSHBOX_LIMITS_REQUEST_TIMEOUT=5m", "PUSHBOX_LIMITS_STALL_TIMEOUT=5m", "PUSHBOX_LIMITS_DRAIN_TIMEOUT=2m",
		"PUSHBOX_LIMITS_UNKNOWN_TOKENS_PER_MINUTE=100000",
		"PUSHBOX_LIMITS_PASSPHRASES_PER_CLIENT=1000", "PUSHBOX_LIMITS_PASSPHRASES_PER_PUSH=10000",
		"PUSHBOX_LIMITS_PASSPHRASES_PER_LIFE=100000", "PUSHBOX_LIMITS_PASSPHRASE_QUEUE=1000")
}

// Wait waits until the server ends, ready is closed, or the time d has passed.
func (s *Server) Wait(ready <-chan struct{}, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-s.Ended:
	case <-ready:
	case <-t.C:
	}
}

// KillNow kills the server. It fails the test if the server has ended before.
func (s *Server) KillNow() {
	s.T.Helper()
	s.end("KILL", -1)
}

// Stop stops the server as an operator does.
func (s *Server) Stop() {
	s.T.Helper()
	s.end("TERM", 0)
}

// end sends a signal. It fails the test unless the server ends with that exit code and
// with a log that has no errors.
func (s *Server) end(signal string, want int) {
	s.T.Helper()
	code, err := s.Signal(signal)
	if err != nil || code != want {
		log := s.Log()
		s.T.Fatalf("%v, exit code %d:\n%s", err, code, log[max(0, len(log)-4000):])
	}
	for _, line := range s.Errors() {
		if !slices.ContainsFunc(s.Expect, func(text string) bool { return strings.Contains(line, text) }) {
			s.T.Errorf("in its log: %s", line)
		}
	}
}

// Run runs a command of pushbox in dir, which must succeed, and returns what it prints,
// without white space around it.
func Run(t *testing.T, dir, stdin string, args ...string) string {
	t.Helper()
	return env.Must(tool.Output(t.Context(), dir, LoadEnviron(), stdin, "pushbox", args...))(t)
}

// CheckFile runs pushbox check, which fails the test if anything in the file is wrong.
func CheckFile(t *testing.T, dir string) {
	t.Helper()
	Run(t, dir, "", "check")
}

// The account that APIToken creates.
const (
	Email    = "ann@example.com"
	Password = "correct horse battery staple"
)

// APIToken creates an account and returns an API token of it.
func APIToken(t *testing.T, dir string) string {
	t.Helper()
	Run(t, dir, Password+"\n", "user", "add", Email, "--password-stdin", "--init")
	return Run(t, dir, "", "token", "create", Email)
}
