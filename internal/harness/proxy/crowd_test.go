//go:build linux

package proxy

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pushbox/internal/proctest"
	"pushbox/internal/testkit/env"
)

// A crowd is clients that create pushes for one view and open them, through a proxy. It
// keeps what each was told.
type crowd struct {
	*several
	t    *testing.T
	stop chan struct{}
	all  sync.WaitGroup

	mu       sync.Mutex
	answered int
	failed   []failure
	open     []string // acknowledged pushes whose view failed
}

// A failure is a request that was not answered as it should be.
type failure struct {
	at   time.Time
	what string
}

const (
	crowdSize = 8
	crowdNet  = "127.7.4."
)

// newCrowd starts clients. They stop with the test, or before by end.
func (f *several) newCrowd(t *testing.T) *crowd {
	t.Helper()
	c := &crowd{several: f, t: t, stop: make(chan struct{})}
	for n := range crowdSize {
		c.all.Go(func() { c.visit(crowdNet + strconv.Itoa(n+1)) })
	}
	return c
}

// visit creates and views until the crowd stops.
func (c *crowd) visit(ip string) {
	var s *session
	defer func() {
		if s != nil {
			_ = s.Close()
		}
	}()
	for n := 1; ; n++ {
		select {
		case <-c.stop:
			return
		default:
		}
		if s != nil && n%100 == 0 { // a proxy ends a connection after some hundred requests
			_ = s.Close()
			s = nil
		}
		if s == nil {
			var err error
			if s, err = c.proxy.session(context.Background(), ip); err != nil {
				c.t.Errorf("the proxy takes no connection: %v", err)
				return
			}
		}
		if !c.once(s) {
			_ = s.Close()
			s = nil
		}
	}
}

// once creates a push and opens it, twice if that works: the second must fail. It reports
// whether the connection is still of use.
func (c *crowd) once(s *session) bool {
	status, _, answer, err := s.do(http.MethodPost, proctest.PushesPath, c.token, `{"push":{"payload":"for one","expire_after_views":1}}`)
	if err != nil || status != http.StatusCreated {
		c.fail("create", status, err)
		return err == nil
	}
	var made struct {
		Token string `json:"url_token"`
	}
	if err := json.Unmarshal([]byte(answer), &made); err != nil {
		c.t.Errorf("%v: %s", err, answer)
		return false
	}
	path := proctest.PushesPath + "/" + made.Token
	status, _, answer, err = s.do(http.MethodGet, path, "", "")
	if err != nil || status >= http.StatusInternalServerError {
		c.fail("view", status, err)
		c.mu.Lock()
		c.open = append(c.open, path)
		c.mu.Unlock()
		return err == nil
	}
	if status != http.StatusOK || !strings.Contains(answer, `"payload":"for one"`) {
		c.t.Errorf("an acknowledged push is answered with %d: %.200s", status, answer)
		return false
	}
	c.mu.Lock()
	c.answered++
	c.mu.Unlock()
	status, _, answer, err = s.do(http.MethodGet, path, "", "")
	if err != nil || status >= http.StatusInternalServerError {
		c.fail("second view", status, err)
		return err == nil
	}
	if strings.Contains(answer, "for one") {
		c.t.Errorf("a push for one view was delivered twice: %.200s", answer)
	}
	return true
}

func (c *crowd) fail(what string, status int, err error) {
	if err != nil {
		what += ": no answer"
	} else {
		what = fmt.Sprintf("%s: %d", what, status)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed = append(c.failed, failure{time.Now(), what})
}

// progress waits until the crowd got that many answers more.
func (c *crowd) progress(n int) {
	c.t.Helper()
	c.mu.Lock()
	want := c.answered + n
	c.mu.Unlock()
	env.Eventually(c.t, "the crowd is answered", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.answered >= want
	})
}

// wantFailures fails the test if more failed since a moment than may.
func (c *crowd) wantFailures(when string, since time.Time, most int) {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	count, total, last := make(map[string]int), 0, time.Duration(0)
	for _, f := range c.failed {
		if f.at.After(since) {
			count[f.what]++
			total++
			last = max(last, f.at.Sub(since))
		}
	}
	c.t.Logf("%s: %v failed, the last after %v", when, count, last)
	if total > most {
		c.t.Errorf("%s: %d requests failed, and %d may", when, total, most)
	}
}

// end stops the crowd. Acknowledged pushes whose view failed are delivered at most once now:
// the answer to a view may have been lost.
func (c *crowd) end() {
	c.t.Helper()
	close(c.stop)
	c.all.Wait()
	http1 := c.proxy.client(c.t, crowdNet+"99", false)
	for _, path := range c.open {
		delivered := 0
		for range 2 {
			a, err := ask(c.t, http1, http.MethodGet, path, nil, nil)
			if err != nil || a.StatusCode != http.StatusOK && a.StatusCode != http.StatusNotFound {
				c.t.Errorf("an acknowledged push: %v, %v", a.Response, err)
			} else if a.StatusCode == http.StatusOK && strings.Contains(a.body, "for one") {
				delivered++
			}
		}
		if delivered > 1 {
			c.t.Errorf("a push for one view was delivered %d times", delivered)
		}
	}
}
