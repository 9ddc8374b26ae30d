package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"
)

const patience = 30 * time.Second // with a server that starts or stops

// A process is a server in a process of its own.
type process struct {
	cmd    *exec.Cmd
	url    string
	stderr *watcher
	ended  chan struct{} // closed when it has
}

// startServer starts `pushbox serve` in dir, and waits until it listens.
func startServer(dir string, environ, flags []string) (*process, error) {
	name, err := exec.LookPath("pushbox")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(name, append([]string{"serve", "--listen", "127.0.0.1:0"}, flags...)...)
	cmd.Dir, cmd.Env = dir, environ
	return startCommand(cmd)
}

// startCommand starts a command that is or becomes a server.
func startCommand(cmd *exec.Cmd) (*process, error) {
	p := &process{
		cmd:    cmd,
		stderr: &watcher{address: make(chan string, 1), stopping: make(chan struct{}, 1)},
		ended:  make(chan struct{}),
	}
	p.cmd.Stderr = p.stderr
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait() // its outcome is in ProcessState
	}()
	select {
	case address := <-p.stderr.address:
		p.url = "http://" + address
		return p, nil
	case <-p.ended:
		return nil, fmt.Errorf("the server ended: %v\n%s", p.cmd.ProcessState, p.stderr)
	case <-time.After(patience):
		p.kill()
		return nil, fmt.Errorf("the server does not start\n%s", p.stderr)
	}
}

// signal sends signals, by their names, each when the one before is obeyed, and
// returns the exit code; -1 for a process that was killed.
func (p *process) signal(names ...string) (code int, err error) {
	known := map[string]os.Signal{"INT": os.Interrupt, "TERM": syscall.SIGTERM, "KILL": os.Kill, "QUIT": syscall.SIGQUIT}
	late := time.After(patience)
	for i, name := range names {
		if i > 0 {
			select {
			case <-p.stderr.stopping:
			case <-late:
				return 0, errors.New("the server does not obey")
			}
		}
		if err := p.cmd.Process.Signal(known[name]); err != nil {
			return 0, err
		}
	}
	select {
	case <-p.ended:
		return p.cmd.ProcessState.ExitCode(), nil
	case <-late:
		return 0, errors.New("the server does not stop")
	}
}

// kill ends the process, if it has not ended yet.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

const (
	mostKept   = 8 << 20 // bytes of the end of what a server writes, and as much again
	mostFaults = 100
)

// A watcher keeps the end of what a server writes to standard error, and looks
// for the lines that say where it listens, that it is stopping, and that
// something is wrong.
type watcher struct {
	address  chan string   // gets one
	stopping chan struct{} // gets one when the server obeys a signal

	mu     sync.Mutex
	all    bytes.Buffer
	line   bytes.Buffer
	faults []string // the first lines that say so
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
	_ = json.Unmarshal(line, &entry) // other lines are for people
	switch entry.Message {
	case "listening":
		w.address <- entry.Address
	case "stopping":
		w.stopping <- struct{}{}
	}
	wrong := entry.Level == "error" || bytes.Contains(line, []byte("panic")) || bytes.Contains(line, []byte("DATA RACE"))
	if wrong && len(w.faults) < mostFaults {
		w.faults = append(w.faults, string(line))
	}
}

// wrong are the lines that say that something is.
func (w *watcher) wrong() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.faults)
}

// String is all that was written so far, or the end of it.
func (w *watcher) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.all.String()
}
