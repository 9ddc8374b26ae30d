package httpd_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pushbox/internal/httpd"
	"pushbox/internal/testkit/env"
)

// A fakeListener accepts a connection from each peer, and then breaks.
type fakeListener struct {
	net.Listener
	peers  []string
	closed map[string]int
}

var errNoMore = errors.New("no more peers")

// Accept returns the next connection.
func (l *fakeListener) Accept() (net.Conn, error) {
	if len(l.peers) == 0 {
		return nil, errNoMore
	}
	c := &fakeConn{peer: l.peers[0], l: l}
	l.peers = l.peers[1:]
	return c, nil
}

type fakeConn struct {
	net.Conn
	peer string
	l    *fakeListener
}

// RemoteAddr is a TCP address, or for "@" that of a Unix socket.
func (c *fakeConn) RemoteAddr() net.Addr {
	if c.peer == "@" {
		return &net.UnixAddr{Net: "unix", Name: "@"}
	}
	return &net.TCPAddr{IP: net.ParseIP(c.peer), Port: 4000}
}

// Close notes that it was closed.
func (c *fakeConn) Close() error {
	c.l.closed[c.peer]++
	return nil
}

// connect lets peers connect, and returns the connections that are open then and the peers
// that were refused.
func connect(c *httpd.Connections, refused *[]string, peers ...string) (open []net.Conn) {
	*refused = nil
	l := c.Wrap(&fakeListener{peers: peers, closed: make(map[string]int)})
	for {
		conn, err := l.Accept()
		if err != nil {
			return open
		}
		open = append(open, conn)
	}
}

// many returns n peers by a format.
func many(format string, n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf(format, i))
	}
	return all
}

// same returns a peer n times.
func same(peer string, n int) []string { return slices.Repeat([]string{peer}, n) }

func TestConnectionsAreBoundedPerClientAndInAll(t *testing.T) {
	t.Parallel()
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	for name, c := range map[string]struct {
		peers []string
		open  int
	}{
		"one client":                  {same("192.0.2.1", 20), 4},
		"a /24":                       {many("192.0.2.%d", 100), 32},
		"one client in IPv6":          {many("2001:db8::%x", 100), 4},
		"a /48":                       {many("2001:db8:1:%x00::1", 100), 50},
		"clients of many networks":    {many("192.0.%d.1", 120), 100},
		"loopback":                    {many("127.0.0.%d", 120), 100},
		"loopback in IPv6":            {same("::1", 120), 100},
		"a proxy":                     {same("10.0.0.1", 120), 100},
		"a proxy, as IPv6 maps it":    {same("::ffff:10.0.0.1", 120), 100},
		"a Unix socket":               {same("@", 120), 100},
		"two clients of one /64":      {append(same("2001:db8::1", 3), same("2001:db8::2", 3)...), 4},
		"an attacker and a recipient": {append(same("192.0.2.1", 20), "198.51.100.1"), 5},
	} {
		var refused []string
		bounds := httpd.NewConnections(func(peer string) { refused = append(refused, peer) })
		bounds.Set(100, 4, trusted)
		open := connect(bounds, &refused, c.peers...)
		if len(open) != c.open || bounds.Open() != c.open || len(refused) != len(c.peers)-c.open {
			t.Errorf("%s: %d are open, %d were refused, of %d; want %d", name, len(open), len(refused), len(c.peers), c.open)
		}
		for _, conn := range open {
			_ = conn.Close()
			_ = conn.Close() // twice gives one place back
		}
		env.Equal(t, name+": places stay taken", bounds.Open(), 0)
	}
}

func TestBoundsOfConnectionsCanBeChanged(t *testing.T) {
	t.Parallel()
	var refused []string
	bounds := httpd.NewConnections(func(peer string) { refused = append(refused, peer) })
	bounds.Set(2, 1, nil)
	first := connect(bounds, &refused, "192.0.2.1", "192.0.2.1", "10.0.0.1", "198.51.100.1")
	if len(first) != 2 || fmt.Sprint(refused) != "[192.0.2.1 198.51.100.1]" {
		t.Errorf("%d are open, refused %v", len(first), refused)
	}
	bounds.Set(5, 2, []netip.Prefix{netip.MustParsePrefix("10.0.0.1/32")})
	if more := connect(bounds, &refused, "192.0.2.1", "192.0.2.1", "10.0.0.1", "10.0.0.1"); len(more) != 3 || fmt.Sprint(refused) != "[192.0.2.1]" {
		t.Errorf("%d more are open, refused %v", len(more), refused)
	}
	if l := new(fakeListener); (*httpd.Connections)(nil).Wrap(l) != net.Listener(l) {
		t.Error("without bounds the listener is another one")
	}
}

// A client whose connection has many requests at once holds a slot for each.
func TestRequestsOverHTTP2CountAsConnections(t *testing.T) {
	t.Parallel()
	var refused []string
	c := httpd.NewConnections(func(peer string) { refused = append(refused, peer) })
	c.Set(100, 3, nil)
	inside, leave := make(chan struct{}), make(chan struct{})
	handler := c.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		inside <- struct{}{}
		<-leave
	}))
	request := func(peer string, version int) (refused bool) {
		defer func() { refused = recover() == http.ErrAbortHandler }()
		handler.ServeHTTP(httptest.NewRecorder(), &http.Request{ProtoMajor: version, RemoteAddr: peer + ":4000"})
		return false
	}
	var all sync.WaitGroup
	enter := func(n int, peer string, version int) {
		for range n {
			all.Go(func() {
				if request(peer, version) {
					t.Errorf("a request over HTTP/%d of %s was refused", version, peer)
				}
			})
			<-inside
		}
	}
	enter(3, "192.0.2.1", 2)
	if !request("192.0.2.1", 2) || !slices.Equal(refused, []string{"192.0.2.1"}) {
		t.Errorf("one more than a client may have was answered; refused were %q", refused)
	}
	enter(5, "192.0.2.1", 1) // their connections count already
	enter(5, "127.0.0.1", 2)
	enter(3, "198.51.100.1", 2)
	if open := c.Open(); open != 11 {
		t.Errorf("%d are open", open)
	}
	close(leave)
	all.Wait()
	if open := c.Open(); open != 0 {
		t.Errorf("%d are still open", open)
	}
}

// A heldConn writes nothing while it is held, as to a peer that does not read.
type heldConn struct {
	net.Conn
	held   *atomic.Bool
	closed chan struct{}
	close  func() error
}

// Write waits for the end of a held connection.
func (c heldConn) Write(p []byte) (int, error) {
	if c.held.Load() {
		<-c.closed
	}
	return c.Conn.Write(p)
}

// Close closes the connection once.
func (c heldConn) Close() error { return c.close() }

type heldListener struct {
	net.Listener
	held *atomic.Bool
}

// Accept returns the next connection.
func (l heldListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	closed := make(chan struct{})
	return heldConn{conn, l.held, closed, sync.OnceValue(func() error {
		close(closed)
		return conn.Close()
	})}, nil
}

// The answers of this test fit into the buffer of net/http, which sends them when the handler has
// returned.
func TestAnswersOverHTTP2CountUntilTheyAreSent(t *testing.T) {
	t.Parallel()
	const most = 10
	refused, inside := make(chan string, 1), make(chan struct{}, 2*most)
	c := httpd.NewConnections(func(peer string) { refused <- peer })
	c.Set(1+most, 0, nil) // loopback is bounded by the total alone
	answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		inside <- struct{}{}
		_, _ = io.WriteString(w, "short")
	})
	srv := httpd.NewServer(c.Handler(answer), io.Discard, time.Minute, time.Minute, time.Minute)
	srv.Protocols = new(http.Protocols)
	srv.Protocols.SetUnencryptedHTTP2(true)
	l := env.Listen(t)
	var held atomic.Bool
	stop := env.Run(t, func(ctx context.Context) error {
		if err := httpd.Run(ctx, c.Wrap(heldListener{l, &held}), srv, 0); !errors.Is(err, httpd.ErrCut) {
			return err
		}
		return nil
	})
	client := &http.Client{Transport: &http.Transport{Protocols: srv.Protocols}}
	get := func() error {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+l.Addr().String(), http.NoBody)
		if err != nil {
			return err
		}
		reply, err := client.Do(request) // it is not sent again: it may have had an effect
		if err == nil {
			err = reply.Body.Close()
		}
		return err
	}
	if err := get(); err != nil {
		t.Fatal(err)
	}
	<-inside
	held.Store(true)
	var all sync.WaitGroup
	ask := func() {
		all.Go(func() {
			if get() == nil {
				t.Error("an answer arrived over a connection that is held")
			}
		})
	}
	ask()
	<-inside
	env.Eventually(t, "the first answer is in the buffer of its connection", func() bool { return c.Open() == 1 })
	for range most {
		ask()
		<-inside
	}
	ask()
	select {
	case <-refused:
	case <-inside:
		t.Errorf("%d answers wait, and one more request was answered", most)
	}
	stop()
	all.Wait()
	if open := c.Open(); open != 0 {
		t.Errorf("%d are still open", open)
	}
}

// Otherwise a client that sends control frames of HTTP/2, and reads no answers, fills the memory.
func TestReadsWaitWhileAPeerDoesNotRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const most = 32 << 10
		c := httpd.NewConnections(func(string) {})
		c.Set(1, 1, nil)
		l := &pipeListener{conns: make(chan net.Conn, 1), closed: make(chan struct{})}
		peer, accepted := net.Pipe()
		l.conns <- accepted
		conn := env.Must(c.Wrap(l).Accept())(t)
		var arrived atomic.Int64
		var all sync.WaitGroup
		all.Go(func() {
			for part := make([]byte, 1<<10); ; {
				n, err := conn.Read(part)
				if arrived.Add(int64(n)); err != nil {
					return
				}
			}
		})
		write := func() { all.Go(func() { _, _ = io.WriteString(conn, "answer") }) }
		send := func(want int64) {
			all.Go(func() { _, _ = peer.Write(make([]byte, most+1)) })
			synctest.Wait()
			env.Equal(t, "bytes that arrived", arrived.Load(), want)
		}
		read := func() {
			env.Must(io.ReadFull(peer, make([]byte, len("answer"))))(t)
			synctest.Wait()
		}
		send(most + 1)
		write()
		synctest.Wait()
		send(2*most + 1)
		read()
		env.Equal(t, "bytes that arrived after the answer was read", arrived.Load(), 2*most+2)
		write()
		synctest.Wait()
		send(3*most + 2)
		time.Sleep(6 * time.Second) // there is no request, so the connection ends
		all.Wait()
		env.Equal(t, "open connections", c.Open(), 0)
	})
}
