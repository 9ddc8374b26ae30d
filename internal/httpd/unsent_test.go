//go:build linux || darwin

package httpd

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
)

// What a peer does not read must not look as if it had been sent: a deadline that
// moves with what is written would say little about its reader.
func TestTheKernelBuffersLittleUnreadData(t *testing.T) {
	t.Parallel()
	dial := func(address string) (net.Conn, error) { return net.Dial("tcp", address) }
	takeLittle(t, func(l net.Listener) net.Listener { return l }, dial)
}

func TestTheKernelBuffersLittleUnreadDataOverTLS(t *testing.T) {
	t.Parallel()
	lender := httptest.NewTLSServer(nil)
	defer lender.Close()
	config := &tls.Config{Certificates: lender.TLS.Certificates}
	dial := func(address string) (net.Conn, error) {
		return tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true})
	}
	takeLittle(t, func(l net.Listener) net.Listener { return tls.NewListener(l, config) }, dial)
}

// takeLittle fails the test if a server on a wrapped listener sends much to a client that
// reads nothing.
func takeLittle(t *testing.T, wrap func(net.Listener) net.Listener, dial func(string) (net.Conn, error)) {
	t.Helper()
	const most = 512 << 10
	l := env.Listen(t)
	address := l.Addr().String()
	l = wrap(l)
	taken := make(chan int, 1)
	srv := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		c, n := http.NewResponseController(w), 0
		for chunk := make([]byte, 16<<10); n < 16<<20; {
			_ = c.SetWriteDeadline(time.Now().Add(time.Second))
			m, err := w.Write(chunk)
			if n += m; err != nil || c.Flush() != nil {
				break
			}
		}
		taken <- n
	})}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, l, srv, time.Minute) }()
	conn := env.Must(dial(address))(t)
	defer conn.Close()
	raw := conn
	if c, ok := conn.(*tls.Conn); ok {
		raw = c.NetConn()
	}
	_ = raw.(*net.TCPConn).SetReadBuffer(16 << 10)
	env.Must(io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"))(t)
	if n := <-taken; n > most {
		t.Errorf("%d bytes were taken from the server, and no client read them", n)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
