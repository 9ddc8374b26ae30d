package servertest

import (
	"context"
	"net"
	"testing"

	"pushbox/config"
)

// InMemory is New for a bubble of testing/synctest. Its connections are pipes: a wait for
// one lets the time of the bubble advance, and nothing buffers what is not read.
func InMemory(t *testing.T, changes ...func(*config.Config)) *Server {
	t.Helper()
	cfg := settings(changes)
	p := &pipes{conns: make(chan net.Conn)}
	p.open, p.close = context.WithCancel(ctx)
	return start(t, cfg, fixture(t, cfg), p)
}

// pipes is a listener whose clients call dial.
type pipes struct {
	conns chan net.Conn
	open  context.Context
	close func()
}

// Accept returns the next connection.
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.open.Done():
		return nil, net.ErrClosed
	}
}

// Close ends Accept.
func (p *pipes) Close() error {
	p.close()
	return nil
}

// Addr returns what a URL has in place of an address.
func (*pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

func (p *pipes) dial() net.Conn {
	client, server := net.Pipe()
	p.conns <- server
	return client
}
