package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// both runs a test with each client, connected to a server with that handler.
func both(t *testing.T, h http.Handler, test func(*testing.T, client)) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	for _, raw := range []bool{false, true} {
		c, err := (&subject{spec: spec{url: s.URL}}).dial(t.Context(), raw)
		if err != nil {
			t.Fatal(err)
		}
		test(t, c)
		c.close()
	}
}

func TestClientsKeepOneConnection(t *testing.T) {
	t.Parallel()
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = io.WriteString(w, r.RemoteAddr+" "+r.Method+" "+r.URL.Path+" "+r.Header.Get("Content-Type")+" "+string(body))
	})
	both(t, h, func(t *testing.T, c client) {
		requests := []request{{method: "POST", path: "/a", body: []byte(`{"b":1}`), status: 200}, {method: "GET", path: "/c", status: 200}}
		want := []string{`POST /a application/json {"b":1}`, "GET /c  "}
		first := ""
		for i, r := range requests {
			answer, err := c.do(t.Context(), r)
			from, rest, _ := strings.Cut(string(answer), " ")
			if err != nil || rest != want[i] {
				t.Errorf("%T: got %q, %v", c, rest, err)
			}
			if first == "" {
				first = from
			}
			if from != first {
				t.Errorf("%T: a second connection", c)
			}
		}
	})
}

func TestAnotherStatusIsAnErrorAndTheConnectionGoesOn(t *testing.T) {
	t.Parallel()
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "short and stout"+strings.Repeat(".", 1000))
	})
	both(t, h, func(t *testing.T, c client) {
		if _, err := c.do(t.Context(), request{method: "GET", path: "/", status: 200}); err == nil || !strings.Contains(err.Error(), "418") || !strings.Contains(err.Error(), "short and stout") || len(err.Error()) > 300 {
			t.Errorf("%T: got %v", c, err)
		}
		if _, err := c.do(t.Context(), request{method: "GET", path: "/", status: http.StatusTeapot}); err != nil {
			t.Errorf("%T: then %v", c, err)
		}
	})
}

func TestClientsStopAtTheirDeadline(t *testing.T) {
	t.Parallel()
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	both(t, h, func(t *testing.T, c client) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		if _, err := c.do(ctx, request{method: "GET", path: "/", status: 200}); err == nil {
			t.Errorf("%T: no error", c)
		}
	})
}

func TestTheRawClientRefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, answer, want string }{
		{"chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", errNoLength.Error()},
		{"a length that is none", "HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n", errNoLength.Error()},
		{"a length that is huge", "HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n", errNoLength.Error()},
		{"a length below none", "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n", errNoLength.Error()},
		{"another protocol", "SSH-2.0-x\r\n\r\n", "an answer does not begin as HTTP/1.1 does"},
		{"no number", "HTTP/1.1 abc\r\n\r\n", "an answer has no status"},
		{"less than it says", "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nabc", "unexpected EOF"},
		{"nothing", "", "EOF"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = l.Close() })
			go func() {
				if conn, err := l.Accept(); err == nil {
					_, _ = conn.Read(make([]byte, 1000))
					_, _ = io.WriteString(conn, test.answer)
					_ = conn.Close()
				}
			}()
			c, err := dialRaw(t.Context(), &subject{spec: spec{url: "http://" + l.Addr().String()}})
			if err != nil {
				t.Fatal(err)
			}
			defer c.close()
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			if _, err := c.do(ctx, request{method: "GET", path: "/", status: 200}); err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}
