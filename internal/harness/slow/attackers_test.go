//go:build linux

package slow

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pushbox/internal/proctest"
)

// attackers are several processes of slowhttptest: one alone is slow with many
// connections.
type attackers struct {
	output  *proctest.Output
	cancel  context.CancelFunc
	ended   chan struct{} // closed when one has ended
	running sync.WaitGroup
}

const (
	perProcess = 500               // connections of one slowhttptest
	longest    = 300 * time.Second // how long it runs if it is not stopped
)

// attackers starts that many slow clients. They end with the test.
func (p *target) attackers(t *testing.T, program string, a attack, clients int) *attackers {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), longest+proctest.Patience)
	m := &attackers{output: new(proctest.Output), cancel: cancel, ended: make(chan struct{})}
	ended := sync.OnceFunc(func() { close(m.ended) })
	for left := clients; left > 0; left -= perProcess {
		n := strconv.Itoa(min(left, perProcess))
		args := append(strings.Fields(a.flags), "-c", n, "-r", n, "-l", strconv.Itoa(int(longest.Seconds())), "-v", "1", "-u", p.server.URL+a.at(p))
		// A shell raises the limit of descriptors, which Go restores for the programs
		// that it starts.
		raise := []string{"-c", `ulimit -n "$(ulimit -Hn)" && exec "$0" "$@"`, program}
		cmd := exec.CommandContext(ctx, "sh", append(raise, args...)...)
		cmd.Dir, cmd.Stdout, cmd.Stderr = p.dir, m.output, m.output
		m.running.Go(func() {
			defer ended()
			_ = cmd.Run() // its verdict on the server does not matter; that it runs is checked
		})
	}
	t.Cleanup(m.stop)
	return m
}

// stop ends the attackers, and waits for them.
func (m *attackers) stop() {
	m.cancel()
	m.running.Wait()
}

// over reports whether one of the attackers has ended.
func (m *attackers) over() bool {
	select {
	case <-m.ended:
		return true
	default:
		return false
	}
}

// healthy uses the server as a client does for that long, each time over a new
// connection as well, and returns the time of each answer.
func (p *target) healthy(t *testing.T, watch time.Duration) (took []time.Duration) {
	t.Helper()
	kept := &http.Client{Transport: new(http.Transport), Timeout: proctest.Patience}
	defer kept.CloseIdleConnections()
	fresh := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: proctest.Patience}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for start := time.Now(); len(took) == 0 || time.Since(start) < watch; <-tick.C {
		for _, c := range []*http.Client{kept, fresh} {
			for _, step := range []func(*http.Client) error{p.send, p.read, p.open} {
				begin := time.Now()
				if err := step(c); err != nil {
					t.Fatalf("the healthy client after %v: %v", time.Since(begin), err)
				}
				took = append(took, time.Since(begin))
			}
		}
	}
	return took
}

// send creates a push.
func (p *target) send(c *http.Client) error {
	res, err := c.Post(p.server.URL+proctest.PushesPath, "application/json", strings.NewReader(`{"push":{"payload":"how vexingly quick"}}`))
	return answers(res, err, http.StatusCreated, `"url_token"`)
}

// read retrieves a short push.
func (p *target) read(c *http.Client) error {
	res, err := c.Get(p.server.URL + proctest.PushesPath + "/" + p.short)
	return answers(res, err, http.StatusOK, "daft zebras")
}

// open opens it on its page.
func (p *target) open(c *http.Client) error {
	res, err := c.Post(p.server.URL+"/p/"+p.short, "application/x-www-form-urlencoded", nil)
	return answers(res, err, http.StatusOK, "daft zebras")
}

// answers returns an error unless the answer came whole, with the status and the text.
func answers(res *http.Response, err error, status int, text string) error {
	if err != nil {
		return err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != status || !strings.Contains(string(body), text) {
		return fmt.Errorf("%s, %w: %.200s", res.Status, err, body)
	}
	return nil
}
