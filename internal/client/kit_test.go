package client

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
)

const (
	aToken = "abcdefghijklmnopqrstuvwxyz234567ab"
	apiKey = "pb_token-marker"
)

// A far server is one of a test. It keeps what it was asked.
type far struct {
	*httptest.Server
	t *testing.T

	mu    sync.Mutex
	asked []*http.Request
}

// serving starts a server. Whatever it answers is JSON unless it says otherwise.
func serving(t *testing.T, handle http.HandlerFunc) *far {
	t.Helper()
	f := &far{t: t}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.asked = append(f.asked, r)
		f.mu.Unlock()
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		handle(w, r)
	}))
	t.Cleanup(f.Close)
	return f
}

// requests are those that came so far.
func (f *far) requests() []*http.Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked
}

func (f *far) server() Server {
	f.t.Helper()
	return env.Must(ParseServer(f.URL))(f.t)
}

func (f *far) link() Link { return mustLink(f.t, f.URL+"/p/"+aToken) }

func mustLink(t *testing.T, text string) Link {
	t.Helper()
	return env.Must(ParseLink(text))(t)
}

// client is one whose home the server is, and that never waits.
func (f *far) client() *Client {
	f.t.Helper()
	c := New(Options{Home: f.server(), Token: secret.New(apiKey), Agent: "pushbox/test", Stall: env.Patience})
	c.transport.ExpectContinueTimeout = env.Patience
	c.pause = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	return c
}

// says answers with a status and a body.
func says(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// target is an empty file.
func target(t *testing.T) *os.File {
	t.Helper()
	f := env.Must(os.Create(filepath.Join(t.TempDir(), "file")))(t)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func textOf(t *testing.T, f *os.File) string {
	t.Helper()
	return string(env.Read(t, f.Name()))
}

// upload is a file of that text.
func upload(name, text string) Upload {
	return Upload{name, int64(len(text)), io.NopCloser(strings.NewReader(text))}
}

// silent fails the test if an error tells a secret.
func silent(t *testing.T, err error) {
	t.Helper()
	for _, secret := range []string{aToken, apiKey, "marker"} {
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("the error tells a secret: %v", err)
		}
	}
}
