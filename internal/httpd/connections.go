package httpd

import (
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"

	"pushbox/internal/clientip"
	"pushbox/internal/limit"
)

// Connections bound how many connections all listeners together have open: in total, and of one
// client, for whom the networks around its address count as well (limit.Holder). Peers on this
// machine and trusted proxies are bounded by the total alone, since they carry the connections of
// many clients. A connection beyond a bound is closed at once. Requests over HTTP/2 count as well,
// see Handler. A nil *Connections bounds nothing.
type Connections struct {
	slots   *limit.Slots
	proxies atomic.Pointer[clientip.Proxies]
	refused func(peer string) // is told
}

// NewConnections returns bounds that Set has not set yet: nothing may connect. refused is
// called for each connection that is closed, and each request that is refused, with the address of its peer, or an empty
// text.
func NewConnections(refused func(peer string)) *Connections {
	c := &Connections{slots: limit.NewSlots(0), refused: refused}
	c.proxies.Store(new(clientip.Proxies))
	return c
}

// Set changes the bounds. Connections that are open stay open.
func (c *Connections) Set(total, perClient int, trusted []netip.Prefix) {
	p := clientip.New(trusted)
	c.proxies.Store(&p)
	c.slots.Resize(total, perClient)
}

// Open returns how many connections are open.
func (c *Connections) Open() int { return c.slots.Taken() }

// Wrap returns l with the bounds.
func (c *Connections) Wrap(l net.Listener) net.Listener {
	if c == nil || l == nil {
		return l
	}
	return boundListener{l, c}
}

// client names the peer of a connection for the slots; empty where only the total counts.
func (c *Connections) client(peer netip.Addr) string {
	if !peer.IsValid() || peer.IsLoopback() || c.proxies.Load().Trusts(peer) {
		return ""
	}
	return clientip.Client{Addr: peer}.Key()
}

// peerOf returns the address of a peer; the zero Addr if it has none, as on a Unix socket.
func peerOf(conn net.Conn) netip.Addr {
	if tcp, ok := conn.RemoteAddr().(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr().Unmap().WithZone("")
	}
	return netip.Addr{}
}

type boundListener struct {
	net.Listener
	bounds *Connections
}

// Accept waits for the next connection within the bounds.
func (l boundListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		peer := peerOf(conn)
		by := limit.Holder{Client: l.bounds.client(peer)}
		if l.bounds.slots.Take(by) {
			return &boundConn{Conn: conn, free: sync.OnceFunc(func() { l.bounds.slots.Free(by) })}, nil
		}
		_ = conn.Close()
		l.bounds.refused(clientip.Client{Addr: peer}.IP())
	}
}

// Handler returns next with the same bounds for requests over HTTP/2, which share connections: each
// counts as a connection of its own until its answer has gone to the kernel. Where a client does not
// read, that takes until a deadline, and the headers are in memory for as long. So the connection of
// one too many is closed at once.
func (c *Connections) Handler(next http.Handler) http.Handler {
	if c == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor < 2 {
			next.ServeHTTP(w, r)
			return
		}
		at, _ := netip.ParseAddrPort(r.RemoteAddr) // a Unix socket has none
		peer := at.Addr().Unmap().WithZone("")
		by := limit.Holder{Client: c.client(peer)}
		if !c.slots.Take(by) {
			c.refused(clientip.Client{Addr: peer}.IP())
			if conn, ok := r.Context().Value(connKey{}).(net.Conn); ok {
				_ = innermost(conn).Close() // that of crypto/tls would write first, to a peer that may not read
			}
			panic(http.ErrAbortHandler)
		}
		defer c.slots.Free(by)
		next.ServeHTTP(w, r)
		_ = http.NewResponseController(w).Flush() // net/http keeps an answer of less than 4 KiB until the handler has returned
	})
}

// connKey finds the connection in the context of its requests.
type connKey struct{}

// innermost returns the connection below those of package crypto/tls and of Connections.
func innermost(c net.Conn) net.Conn {
	for {
		outer, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			return c
		}
		c = outer.NetConn()
	}
}

// A boundConn gives its slot back when it is closed.
type boundConn struct {
	net.Conn
	free func()
}

// Close closes the connection.
func (c *boundConn) Close() error {
	defer c.free()
	return c.Conn.Close()
}

// NetConn returns the connection itself, as that of package crypto/tls does.
func (c *boundConn) NetConn() net.Conn { return c.Conn }
