package httpd_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pushbox/internal/httpd"
	"pushbox/internal/testkit/env"
)

// serve runs a server of short answers, over unencrypted HTTP/1 and HTTP/2, and returns its address.
func serve(t *testing.T) string {
	t.Helper()
	srv := httpd.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "short")
	}), io.Discard, time.Minute, time.Minute, time.Minute)
	srv.Protocols = new(http.Protocols)
	srv.Protocols.SetHTTP1(true)
	srv.Protocols.SetUnencryptedHTTP2(true)
	l := env.Listen(t)
	env.Run(t, func(ctx context.Context) error { return httpd.Run(ctx, l, srv, time.Minute) })
	return l.Addr().String()
}

// talk sends all of it at once, and returns all that comes before the server ends the connection. That may be a
// reset, if the server has not read all.
func talk(t *testing.T, addr, send string) string {
	t.Helper()
	var dialer net.Dialer
	conn := env.Must(dialer.DialContext(t.Context(), "tcp", addr))(t)
	defer func() { _ = conn.Close() }()
	env.OK(t, conn.SetDeadline(time.Now().Add(2*time.Minute)))
	env.Must(io.WriteString(conn, send))(t)
	answer, _ := io.ReadAll(conn)
	return string(answer)
}

func TestARequestMayHaveAHundredHeaderFields(t *testing.T) {
	t.Parallel()
	addr := serve(t)
	for n, status := range map[int]string{100: "200 OK", 101: "431 Request Header Fields Too Large"} {
		answer := talk(t, addr, "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 5\r\n"+strings.Repeat("a:\r\n", n-2)+"\r\nwhole")
		if !strings.HasPrefix(answer, "HTTP/1.1 "+status+"\r\n") {
			t.Errorf("%d fields: %q", n, answer)
		}
	}
	// Its body does not come.
	answer := talk(t, addr, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n"+strings.Repeat("a:\r\n", 1000)+"\r\n")
	env.Contains(t, "the answer", answer, "at most 100")
}

// A connection keeps memory for the largest frame that came, even of an unknown type.
func TestAFrameOfHTTP2HasAtMost16KiB(t *testing.T) {
	t.Parallel()
	addr := serve(t)
	frame := func(kind byte, content string) string {
		head := binary.BigEndian.AppendUint32(nil, uint32(len(content))<<8|uint32(kind))
		return string(head) + "\x00\x00\x00\x00\x00" + content // no flags, of no stream
	}
	const settings, ping, goAway, unknown = 4, 6, 7, 0x42
	for size, answered := range map[int]bool{16 << 10: true, 16<<10 + 1: false} {
		answer := talk(t, addr, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"+frame(settings, "")+
			frame(unknown, strings.Repeat("x", size))+frame(ping, "are you?")+frame(goAway, strings.Repeat("\x00", 8)))
		if strings.Contains(answer, "are you?") != answered {
			t.Errorf("%d bytes: %q", size, answer)
		}
	}
}

// Peers without an address may have all slots of large headers.
func TestLargeHeadersThatDoNotEndAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const most = 256
		refused := 0
		c := httpd.NewConnections(func(string) { refused++ })
		c.Set(2*most, 2*most, nil)
		srv := httpd.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			_, _ = w.Write(body)
		}), io.Discard, time.Minute, time.Minute, time.Minute)
		srv.ReadHeaderTimeout = time.Minute
		l := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- httpd.Run(ctx, c.Wrap(l), srv, time.Second) }()
		send := func(conn net.Conn, text string) {
			go func() { _, _ = io.WriteString(conn, text) }()
			synctest.Wait()
		}
		open := func(text string) net.Conn {
			conn, accepted := net.Pipe()
			l.conns <- accepted
			send(conn, text)
			return conn
		}
		answered := func(conn net.Conn) bool {
			answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err == nil {
				_, err = io.Copy(io.Discard, answer.Body)
			}
			synctest.Wait()
			return err == nil
		}
		const small, large, body = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9000\r\n", 5 << 10, 9000
		header := small + "Cookie: " + strings.Repeat("x", large)
		rest := "\r\n\r\n" + strings.Repeat("y", body)

		held := []net.Conn{open(header)}
		for range most - 1 { // half of the header comes with the request before
			conn := open("GET / HTTP/1.1\r\nHost: a\r\n\r\n" + header)
			env.Equal(t, "the request before is answered", answered(conn), true)
			held = append(held, conn)
		}
		env.Equal(t, "refusals", refused, 0)
		env.Equal(t, "one more is answered", answered(open(header+rest)), false)
		env.Equal(t, "refusals", refused, 1)
		kept := open(small + rest[2:])
		for range 3 { // bodies do not count, nor do requests before
			env.Equal(t, "a small header is answered", answered(kept), true)
			send(kept, small+rest[2:])
		}
		send(held[0], rest)
		env.Equal(t, "a header that ends is answered", answered(held[0]), true)
		env.Equal(t, "then another one is answered", answered(open(header+rest)), true)
		env.Equal(t, "open connections", c.Open(), most+2)
		time.Sleep(11 * time.Second) // longer than a slot lasts
		synctest.Wait()
		env.Equal(t, "open connections without the headers that did not end", c.Open(), 3)
		stop()
		env.OK(t, kept.Close())
		<-ended
	})
}
