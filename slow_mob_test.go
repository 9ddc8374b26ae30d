//go:build linux

package main

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
)

// A mob is slowhttptest at work, several times: one gets slow with many connections.
type mob struct {
	said   *spoken
	cancel context.CancelFunc
	ended  chan struct{} // closed when one has
	gone   sync.WaitGroup
}

const (
	gang    = 500               // connections of one slowhttptest
	longest = 300 * time.Second // that it goes on if it is not stopped
)

// mob lets so many clients go at the server. They end with the test.
func (p *prey) mob(t *testing.T, program string, a attack, clients int) *mob {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), longest+patience)
	m := &mob{said: new(spoken), cancel: cancel, ended: make(chan struct{})}
	ended := sync.OnceFunc(func() { close(m.ended) })
	for left := clients; left > 0; left -= gang {
		n := strconv.Itoa(min(left, gang))
		args := append(strings.Fields(a.flags), "-c", n, "-r", n, "-l", strconv.Itoa(int(longest.Seconds())), "-v", "1", "-u", p.server.url+a.at(p))
		// A shell lifts the limit of descriptors, which programs get as it was for us.
		raise := []string{"-c", `ulimit -n "$(ulimit -Hn)" && exec "$0" "$@"`, program}
		cmd := exec.CommandContext(ctx, "sh", append(raise, args...)...)
		cmd.Dir, cmd.Stdout, cmd.Stderr = p.dir, m.said, m.said
		m.gone.Go(func() {
			defer ended()
			_ = cmd.Run() // what it says of the server is not asked; whether it is there is seen
		})
	}
	t.Cleanup(m.stop)
	return m
}

// stop ends the mob, and waits for it.
func (m *mob) stop() {
	m.cancel()
	m.gone.Wait()
}

// over reports whether some of the mob are gone.
func (m *mob) over() bool {
	select {
	case <-m.ended:
		return true
	default:
		return false
	}
}

// healthy does what people do for that long, each time over a new connection as well,
// and returns how long each answer took.
func (p *prey) healthy(t *testing.T, watch time.Duration) (took []time.Duration) {
	t.Helper()
	kept := &http.Client{Transport: new(http.Transport), Timeout: patience}
	defer kept.CloseIdleConnections()
	fresh := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
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

// send makes a push.
func (p *prey) send(c *http.Client) error {
	res, err := c.Post(p.server.url+apiPushes, "application/json", strings.NewReader(`{"push":{"payload":"how vexingly quick"}}`))
	return answers(res, err, http.StatusCreated, `"url_token"`)
}

// read retrieves a short push.
func (p *prey) read(c *http.Client) error {
	res, err := c.Get(p.server.url + apiPushes + "/" + p.short)
	return answers(res, err, http.StatusOK, "daft zebras")
}

// open opens it on its page.
func (p *prey) open(c *http.Client) error {
	res, err := c.Post(p.server.url+"/p/"+p.short, "application/x-www-form-urlencoded", nil)
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
