package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	patience  = 2 * time.Minute // limit for a server to start, stop or answer
	lookAgain = 5 * time.Millisecond
)

// A child is a server in a process of its own. Its working directory holds its log,
// which is a file because reading a pipe would take time from the load generator.
type child struct {
	cmd   *exec.Cmd
	log   string // path
	ended chan struct{}
}

// startChild starts a server, waits until it listens, and returns its URL.
func startChild(ctx context.Context, log string, environ []string, name string, args ...string) (c *child, url string, err error) {
	f, err := os.OpenFile(log, os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, "", err
	}
	c = &child{cmd: exec.Command(name, args...), log: log, ended: make(chan struct{})}
	c.cmd.Dir, c.cmd.Env, c.cmd.Stderr = filepath.Dir(log), environ, f
	if err := errors.Join(c.cmd.Start(), f.Close()); err != nil {
		return nil, "", err
	}
	go func() {
		defer close(c.ended)
		_ = c.cmd.Wait() // its outcome is in ProcessState
	}()
	address, err := c.listening(ctx)
	if err != nil {
		return nil, "", errors.Join(err, c.stop())
	}
	return c, "http://" + address, nil
}

// listening waits until the log has the address.
func (c *child) listening(ctx context.Context) (address string, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	again := time.NewTicker(lookAgain)
	defer again.Stop()
	for {
		if address, err = c.announced(); address != "" || err != nil {
			return address, err
		}
		select {
		case <-again.C:
		case <-c.ended:
			text, _ := os.ReadFile(c.log) // there may be none
			return "", fmt.Errorf("%s ended: %v\n%s", c.cmd.Path, c.cmd.ProcessState, text)
		case <-ctx.Done():
			return "", fmt.Errorf("the log of %s has no address: %w", c.cmd.Path, ctx.Err())
		}
	}
}

// announced returns the address in the log; "" if there is none yet.
func (c *child) announced() (string, error) {
	f, err := os.Open(c.log)
	if err != nil {
		return "", err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var a announcement
		if json.Unmarshal(lines.Bytes(), &a) == nil && a.Message == "listening" {
			return a.Address, nil
		}
	}
	return "", lines.Err()
}

// stop asks the server to stop, waits, and kills it if it takes too long.
func (c *child) stop() error {
	if c.cmd.Process.Signal(syscall.SIGTERM) != nil {
		_ = c.cmd.Process.Kill() // it has ended, or the system knows no such signal
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-c.ended:
		return nil
	case <-late.C:
		_ = c.cmd.Process.Kill()
		<-c.ended
		return fmt.Errorf("%s did not stop and was killed", c.cmd.Path)
	}
}

// plainEnviron is this process's environment with the given settings of pushbox alone.
func plainEnviron(settings ...string) (environ []string) {
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "PUSHBOX_") {
			environ = append(environ, v)
		}
	}
	return append(environ, settings...)
}
