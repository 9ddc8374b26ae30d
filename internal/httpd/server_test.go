package httpd_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
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

// Loopback may have all slots of large headers.
func TestLargeHeadersThatDoNotEndAreBounded(t *testing.T) {
	t.Parallel()
	const most = 256
	refusals := make(chan string, 4*most)
	c := httpd.NewConnections(func(peer string) { refusals <- peer })
	c.Set(4*most, 4*most, nil)
	srv := httpd.NewServer(c.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = w.Write(body)
	})), io.Discard, time.Minute, time.Minute, time.Minute)
	srv.ReadHeaderTimeout = time.Minute
	l := env.Listen(t)
	stop := env.Run(t, func(ctx context.Context) error {
		if err := httpd.Run(ctx, c.Wrap(l), srv, 0); !errors.Is(err, httpd.ErrCut) {
			return err
		}
		return nil
	})
	large := "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9000\r\nCookie: " + strings.Repeat("x", 5<<10)
	var dialer net.Dialer
	open := func() net.Conn {
		conn := env.Must(dialer.DialContext(t.Context(), "tcp", l.Addr().String()))(t)
		env.OK(t, conn.SetDeadline(time.Now().Add(2*time.Minute)))
		return conn
	}
	held := make([]net.Conn, most+1)
	for i := range held {
		held[i] = open()
		env.Must(io.WriteString(held[i], large))(t)
	}
	<-refusals // so each of the others has a slot
	answered := func() bool {
		conn := open()
		defer func() { _ = conn.Close() }()
		_, err := io.WriteString(conn, large+"\r\n\r\n"+strings.Repeat("y", 9000))
		if err == nil {
			_, err = http.ReadResponse(bufio.NewReader(conn), nil)
		}
		return err == nil
	}
	env.Equal(t, "one more large header is answered", answered(), false)
	small := "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9000\r\n\r\n" + strings.Repeat("y", 9000)
	kept := open()
	for range 3 { // bodies do not count, nor does the request before
		env.Must(io.WriteString(kept, small))(t)
		answer := env.Must(http.ReadResponse(bufio.NewReader(kept), nil))(t)
		env.Equal(t, "the length of the answer", len(env.Must(io.ReadAll(answer.Body))(t)), 9000)
	}
	for _, conn := range held[:2] { // one of which may be refused
		_, _ = io.WriteString(conn, "\r\n\r\n")
	}
	env.Eventually(t, "a large header is read again", answered)
	for _, conn := range held {
		_ = conn.Close()
	}
	stop()
	env.Equal(t, "connections that are open", c.Open(), 0)
}
