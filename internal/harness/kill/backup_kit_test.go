package kill

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

	"pushbox/internal/admin"
	"pushbox/internal/proctest"
	"pushbox/internal/testkit/env"
	"pushbox/store/record"
)

// A sender creates anonymous pushes on a server and remembers which creates were
// answered.
type sender struct {
	url    string
	client http.Client

	mu   sync.Mutex
	sent map[string]string // url_token → payload
}

func newSender(url string) *sender {
	return &sender{
		url: url, sent: make(map[string]string),
		client: http.Client{Timeout: proctest.Patience, Transport: &http.Transport{MaxIdleConnsPerHost: 16}},
	}
}

// create creates a push with a payload of its own, which ends with filling.
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

// answered are the pushes whose creates were answered so far.
func (s *sender) answered() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make(map[string]string, len(s.sent))
	for token, payload := range s.sent {
		all[token] = payload
	}
	return all
}

// write lets eight clients create pushes until stop is called.
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

// view retrieves a push once and returns its payload, or "" if it has expired.
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

// A backupServer is a server in a directory, and a client that creates pushes on it.
type backupServer struct {
	*proctest.Server
	dir string
	*sender
}

// newBackupServer starts a server in a directory of its own.
func newBackupServer(t *testing.T) backupServer {
	t.Helper()
	dir := t.TempDir()
	v := proctest.StartServer(t, dir)
	return backupServer{v, dir, newSender(v.URL)}
}

// fillUp creates pushes of that many MiB together.
func (b backupServer) fillUp(t *testing.T, mebibytes int) {
	t.Helper()
	for n := range mebibytes {
		env.OK(t, b.create(fmt.Sprintf("heavy %d", n), strings.Repeat("x", 1<<20-100)))
	}
}

// idle waits until the server has ended what it did for a command that was killed: only then
// it is known whether there is a file.
func (b backupServer) idle(t *testing.T) {
	t.Helper()
	client := env.Must(admin.NewClient(admin.SocketPath(filepath.Join(b.dir, "data"))))(t)
	env.Eventually(t, "the server is idle", func() bool {
		_, err := admin.Compact.Call(t.Context(), client, admin.None{})
		return !errors.Is(err, record.ErrBusy)
	})
}

// restoreDir is a new directory with the server's key, for a restore.
func (b backupServer) restoreDir(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	key, err := os.ReadFile(filepath.Join(b.dir, "data", "master.key"))
	if err == nil {
		err = os.Mkdir(filepath.Join(dir, "data"), 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "data", "master.key"), key, 0o600)
	}
	env.OK(t, err)
	return dir
}

// killed starts a command in dir, kills it after some time unless it has ended, and
// reports whether it ended by itself. While the server still works on the backup of a
// command that was killed, it refuses another one: then killed starts the command again.
func killed(t *testing.T, dir string, after time.Duration, args ...string) (ended bool) {
	t.Helper()
	for late := time.Now().Add(proctest.Patience); ; time.Sleep(10 * time.Millisecond) {
		cmd := exec.Command("pushbox", args...)
		cmd.Dir, cmd.Env = dir, proctest.LoadEnviron()
		var stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = io.Discard, &stderr
		env.OK(t, cmd.Start())
		timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
		err := cmd.Wait()
		timer.Stop()
		failed := err != nil && cmd.ProcessState.Exited()
		if failed && bytes.Contains(stderr.Bytes(), []byte("a compaction or a backup is running")) && time.Now().Before(late) {
			continue
		}
		if failed {
			t.Errorf("pushbox %s: %v\n%s", args[0], err, &stderr)
		}
		return err == nil
	}
}

// names are the names in a directory that match a pattern.
func names(t *testing.T, dir, pattern string) []string {
	t.Helper()
	return env.Must(filepath.Glob(filepath.Join(dir, pattern)))(t)
}

// failing runs a command that may fail, and returns its error.
func failing(t *testing.T, dir string, args ...string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), proctest.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "pushbox", args...)
	cmd.Dir, cmd.Env = dir, proctest.LoadEnviron()
	return cmd.Run()
}
