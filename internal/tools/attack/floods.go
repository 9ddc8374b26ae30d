package main

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	floodConnections = 90
	rest             = 100 * time.Millisecond // of a recipient between two tries
	backOff          = 200 * time.Millisecond // of the attacker after a refusal: it has the same machine as the server
	usualTries       = 20
	maxTries         = 30
	recipient        = "198.51.100.7"
)

// A counter counts answers by status.
type counter struct {
	mu sync.Mutex
	of map[int]int
}

func (c *counter) add(status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = make(map[int]int)
	}
	c.of[status]++
}

// String lists the counts by status.
func (c *counter) String() (s string) {
	for _, status := range slices.Sorted(maps.Keys(c.of)) {
		s += fmt.Sprintf("%d: %d times, ", status, c.of[status])
	}
	return s[:max(0, len(s)-2)]
}

// flood measures how long a recipient waits for a push with a passphrase: usually, while
// 90 connections from one /48 ask for a harmless page, and while they attack. The harmless
// requests show what the machine alone costs, since attacker and server share it.
func flood(ctx context.Context, v *victim, span time.Duration, attacker sender) ([]line, error) {
	token, err := v.push(ctx, recipient, "s3cret", "correct horse")
	if err != nil {
		return nil, err
	}
	opening := func(ctx context.Context) (int, error) {
		status, _, err := v.open(ctx, recipient, token, "correct horse")
		return status, err
	}
	var usual tries
	for range usualTries {
		usual.add(ctx, opening)
	}
	_, harmless := v.under(ctx, span/2, opening, v.readPage)
	answers, during := v.under(ctx, span, opening, attacker)
	return []line{
		{"attacker", answers.String()},
		{"recipient elsewhere, usually", usual.String()},
		{"recipient elsewhere, beside as many harmless requests", harmless.String()},
		{"recipient elsewhere, during the attack", during.String()},
	}, nil
}

// A sender sends one request from an address and returns its status.
type sender func(ctx context.Context, from string) (int, error)

// An asking sends one request of others and returns its status.
type asking func(ctx context.Context) (int, error)

// under lets a recipient open a push while many send.
func (v *victim) under(ctx context.Context, span time.Duration, opening asking, send sender) (answers *counter, t tries) {
	limited, cancel := context.WithTimeout(ctx, span)
	defer cancel()
	answers = new(counter)
	var all sync.WaitGroup
	var next atomic.Int64
	for range floodConnections {
		all.Go(func() {
			for limited.Err() == nil {
				n := next.Add(1)
				status, err := send(limited, fmt.Sprintf("2001:db8:77:%x::1", n/4%65536))
				if err == nil {
					answers.add(status)
				}
				if status != http.StatusForbidden && status != http.StatusCreated { // nothing was hashed for it
					pause(limited, backOff)
				}
			}
		})
	}
	pause(limited, span/8) // until the queue is full
	for limited.Err() == nil && t.number < maxTries {
		t.add(ctx, opening)
		pause(limited, rest)
	}
	cancel()
	all.Wait()
	return answers, t
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// tries are those of one recipient, or one sender.
type tries struct {
	number int
	took   []time.Duration // of those that were served
}

func (t *tries) add(ctx context.Context, ask asking) {
	begin := time.Now()
	status, err := ask(ctx)
	t.number++
	if err == nil && status < http.StatusBadRequest {
		t.took = append(t.took, time.Since(begin))
	}
}

// String says how many were served, and how long that took.
func (t *tries) String() string {
	if len(t.took) == 0 {
		return fmt.Sprintf("none of %d served", t.number)
	}
	slices.Sort(t.took)
	return fmt.Sprintf("%d of %d served, median %d ms, longest %d ms",
		len(t.took), t.number, t.took[len(t.took)/2].Milliseconds(), t.took[len(t.took)-1].Milliseconds())
}

// readPage asks for a page.
func (v *victim) readPage(ctx context.Context, from string) (int, error) {
	status, _, err := v.do(ctx, ask{from: from, path: "/users/sign_in"})
	return status, err
}

// floodSignIns tries to sign in.
func (v *victim) floodSignIns(ctx context.Context, from string) (int, error) {
	form := url.Values{"email": {from + "@example.com"}, "password": {"a long password"}}
	status, _, err := v.do(ctx, ask{from: from, path: "/users/sign_in", form: form})
	return status, err
}

// floodPassphrases creates a push with a passphrase, which needs as much work as to open it.
func (v *victim) floodPassphrases(ctx context.Context, from string) (int, error) {
	form := url.Values{"push[payload]": {"x"}, "push[passphrase]": {"p"}}
	status, _, err := v.do(ctx, ask{from: from, path: "/api/v2/pushes", form: form})
	return status, err
}

// heldConnections is more than a server with default settings allows.
const heldConnections = 5000

// holdConnections opens connections and sends nothing. Loopback is bounded by the total
// alone; the bound of one client shows in the tests of internal/httpd.
func holdConnections(ctx context.Context, v *victim) ([]line, error) {
	var held []net.Conn
	defer func() {
		for _, c := range held {
			_ = c.Close()
		}
	}()
	var d net.Dialer
	for range heldConnections {
		c, err := d.DialContext(ctx, "tcp", v.address)
		if err != nil {
			return nil, fmt.Errorf("after %d connections: %w (raise the limit of open files)", len(held), err)
		}
		held = append(held, c)
	}
	open := 0
	for _, c := range held { // one that the server has closed says so
		_ = c.SetReadDeadline(time.Now().Add(time.Millisecond))
		if _, err := c.Read(make([]byte, 1)); isTimeout(err) {
			open++
		}
	}
	return []line{{"attacker", fmt.Sprintf("%d of %d connections are open", open, heldConnections)}}, nil
}

func isTimeout(err error) bool {
	e, ok := err.(net.Error)
	return ok && e.Timeout()
}
