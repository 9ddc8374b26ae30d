//go:build linux

package proxy

import (
	"bytes"
	"errors"
	"net"
	"sync"
	"testing"

	"pushbox/internal/testkit/env"
)

// A relay passes connections on to an address. It can be away, and it can lose the answer to
// one request: the server has done what was asked, and the connection ends.
type relay struct {
	listener        net.Listener
	network, target string

	mu    sync.Mutex
	away  bool
	conns map[net.Conn]bool
	mark  []byte // part of the request whose answer is to be lost; empty: none
	seen  int    // how often that was sent
	warm  bool   // whether its connection had served a request before
}

// newRelay starts a relay to a server. It ends with the test.
func newRelay(t *testing.T, network, target string) *relay {
	t.Helper()
	l := env.Listen(t)
	r := &relay{listener: l, network: network, target: target, conns: make(map[net.Conn]bool)}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() { r.serve(c) })
		}
	})
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		r.goAway()
		running.Wait()
	})
	return r
}

// address is where the relay listens.
func (r *relay) address() string { return r.listener.Addr().String() }

// goAway ends all connections, and each that begins, as a server does that is down.
func (r *relay) goAway() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.away = true
	for c := range r.conns {
		_ = c.Close() // it may be closed
	}
}

// comeBack has the relay pass connections on again.
func (r *relay) comeBack() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.away = false
}

// lose has the relay lose the answer to the next request that has the mark.
func (r *relay) lose(mark string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mark, r.seen, r.warm = []byte(mark), 0, false
}

// outcome is how often the mark was sent, and whether that was first on a connection that
// had served a request before.
func (r *relay) outcome() (seen int, warm bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen, r.warm
}

// admit keeps connections unless the relay is away.
func (r *relay) admit(all ...net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range all {
		r.conns[c] = true
	}
	return !r.away
}

func (r *relay) forget(all ...net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range all {
		delete(r.conns, c)
	}
}

// serve passes one connection on.
func (r *relay) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial(r.network, r.target)
	if err != nil {
		return
	}
	defer server.Close()
	defer r.forget(client, server)
	if !r.admit(client, server) {
		return
	}
	c := &relayed{relay: r}
	var back sync.WaitGroup
	back.Go(func() {
		_ = errors.Join(pass(client, server, c.answered), client.Close()) // an end of either is an end of both
	})
	_ = errors.Join(pass(server, client, c.asked), server.Close())
	back.Wait()
}

// pass copies until either end closes, or look says that it is enough.
func pass(to, from net.Conn, look func([]byte) bool) error {
	b := make([]byte, 64<<10)
	for {
		n, err := from.Read(b)
		if err != nil || !look(b[:n]) {
			return err
		}
		if _, err := to.Write(b[:n]); err != nil {
			return err
		}
	}
}

// relayed is one connection of a relay.
type relayed struct {
	relay  *relay
	served bool // it has answered a request
	losing bool // the next answer is to be lost
}

func (c *relayed) asked(b []byte) bool {
	r := c.relay
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.mark) > 0 && bytes.Contains(b, r.mark) {
		if r.seen++; r.seen == 1 {
			r.warm, c.losing = c.served, true
		}
	}
	return true
}

func (c *relayed) answered([]byte) bool {
	c.relay.mu.Lock()
	defer c.relay.mu.Unlock()
	c.served = true
	return !c.losing
}
