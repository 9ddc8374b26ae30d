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
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	patience = 2 * time.Minute // for the server to start, to stop, and to answer
	poll     = 50 * time.Millisecond
)

// A victim is a server that is attacked.
type victim struct {
	address string
	url     string
	client  *http.Client
	cmd     *exec.Cmd
	data    string       // its data directory
	secret  string       // an API token, once there is one
	said    bytes.Buffer // its log; read only when it has ended
}

// start starts a server with default settings, apart from those of environ, and waits
// until it answers.
func start(ctx context.Context, bin, dir string, environ []string) (*victim, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // a port that is free now
	if err != nil {
		return nil, err
	}
	v := &victim{address: l.Addr().String(), url: "http://" + l.Addr().String()}
	if err := l.Close(); err != nil {
		return nil, err
	}
	if v.data, err = os.MkdirTemp(dir, "data-"); err != nil {
		return nil, err
	}
	v.client = &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: 200},
		Timeout:       patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	v.cmd = exec.CommandContext(ctx, bin, "serve", "--listen", v.address)
	v.cmd.Env = append(plainEnviron(), "PUSHBOX_DATA_DIR="+v.data)
	v.cmd.Env = append(v.cmd.Env, environ...)
	v.cmd.Dir, v.cmd.Stderr = v.data, &v.said
	if err := v.cmd.Start(); err != nil {
		return nil, err
	}
	for end := time.Now().Add(patience); ; time.Sleep(poll) {
		if status, _, err := v.do(ctx, ask{path: "/healthz"}); err == nil && status == http.StatusOK {
			return v, nil
		}
		if time.Now().After(end) || ctx.Err() != nil {
			v.stop()
			return nil, fmt.Errorf("the server does not answer: %s", v.said.String())
		}
	}
}

// plainEnviron is the environment without settings of pushbox.
func plainEnviron() []string {
	return slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, "PUSHBOX_") })
}

// stop ends the server and waits for it.
func (v *victim) stop() {
	v.client.CloseIdleConnections()
	_ = v.cmd.Process.Signal(syscall.SIGTERM)
	kill := time.AfterFunc(patience, func() { _ = v.cmd.Process.Kill() })
	defer kill.Stop()
	_ = v.cmd.Wait()
}

// An ask is a request of one client.
type ask struct {
	from      string // the client's address
	path      string
	form      url.Values // makes it a POST
	multipart string     // makes it a POST; its boundary is b
	header    http.Header
	cookies   []*http.Cookie
}

// do sends a request. It reads the whole answer, of which it returns the status and the
// response.
func (v *victim) do(ctx context.Context, a ask) (status int, res *http.Response, err error) {
	method, body := http.MethodGet, io.Reader(nil)
	media := ""
	switch {
	case a.form != nil:
		method, body, media = http.MethodPost, strings.NewReader(a.form.Encode()), "application/x-www-form-urlencoded"
	case a.multipart != "":
		method, body, media = http.MethodPost, strings.NewReader(a.multipart), "multipart/form-data; boundary=b"
	}
	req, err := http.NewRequestWithContext(ctx, method, v.url+a.path, body)
	if err != nil {
		return 0, nil, err
	}
	for name, values := range a.header {
		req.Header[name] = values
	}
	if media != "" {
		req.Header.Set("Content-Type", media)
	}
	if a.from != "" {
		req.Header.Set("X-Forwarded-For", a.from)
	}
	for _, c := range a.cookies {
		req.AddCookie(c)
	}
	res, err = v.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	res.Body = io.NopCloser(bytes.NewReader(text))
	return res.StatusCode, res, errors.Join(err)
}

// create creates a push with a passphrase (empty: none), for any number of views that the
// server allows.
func (v *victim) create(ctx context.Context, from, payload, passphrase string) (int, *http.Response, error) {
	form := url.Values{"push[payload]": {payload}, "push[expire_after_views]": {"100"}}
	if passphrase != "" {
		form.Set("push[passphrase]", passphrase)
	}
	return v.do(ctx, ask{from: from, path: "/api/v2/pushes", form: form})
}

// push is create. It returns the url_token.
func (v *victim) push(ctx context.Context, from, payload, passphrase string) (string, error) {
	status, res, err := v.create(ctx, from, payload, passphrase)
	if err != nil || status != http.StatusCreated {
		return "", fmt.Errorf("create: status %d, %w", status, err)
	}
	var made struct {
		Token string `json:"url_token"`
	}
	err = json.NewDecoder(res.Body).Decode(&made)
	return made.Token, err
}

// open retrieves a push and returns the status.
func (v *victim) open(ctx context.Context, from, token, passphrase string) (int, *http.Response, error) {
	return v.do(ctx, ask{from: from, path: "/api/v2/pushes/" + token, header: http.Header{"X-Push-Passphrase": {passphrase}}})
}
