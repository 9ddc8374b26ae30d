package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"pushbox/internal/tools/tool"
)

const (
	floodConnections = 90
	rest             = 100 * time.Millisecond // of a recipient between two tries
	backOff          = 200 * time.Millisecond // of the attacker after a refusal: it has the same machine as the server
	usualTries       = 20
	maxTries         = 30
)

// flood measures how long a recipient waits for a push with a passphrase: usually, while
// 90 connections from one /48 ask for a harmless page, and while they attack. The harmless
// requests show what the machine alone costs, since attacker and server share it.
func flood(attacking func(from string) ask) func(context.Context, *victim) []line {
	return func(ctx context.Context, v *victim) []line {
		opening := opening(recipient, v.push(ctx, recipient, "s3cret", "correct horse"), "correct horse")
		var usual tries
		for range usualTries {
			usual.add(ctx, v, opening)
		}
		_, harmless := v.under(ctx, v.span/2, opening, func(from string) ask { return ask{from: from, path: "/users/sign_in"} })
		answers, during := v.under(ctx, v.span, opening, attacking)
		return []line{
			{"attacker", answers.String()},
			{"recipient elsewhere, usually", usual.String()},
			{"recipient elsewhere, beside as many harmless requests", harmless.String()},
			{"recipient elsewhere, during the attack", during.String()},
		}
	}
}

func signIn(from string) ask {
	return signing(from, "/users/sign_in", from+"@example.com", "a long password", nil)
}

// lock creates a push with a passphrase, which needs as much work as to open it.
func lock(from string) ask {
	return ask{from: from, path: "/api/v2/pushes", form: url.Values{"push[payload]": {"x"}, "push[passphrase]": {"p"}}}
}

// under lets a recipient open a push while many send requests.
func (v *victim) under(ctx context.Context, span time.Duration, opening ask, request func(from string) ask) (answers *counter, t tries) {
	limited, cancel := context.WithTimeout(ctx, span)
	defer cancel()
	answers = new(counter)
	var all sync.WaitGroup
	var next atomic.Int64
	for range floodConnections {
		all.Go(func() {
			for limited.Err() == nil {
				got, err := v.send(limited, request(fmt.Sprintf("2001:db8:77:%x::1", next.Add(1)/4%65536)))
				if err == nil {
					answers.add(got.status)
				}
				if got.status != http.StatusForbidden && got.status != http.StatusCreated { // nothing was hashed for it
					tool.Pause(limited, backOff)
				}
			}
		})
	}
	tool.Pause(limited, span/8) // until the queue is full
	for limited.Err() == nil && t.number < maxTries {
		t.add(ctx, v, opening)
		tool.Pause(limited, rest)
	}
	cancel()
	all.Wait()
	return answers, t
}

type tries struct {
	number int
	took   []time.Duration // of those that were served
}

func (t *tries) add(ctx context.Context, v *victim, a ask) {
	begin := time.Now()
	got, err := v.send(ctx, a)
	t.number++
	if err == nil && got.status < http.StatusBadRequest {
		t.took = append(t.took, time.Since(begin))
	}
}

func (t *tries) String() string {
	if len(t.took) == 0 {
		return fmt.Sprintf("none of %d served", t.number)
	}
	slices.Sort(t.took)
	return fmt.Sprintf("%d of %d served, median %d ms, longest %d ms",
		len(t.took), t.number, t.took[len(t.took)/2].Milliseconds(), t.took[len(t.took)-1].Milliseconds())
}

// holdConnections opens more connections than a server with default settings allows, and
// sends nothing. Loopback is bounded by the total alone; the bound of one client shows in
// the tests of internal/httpd.
func holdConnections(ctx context.Context, v *victim) []line {
	const many = 5000
	var held []net.Conn
	for range many {
		c, err := v.dial(ctx)
		if err != nil {
			v.fail(fmt.Errorf("after %d connections: %w (raise the limit of open files)", len(held), err))
			break
		}
		defer c.Close()
		held = append(held, c)
	}
	open := 0
	for _, c := range held { // one that the server has closed says so
		_ = c.SetReadDeadline(time.Now().Add(time.Millisecond))
		if _, err := c.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
			open++
		}
	}
	return []line{{"attacker", fmt.Sprintf("%d of %d connections are open", open, many)}}
}

// endlessHeaders opens connections that send the most of a header, in as many fields as fit, and do not end it.
func endlessHeaders(ctx context.Context, v *victim) []line {
	const many = 2000
	fields := raw("GET", "/", strings.Repeat("a:\r\n", 7500), "")
	for range many {
		c, err := v.dial(ctx)
		if err != nil {
			v.fail(err)
			break
		}
		defer c.Close()
		_, _ = io.WriteString(c, strings.TrimSuffix(fields, "\r\n")) // the server may have closed it
	}
	tool.Pause(ctx, v.span)
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", v.server.PID()))
	v.fail(err)
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	kib, _ := strconv.Atoi(strings.Fields(peak + " 0")[0])
	return []line{{"the server", fmt.Sprintf("at most %d MB of memory", kib/1000)}}
}

func (v *victim) dial(ctx context.Context) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "tcp", strings.TrimPrefix(v.server.URL, "http://"))
}
