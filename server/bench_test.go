package server_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pushbox/config"
	"pushbox/internal/secret"
	"pushbox/server"
	"pushbox/store"
	"pushbox/store/storetest"
)

// BenchmarkHTTP measures creates and retrievals over loopback, with everything
// durable, sealed, audited and logged, beside a handler in the same process that
// returns a fixed 300-byte JSON. The three take turns in short rounds, so that
// what else the machine does meets them alike; the figures to look at are the
// ratios. PUSHBOX_BENCH_STORED sets how many pushes are there before (1,000).
//
// Whoever asks shares the machine with whoever answers, so it matters how. The
// client is net/http's, as a Go program would use it; PUSHBOX_BENCH_CLIENT=raw
// takes one that only writes bytes and counts those that come back, which makes
// the bare handler twice as fast and so the ratios smaller.
func BenchmarkHTTP(b *testing.B) {
	stored := 1000
	if s := os.Getenv("PUSHBOX_BENCH_STORED"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			b.Fatal(err)
		}
		stored = n
	}
	defer debug.SetGCPercent(debug.SetGCPercent(server.GCPercent))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(server.MemoryLimit))
	bare := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = w.Write(fixed)
	}))
	b.Cleanup(bare.Close)
	box, tokens := newBox(b, stored)
	for _, conns := range []int{1, 16, 64, 256} {
		b.Run(fmt.Sprintf("conns=%d", conns), func(b *testing.B) { race(b, conns, bare.URL, box, tokens) })
	}
}

// fixed is what the bare handler answers.
var fixed = []byte(`{"a":"` + strings.Repeat("x", 292) + `"}`)

// newBox starts a server whose store holds that many pushes.
func newBox(b *testing.B, stored int) (url string, tokens []string) {
	b.Helper()
	f := storetest.New(b, func(s *storetest.Setup) {
		s.Clock = store.NewSystemClock()
		terms := s.Terms[store.Text]
		terms.Views.Max = 1 << 30
		s.Terms[store.Text] = terms
	})
	tokens = make([]string, stored)
	var all sync.WaitGroup
	for w := range 64 {
		all.Go(func() {
			views := 1 << 30
			for i := w; i < stored; i += 64 {
				p, err := f.CreatePush(ctx, store.Actor{IP: "127.0.0.1"}, store.NewPush{Kind: store.Text, Payload: secret.New("correct horse battery staple"), Views: &views})
				if err != nil {
					b.Error(err)
					return
				}
				tokens[i] = p.Token.Reveal()
			}
		})
	}
	all.Wait()
	log, err := os.Create(filepath.Join(b.TempDir(), "log"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = log.Close() })
	h, err := server.New(server.Options{Config: config.Default(), Store: f.Store, Log: zerolog.New(log), Version: "3.0.0"})
	if err != nil {
		b.Fatal(err)
	}
	s := httptest.NewServer(h)
	b.Cleanup(s.Close)
	return s.URL, tokens
}

// A contestant is one of the three.
type contestant struct {
	name    string
	url     string
	request func() []byte
	ops     int
	took    time.Duration
	wrote   int64
}

func race(b *testing.B, conns int, bare, box string, tokens []string) {
	const body = `{"push":{"payload":"correct horse battery staple","expire_after_days":7,"expire_after_views":5}}`
	create := []byte("POST /api/v2/pushes HTTP/1.1\r\nHost: box\r\nUser-Agent: bench\r\nContent-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body)
	show := func() []byte {
		return []byte("GET /api/v2/pushes/" + tokens[rand.IntN(len(tokens))] + " HTTP/1.1\r\nHost: box\r\nUser-Agent: bench\r\n\r\n")
	}
	field := []*contestant{
		{name: "bare", url: bare, request: func() []byte { return create }},
		{name: "create", url: box, request: func() []byte { return create }},
		{name: "view", url: box, request: show},
	}
	const rounds = 8
	for b.Loop() {
		for range rounds {
			for _, c := range field {
				c.run(b, conns, max(conns*4, 1000))
			}
		}
	}
	for _, c := range field {
		rate := float64(c.ops) / c.took.Seconds()
		b.ReportMetric(rate, c.name+"/s")
		if c.name != "bare" {
			b.ReportMetric(rate/(float64(field[0].ops)/field[0].took.Seconds()), c.name+"-ratio")
			b.ReportMetric(float64(c.wrote)/float64(c.ops), c.name+"-B/op")
		}
	}
	b.ReportMetric(0, "ns/op")
}

// run has that many connections make so many requests together.
func (c *contestant) run(b *testing.B, conns, requests int) {
	b.Helper()
	clients := make([]client, conns)
	for i := range clients {
		clients[i] = dial(b, c.url)
	}
	wrote, start := written(), time.Now()
	var all sync.WaitGroup
	for _, client := range clients {
		all.Go(func() {
			for range requests / conns {
				if err := client.do(c.request()); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	c.took += time.Since(start)
	c.wrote += written() - wrote
	c.ops += requests / conns * conns
	for _, client := range clients {
		client.close()
	}
}

// A client sends requests, one after the other, on a connection of its own.
type client interface {
	do(request []byte) error // an answer of another status than 20x is an error
	close()
}

// dial returns a client that is connected.
func dial(b *testing.B, url string) client {
	b.Helper()
	if os.Getenv("PUSHBOX_BENCH_CLIENT") == "raw" {
		conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			b.Fatal(err)
		}
		return &rawClient{conn: conn, in: bufio.NewReader(conn)}
	}
	c := &netClient{url: url, transport: &http.Transport{}}
	if err := c.do([]byte("GET /healthz HTTP/1.1\r\nHost: box\r\n\r\n")); err != nil {
		b.Fatal(err)
	}
	return c
}

// A netClient is net/http's, with one connection.
type netClient struct {
	url       string
	transport *http.Transport
}

func (c *netClient) do(request []byte) error {
	head, body, _ := bytes.Cut(request, []byte("\r\n\r\n"))
	line, _, _ := bytes.Cut(head, []byte("\r\n"))
	words := strings.Fields(string(line))
	req, err := http.NewRequest(words[0], c.url+words[1], bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := c.transport.RoundTrip(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode/10 != 20 {
		return fmt.Errorf("answer %s", res.Status)
	}
	_, err = io.Copy(io.Discard, res.Body)
	return err
}

func (c *netClient) close() { c.transport.CloseIdleConnections() }

// A rawClient does as little work as can be.
type rawClient struct {
	conn net.Conn
	in   *bufio.Reader
}

func (c *rawClient) close() { _ = c.conn.Close() }

func (c *rawClient) do(request []byte) error {
	if _, err := c.conn.Write(request); err != nil {
		return err
	}
	length := 0
	for n := 0; ; n++ {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return err
		}
		if n == 0 && !bytes.HasPrefix(line, []byte("HTTP/1.1 20")) {
			return fmt.Errorf("answer %q", line)
		}
		if value, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return err
			}
		}
		if len(line) == 2 {
			_, err := c.in.Discard(length)
			return err
		}
	}
}

// written is how many bytes this process has sent to a disk; 0 where the system
// does not tell.
func written() int64 {
	b, _ := os.ReadFile("/proc/self/io")
	_, rest, _ := strings.Cut(string(b), "\nwrite_bytes: ")
	line, _, _ := strings.Cut(rest, "\n")
	n, _ := strconv.ParseInt(line, 10, 64)
	return n
}
