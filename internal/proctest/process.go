package proctest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"pushbox/internal/testkit/env"
)

// Patience is how long tests wait for a server, and for its work, before they fail.
const Patience = env.Patience

// A Process is a server that runs in a process of its own.
type Process struct {
	URL   string        // of its listener
	Ended chan struct{} // closed when the process has ended

	cmd    *exec.Cmd
	stderr *watcher
}

// Start starts `pushbox serve` in dir, with more flags, and waits until it listens.
func Start(dir string, environ, flags []string) (*Process, error) {
	name, err := exec.LookPath("pushbox")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(name, append([]string{"serve", "--listen", "127.0.0.1:0"}, flags...)...)
	cmd.Dir, cmd.Env = dir, environ
	return StartCommand(cmd)
}

// StartCommand starts a command that is or becomes a server, and waits until it
// listens.
func StartCommand(cmd *exec.Cmd) (*Process, error) {
	p := &Process{
		cmd:    cmd,
		stderr: &watcher{address: make(chan string, 1), stopping: make(chan struct{}, 1)},
		Ended:  make(chan struct{}),
	}
	p.cmd.Stderr = p.stderr
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.Ended)
		_ = p.cmd.Wait() // the result is in ProcessState
	}()
	select {
	case address := <-p.stderr.address:
		p.URL = "http://" + address
		return p, nil
	case <-p.Ended:
		return nil, fmt.Errorf("the server ended: %v\n%s", p.cmd.ProcessState, p.Log())
	case <-time.After(Patience):
		p.Kill()
		return nil, fmt.Errorf("the server does not start\n%s", p.Log())
	}
}

// Signal sends signals by name (INT, TERM, KILL, QUIT), each when the server reacts to
// the one before, waits for the end of the process, and returns its exit code: -1 for a
// process that was killed.
func (p *Process) Signal(names ...string) (code int, err error) {
	known := map[string]os.Signal{"INT": os.Interrupt, "TERM": syscall.SIGTERM, "KILL": os.Kill, "QUIT": syscall.SIGQUIT}
	late := time.After(Patience)
	for i, name := range names {
		if i > 0 {
			select {
			case <-p.stderr.stopping:
			case <-late:
				return 0, errors.New("the server does not react to the signal")
			}
		}
		if err := p.cmd.Process.Signal(known[name]); err != nil {
			return 0, err
		}
	}
	select {
	case <-p.Ended:
		return p.cmd.ProcessState.ExitCode(), nil
	case <-late:
		return 0, errors.New("the server does not stop")
	}
}

// Kill kills the process unless it has ended, and waits for its end.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.Ended
}

// Pid is the ID of the process.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Hangup sends SIGHUP, at which a server reads its configuration again.
func (p *Process) Hangup() error { return p.cmd.Process.Signal(syscall.SIGHUP) }

// Log is what the server has written to standard error so far, or the end of it.
func (p *Process) Log() string { return p.stderr.String() }

// Errors are the first lines of the log that report an error, a panic or a data race.
func (p *Process) Errors() []string {
	p.stderr.mu.Lock()
	defer p.stderr.mu.Unlock()
	return slices.Clone(p.stderr.wrong)
}

const (
	mostKept   = 8 << 20 // bytes from the end of the log; up to twice as many are kept
	mostErrors = 100
)

// A watcher keeps the end of a server's standard error. It looks for the lines that say
// where the server listens, that it is stopping, and that something is wrong.
type watcher struct {
	Output
	address  chan string   // gets one
	stopping chan struct{} // gets one when the server reacts to a signal
	line     bytes.Buffer
	wrong    []string // the first lines that say that something is wrong
}

// Write keeps b.
func (w *watcher) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all.Len() > 2*mostKept {
		w.all.Next(w.all.Len() - mostKept)
	}
	w.all.Write(b)
	for _, c := range b {
		w.line.WriteByte(c)
		if c == '\n' {
			w.read(w.line.Bytes())
			w.line.Reset()
		}
	}
	return len(b), nil
}

// read reads a line.
func (w *watcher) read(line []byte) {
	var entry struct{ Level, Message, Address string }
	_ = json.Unmarshal(line, &entry) // other lines are no JSON
	switch entry.Message {
	case "listening":
		w.address <- entry.Address
	case "stopping":
		w.stopping <- struct{}{}
	}
	wrong := entry.Level == "error" || bytes.Contains(line, []byte("panic:")) || bytes.Contains(line, []byte("panic ")) || bytes.Contains(line, []byte("DATA RACE"))
	if wrong && len(w.wrong) < mostErrors {
		w.wrong = append(w.wrong, string(line))
	}
}
