package httpd

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

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
	headers *limit.Slots // see boundConn
	proxies atomic.Pointer[clientip.Proxies]
	refused func(peer string) // is told
}

// NewConnections returns bounds that Set has not set yet: nothing may connect. refused is
// called for each connection that is closed, and each request that is refused, with the address of its peer, or an empty
// text.
func NewConnections(refused func(peer string)) *Connections {
	c := &Connections{slots: limit.NewSlots(0), headers: limit.NewSlots(maxLarge), refused: refused}
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
			return newBoundConn(conn, l.bounds, by), nil
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
		conn, _ := r.Context().Value(connKey{}).(*boundConn)
		if conn != nil {
			conn.begin()
			defer conn.end()
		}
		at, _ := netip.ParseAddrPort(r.RemoteAddr) // a Unix socket has none
		peer := at.Addr().Unmap().WithZone("")
		by := limit.Holder{Client: c.client(peer)}
		if !c.slots.Take(by) {
			c.refused(clientip.Client{Addr: peer}.IP())
			if conn != nil {
				_ = conn.Close() // that of crypto/tls would write first, to a peer that may not read
			}
			panic(http.ErrAbortHandler)
		}
		defer c.slots.Free(by)
		next.ServeHTTP(w, r)
		_ = r.Body.Close()                        // what has come of a body is in memory as long as the handler runs
		_ = http.NewResponseController(w).Flush() // net/http keeps an answer of less than 4 KiB until the handler has returned
	})
}

// connKey finds the *boundConn in the context of its requests; nil without Connections.
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

// boundOf returns the connection of Connections below that of package crypto/tls; nil if there is none.
func boundOf(c net.Conn) *boundConn {
	for c != nil {
		if bound, ok := c.(*boundConn); ok {
			return bound
		}
		outer, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			return nil
		}
		c = outer.NetConn()
	}
	return nil
}

// noteState is the http.Server.ConnState of connections over HTTP/1: a header was read, or nothing is left of its request.
func noteState(c net.Conn, state http.ConnState) {
	bound := boundOf(c)
	switch {
	case bound == nil || isHTTP2(c): // see Handler
	case state == http.StateActive:
		bound.begin()
	case state == http.StateIdle:
		bound.rest()
	}
}

// isHTTP2 reports whether the connection of a request uses HTTP/2, which it does over TLS alone.
func isHTTP2(c net.Conn) bool {
	encrypted, ok := c.(*tls.Conn)
	return ok && encrypted.ConnectionState().NegotiatedProtocol == "h2"
}

const (
	usualHeader = 4 << 10         // bytes of a header, with those of a TLS handshake before it
	maxLarge    = 256             // larger headers that have not ended
	maxAhead    = 32 << 10        // bytes that are read while the peer lets a write wait
	maxHeld     = 5 * time.Second // that reads may wait so, without a request
)

// A boundConn gives its slots back when it is closed, and bounds what net/http keeps of a peer that
// does not end what it sends, or does not read:
//
// While a header arrives, net/http uses many times its length in memory, before fewFields sees it. So a header
// that is larger than usual needs a slot until it ends, for headerTimeout at most. These slots are shared like
// connections, and a header that gets none ends its connection. What may be in a buffer with a header counts like it.
// So do frames of HTTP/2 while there is no request; after the first one there may be more of them, about what is
// still on its way.
//
// Over HTTP/2, net/http keeps up to 10,000 answers to control frames. So reads wait while a write waits, and where there
// is no request, the connection ends soon.
type boundConn struct {
	net.Conn
	bounds *Connections
	by     limit.Holder

	mu      sync.Mutex
	wrote   sync.Cond   // a write, or the connection, has ended
	writing int         // writes that run
	ahead   int         // bytes read since a write began
	came    int         // bytes that may belong to the present header
	most    int         // bytes of a header without a slot
	waits   int         // deadlines of reads since the end of the last request over HTTP/1
	emptied bool        // something came before the second of them
	running int         // requests whose headers have ended, and over HTTP/1 whose bodies have not
	large   *time.Timer // the header has a slot, until then; nil: it has none
	closed  bool
}

func newBoundConn(conn net.Conn, bounds *Connections, by limit.Holder) *boundConn {
	c := &boundConn{Conn: conn, bounds: bounds, by: by, most: usualHeader, waits: waitsForHeader}
	c.wrote.L = &c.mu
	return c
}

var errLarge = errors.New("too many large headers at once")

// Read reads what arrived, or closes the connection if that belongs to a large header without a slot.
// It waits while a write does, which has a deadline.
func (c *boundConn) Read(p []byte) (int, error) {
	if !c.took(0) {
		return 0, c.refuse()
	}
	c.awaitWrites()
	n, err := c.Conn.Read(p)
	if n > 0 && !c.took(n) {
		return 0, c.refuse()
	}
	return n, err
}

func (c *boundConn) refuse() error {
	c.bounds.refused(clientip.Client{Addr: peerOf(c.Conn)}.IP())
	return errors.Join(errLarge, c.Close())
}

// awaitWrites waits while the peer does not read what is written.
func (c *boundConn) awaitWrites() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.writing == 0 || c.ahead < maxAhead {
		return
	}
	defer time.AfterFunc(maxHeld, c.endUnread).Stop()
	for c.writing > 0 && c.ahead >= maxAhead && !c.closed {
		c.wrote.Wait()
	}
}

// endUnread closes a connection whose reads have waited too long, if it has no request.
func (c *boundConn) endUnread() {
	c.mu.Lock()
	running := c.running
	c.mu.Unlock()
	if running == 0 {
		_ = c.Close()
	}
}

// Write writes p.
func (c *boundConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	if c.writing++; c.writing == 1 {
		c.ahead = 0
	}
	c.mu.Unlock()
	n, err := c.Conn.Write(p)
	c.mu.Lock()
	c.writing--
	c.wrote.Broadcast()
	c.mu.Unlock()
	return n, err
}

// took counts n bytes that arrived, and reports whether the connection may keep what it has.
func (c *boundConn) took(n int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n > 0 && c.running == 0 && c.waits < waitsForHeader && !c.emptied {
		c.came, c.emptied = 0, true // net/http waits for the next header, so it has used all that came before
	}
	c.ahead, c.came = c.ahead+n, c.came+n
	if c.running > 0 || c.waits < waitsForHeader || c.came <= c.most || c.large != nil || c.closed {
		return true
	}
	if !c.bounds.headers.Take(c.by) {
		return false
	}
	c.large = time.AfterFunc(headerTimeout, func() { _ = c.Close() })
	return true
}

// begin notes that the header of a request has ended.
func (c *boundConn) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running++
	c.freeLarge()
}

// end notes that a request over HTTP/2 has ended. As much of its body as fits into the buffers may still arrive.
func (c *boundConn) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running, c.came, c.most = c.running-1, 0, maxAhead+maxUnread
}

// rest notes that the request over HTTP/1 has ended, with its body. The next header may be in what came with it.
func (c *boundConn) rest() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running, c.waits, c.emptied = 0, 0, false
}

// waitsForHeader is how many deadlines net/http sets over HTTP/1 from the end of a request to the first byte of the next
// header: one to wait for that byte, and one for the header.
const waitsForHeader = 2

// SetReadDeadline sets the deadline of reads.
func (c *boundConn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	if c.running == 0 {
		c.waits = min(c.waits+1, waitsForHeader)
	}
	c.mu.Unlock()
	return c.Conn.SetReadDeadline(t)
}

// freeLarge gives the slot of a large header back.
func (c *boundConn) freeLarge() {
	if c.large != nil {
		c.large.Stop()
		c.bounds.headers.Free(c.by)
	}
	c.large = nil
}

// Close closes the connection.
func (c *boundConn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.closed = true
		c.wrote.Broadcast()
		c.freeLarge()
		defer c.bounds.slots.Free(c.by)
	}
	return c.Conn.Close()
}

// CloseWrite tells the peer that nothing more comes, where the connection can.
func (c *boundConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// NetConn returns the connection itself, as that of package crypto/tls does.
func (c *boundConn) NetConn() net.Conn { return c.Conn }
