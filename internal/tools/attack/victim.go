package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"pushbox/internal/tools/tool"
)

// The addresses of clients.
const (
	attacker  = "203.0.113.66" // holds what others need
	recipient = "198.51.100.7"
	sender    = "192.0.2.200"
	office    = "203.0.113.5" // attacker and recipients share it
)

type victim struct {
	server  *tool.Server
	client  http.Client
	bin     string
	data    string // its data directory
	environ []string
	span    time.Duration // of a flood
	failed  error         // the first one that no attack should cause
}

func start(ctx context.Context, bin, dir, setting string, span time.Duration) (*victim, error) {
	data, err := os.MkdirTemp(dir, "data-")
	if err != nil {
		return nil, err
	}
	v := &victim{bin: bin, data: data, span: span, environ: tool.Environ("PUSHBOX_DATA_DIR="+data, setting), client: http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: 200},
		Timeout:       tool.Patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	v.server, err = tool.Start(ctx, data, "log", v.environ, bin, "serve", "--listen", "127.0.0.1:0")
	return v, err
}

func (v *victim) stop() {
	v.client.CloseIdleConnections()
	v.fail(v.server.Stop())
}

// fail keeps the first error, which ends the run.
func (v *victim) fail(err error) { v.failed = cmp.Or(v.failed, err) }

type ask struct {
	from      string // the client's address
	path      string
	form      url.Values // makes it a POST
	multipart string     // makes it a POST; its boundary is b
	header    http.Header
	cookies   []*http.Cookie
}

type answer struct {
	status  int // 0: nothing
	header  http.Header
	cookies []*http.Cookie
	body    []byte
}

func (v *victim) send(ctx context.Context, a ask) (answer, error) {
	method, media, body := http.MethodGet, "", ""
	switch {
	case a.form != nil:
		method, media, body = http.MethodPost, "application/x-www-form-urlencoded", a.form.Encode()
	case a.multipart != "":
		method, media, body = http.MethodPost, "multipart/form-data; boundary=b", a.multipart
	}
	req, err := http.NewRequestWithContext(ctx, method, v.server.URL+a.path, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	maps.Copy(req.Header, a.header)
	for name, value := range map[string]string{"Content-Type": media, "X-Forwarded-For": a.from} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	for _, c := range a.cookies {
		req.AddCookie(c)
	}
	res, err := v.client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	return answer{res.StatusCode, res.Header, res.Cookies(), text}, err
}

// do is send for a request that must be answered, with the status unless that is 0.
func (v *victim) do(ctx context.Context, want int, a ask) answer {
	got, err := v.send(ctx, a)
	if err == nil && want != 0 && got.status != want {
		err = fmt.Errorf("%s: status %d", a.path, got.status)
	}
	v.fail(err)
	return got
}

// text is a member of the JSON object in an answer.
func (v *victim) text(a answer, member string) string {
	var all map[string]any
	if err := json.Unmarshal(a.body, &all); err != nil {
		v.fail(err)
	}
	text, _ := all[member].(string)
	if text == "" {
		v.fail(errors.New("an answer has no " + member))
	}
	return text
}

// creating creates a push with a passphrase (empty: none), for any number of views that the server allows.
func creating(from, payload, passphrase string) ask {
	form := url.Values{"push[payload]": {payload}, "push[expire_after_views]": {"100"}}
	if passphrase != "" {
		form.Set("push[passphrase]", passphrase)
	}
	return ask{from: from, path: "/api/v2/pushes", form: form}
}

func (v *victim) push(ctx context.Context, from, payload, passphrase string) string {
	return v.text(v.do(ctx, http.StatusCreated, creating(from, payload, passphrase)), "url_token")
}

func opening(from, token, passphrase string) ask {
	return ask{from: from, path: "/api/v2/pushes/" + token, header: http.Header{"X-Push-Passphrase": {passphrase}}}
}

func (v *victim) open(ctx context.Context, from, token, passphrase string) int {
	return v.do(ctx, 0, opening(from, token, passphrase)).status
}

// requests makes an account, and so many requests for a secret, and returns the paths of their links.
func (v *victim) requests(ctx context.Context, n int) (paths []string) {
	token, err := tool.APIToken(ctx, v.data, v.environ, v.bin, v.data)
	v.fail(err)
	form := url.Values{"request[text]": {"x"}, "request[max_answers]": {"100"}}
	for range n {
		made := v.do(ctx, http.StatusCreated, ask{path: "/api/v2/requests", form: form, header: http.Header{"Authorization": {"Bearer " + token}}})
		_, path, _ := strings.Cut(v.text(made, "html_url"), "/q/")
		paths = append(paths, "/q/"+path)
	}
	return paths
}

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

func (c *counter) String() string {
	var all []string
	for _, status := range slices.Sorted(maps.Keys(c.of)) {
		all = append(all, fmt.Sprintf("%d: %d times", status, c.of[status]))
	}
	return strings.Join(all, ", ")
}

func (v *victim) repeat(ctx context.Context, times int, request func(n int) ask) *counter {
	c := new(counter)
	for n := range times {
		c.add(v.do(ctx, 0, request(n)).status)
	}
	return c
}

// log is what the server has said, once it has stopped.
func (v *victim) log() [][]byte {
	text, err := os.ReadFile(v.server.Log)
	v.fail(err)
	return slices.Collect(bytes.Lines(text))
}
