// Package tool runs the commands of this repository that are not part of the product, and the servers that they need.
package tool

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A UsageError says which argument is wrong.
type UsageError string

// Error is the message for the user.
func (e UsageError) Error() string { return string(e) }

// Usagef formats a UsageError.
func Usagef(format string, args ...any) error { return UsageError(fmt.Sprintf(format, args...)) }

// A Command runs with arguments. Results go to out, everything else to notes. Its
// context ends at the first signal.
type Command func(ctx context.Context, args []string, out, notes io.Writer) error

// Run runs a command with the arguments of this process, writes its error to standard
// error after the tool's name, and returns the exit code: 0, 2 for a UsageError, 1 for
// any other error. A request for help is no error.
func Run(name string, command Command) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return exitCode(name, command(ctx, os.Args[1:], os.Stdout, os.Stderr), os.Stderr)
}

func exitCode(name string, err error, notes io.Writer) int {
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return 0
	}
	fmt.Fprintf(notes, "%s: %v\n", name, err)
	if bad := UsageError(""); errors.As(err, &bad) {
		return 2
	}
	return 1
}

// Patience is how long a server may take to start, to stop and to answer.
const Patience = 2 * time.Minute

// A Server is a server in a process of its own.
type Server struct {
	URL string // of its listener
	Log string // the path

	cmd   *exec.Cmd
	stop  context.CancelFunc
	ended chan struct{}
}

// Start starts a server that announces its address as pushbox does, and waits until it
// listens. Its log is a file in its working directory, because reading a pipe would take
// time from the process that measures it.
func Start(ctx context.Context, dir, log string, environ []string, program string, args ...string) (*Server, error) {
	s := &Server{Log: filepath.Join(dir, log), ended: make(chan struct{})}
	f, err := os.Create(s.Log)
	if err != nil {
		return nil, err
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.cmd, s.stop = exec.CommandContext(running, program, args...), stop
	s.cmd.Cancel, s.cmd.WaitDelay = func() error { return s.cmd.Process.Signal(syscall.SIGTERM) }, Patience
	s.cmd.Dir, s.cmd.Env, s.cmd.Stderr = dir, environ, f
	if err := errors.Join(s.cmd.Start(), f.Close()); err != nil {
		stop()
		return nil, err
	}
	go func() {
		defer close(s.ended)
		_ = s.cmd.Wait() // its outcome is in ProcessState
	}()
	if s.URL, err = s.listening(ctx); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// announced has the address in the line of pushbox's log that says where it listens.
var announced = regexp.MustCompile(`"address":"([^"]+)".*"message":"listening"`)

func (s *Server) listening(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	for {
		text, err := os.ReadFile(s.Log)
		if found := announced.FindSubmatch(text); found != nil {
			return "http://" + string(found[1]), nil
		}
		if err != nil {
			return "", err
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return "", fmt.Errorf("%s does not listen: %w\n%s", s.cmd.Path, ctx.Err(), text)
		case <-s.ended:
			text, err := os.ReadFile(s.Log)
			return "", errors.Join(err, fmt.Errorf("%s has said:\n%s", s.cmd.Path, text))
		}
	}
}

// PID is the ID of the process.
func (s *Server) PID() int { return s.cmd.Process.Pid }

// Stop asks the server to stop, waits, and kills it if it takes too long. An exit code other
// than 0 is an error.
func (s *Server) Stop() error {
	s.stop()
	if <-s.ended; !s.cmd.ProcessState.Success() {
		return fmt.Errorf("%s ended: %v", s.cmd.Path, s.cmd.ProcessState)
	}
	return nil
}

// Output runs a program that reads the input, and returns what it prints, without white
// space around it.
func Output(ctx context.Context, dir string, environ []string, input, program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	var says strings.Builder
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stderr = dir, environ, strings.NewReader(input), &says
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s%s", program, args[0], err, out, says.String())
	}
	return strings.TrimSpace(string(out)), nil
}

// APIToken makes an account on a running pushbox with its data in a directory, and returns an API token of it.
func APIToken(ctx context.Context, dir string, environ []string, program, dataDir string) (string, error) {
	const email = "ann@example.com"
	_, err := Output(ctx, dir, environ, rand.Text()+"\n", program, "user", "add", email, "--password-stdin", "--data-dir", dataDir)
	if err != nil {
		return "", err
	}
	return Output(ctx, dir, environ, "", program, "token", "create", email, "--data-dir", dataDir)
}

// Environ is this process's environment with the given settings of pushbox alone.
func Environ(settings ...string) []string {
	other := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "PUSHBOX_") })
	return append(other, settings...)
}

// Pause waits, but not longer than ctx.
func Pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
