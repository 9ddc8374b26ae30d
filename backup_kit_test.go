package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// A sender creates pushes of nobody on a server and remembers which were answered.
type sender struct {
	url    string
	client http.Client

	mu   sync.Mutex
	sent map[string]string // url_token → payload
}

func newSender(url string) *sender {
	return &sender{
		url: url, sent: make(map[string]string),
		client: http.Client{Timeout: patience, Transport: &http.Transport{MaxIdleConnsPerHost: 16}},
	}
}

// create creates a push with a payload of its own, and a filling.
func (s *sender) create(name, filling string) error {
	payload := name + " " + filling
	form := url.Values{"push[payload]": {payload}, "push[expire_after_views]": {"2"}, "push[retrieval_step]": {"false"}}
	res, err := s.client.PostForm(s.url+"/api/v2/pushes", form)
	if err != nil {
		return err
	}
	var made struct {
		Token string `json:"url_token"`
	}
	err = errors.Join(json.NewDecoder(res.Body).Decode(&made), res.Body.Close())
	if err != nil || res.StatusCode != http.StatusCreated {
		return fmt.Errorf("status %d, %w", res.StatusCode, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent[made.Token] = payload
	return nil
}

// answered are the pushes of which the sender knows by now.
func (s *sender) answered() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make(map[string]string, len(s.sent))
	for token, payload := range s.sent {
		all[token] = payload
	}
	return all
}

// write has eight writers create pushes until stop is called.
func (s *sender) write(t *testing.T) (stop func()) {
	done := make(chan struct{})
	var writers sync.WaitGroup
	for w := range 8 {
		writers.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
				}
				if err := s.create(fmt.Sprintf("push %d of writer %d", n, w), ""); err != nil {
					t.Errorf("P1: %v", err)
					return
				}
			}
		})
	}
	return func() { close(done); writers.Wait() }
}

// view retrieves a push once: its payload, or "" where it has expired.
func (s *sender) view(token string) (payload string, err error) {
	res, err := s.client.Get(s.url + "/api/v2/pushes/" + token)
	if err != nil {
		return "", err
	}
	var p struct {
		Payload string
		Expired bool
	}
	err = errors.Join(json.NewDecoder(res.Body).Decode(&p), res.Body.Close())
	if err == nil && (res.StatusCode != http.StatusOK || p.Expired != (p.Payload == "")) {
		err = fmt.Errorf("status %d, expired %t, %d bytes", res.StatusCode, p.Expired, len(p.Payload))
	}
	return p.Payload, err
}

// box is a directory of a server.
type box struct {
	*victim
	dir string
	*sender
}

// newBox starts a server in a directory of its own.
func newBox(t *testing.T) box {
	t.Helper()
	dir := t.TempDir()
	v := startVictim(t, dir)
	return box{v, dir, newSender(v.url)}
}

// heavy creates pushes that take so many MiB together.
func (b box) heavy(t *testing.T, mebibytes int) {
	t.Helper()
	for n := range mebibytes {
		if err := b.create(fmt.Sprintf("heavy %d", n), strings.Repeat("x", 1<<20-100)); err != nil {
			t.Fatal(err)
		}
	}
}

// fresh is a directory with the key of a box, for a restore.
func (b box) fresh(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	key, err := os.ReadFile(filepath.Join(b.dir, "data", "master.key"))
	if err == nil {
		err = os.Mkdir(filepath.Join(dir, "data"), 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "data", "master.key"), key, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// killed starts a command in dir, kills it after some time unless it has ended, and
// tells whether it has.
func killed(t *testing.T, dir string, after time.Duration, args ...string) (ended bool) {
	t.Helper()
	cmd := exec.Command("pushbox", args...)
	cmd.Dir, cmd.Env = dir, victimEnviron()
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.Discard, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	err := cmd.Wait()
	if err != nil && cmd.ProcessState.Exited() {
		t.Errorf("pushbox %s: %v\n%s", args[0], err, &said)
	}
	return err == nil
}

// names are the names in a directory that match a pattern.
func names(t *testing.T, dir, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// failing runs a command that may fail, and returns its error.
func failing(t *testing.T, dir string, args ...string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "pushbox", args...)
	cmd.Dir, cmd.Env = dir, victimEnviron()
	return cmd.Run()
}
