package server_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"

	"pushbox/config"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/server"
	"pushbox/store"
	"pushbox/store/clock"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// BenchmarkHandler measures the cost of a request in this program alone: without a
// connection or a database, and with a log that is discarded.
func BenchmarkHandler(b *testing.B) {
	views := 1 << 30
	f := storetest.New(b, func(s *storetest.Setup) {
		s.Clock = clock.NewSystem()
		s.Wrap = func(e record.Engine) record.Engine { return &quickEngine{Engine: e} }
		terms := s.Terms[record.Text]
		terms.Views.Max = views
		s.Terms[record.Text] = terms
	})
	h, err := server.New(server.Options{Config: config.Default(), Store: f.Store, Log: zerolog.New(io.Discard), Version: "3.0.0"})
	env.OK(b, err)
	b.Run("create", func(b *testing.B) {
		const body = `{"push":{"payload":"correct horse battery staple","expire_after_days":7,"expire_after_views":5}}`
		ask(b, h, http.MethodPost, pushes, body, http.StatusCreated)
	})
	p, err := f.CreatePush(ctx, store.Actor{IP: "127.0.0.1"}, store.NewPush{Kind: record.Text, Payload: secret.New("correct horse battery staple"), Views: &views})
	env.OK(b, err)
	b.Run("view", func(b *testing.B) { ask(b, h, http.MethodGet, pushes+"/"+p.Token.Reveal(), "", http.StatusOK) })
}

// ask has a handler answer the same request repeatedly.
func ask(b *testing.B, h http.Handler, method, path, body string, want int) {
	content := strings.NewReader(body)
	r := &http.Request{
		Method: method, URL: &url.URL{Path: path}, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Host: "box",
		RemoteAddr: "127.0.0.1:40000", RequestURI: path, ContentLength: int64(len(body)), Body: io.NopCloser(content),
		Header: http.Header{"User-Agent": {"bench"}, "Content-Type": {"application/json"}},
	}
	ctx, cancel := context.WithCancel(b.Context()) // as net/http's: it can be cancelled
	defer cancel()
	r = r.WithContext(ctx)
	w := &counter{header: make(http.Header)}
	b.ReportAllocs()
	for b.Loop() {
		content.Reset(body)
		clear(w.header)
		h.ServeHTTP(w, r)
		if w.status != want {
			b.Fatal(w.status)
		}
	}
	b.ReportMetric(float64(w.wrote)/float64(b.N), "answer-B/op")
}

// A counter is an http.ResponseWriter that discards the body.
type counter struct {
	header http.Header
	status int
	wrote  int
}

func (c *counter) Header() http.Header    { return c.header }
func (c *counter) WriteHeader(status int) { c.status = status }

func (c *counter) Write(p []byte) (int, error) {
	c.wrote += len(p)
	return len(p), nil
}

// A quickEngine keeps the last push that was created, in memory, and does
// everything else as the engine in it.
type quickEngine struct {
	record.Engine
	mu      sync.Mutex
	push    record.Push
	payload []byte
}

func (e *quickEngine) CreatePush(_ context.Context, p record.Push, payload []byte, entry record.Entry) (record.Entry, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.push, e.payload = p, payload
	return entry, nil
}

func (e *quickEngine) Push(context.Context, record.ID) (record.Push, int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.push, len(e.payload), nil
}

func (e *quickEngine) Change(_ context.Context, _ record.ID, r record.Rule) (record.Change, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	next, entry, err := r(e.push)
	if err != nil {
		return record.Change{}, fmt.Errorf("rule: %w", err)
	}
	e.push = next
	return record.Change{Push: next, Entry: entry, Payload: e.payload}, nil
}
