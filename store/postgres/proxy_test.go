package postgres_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
)

// What a proxy does with a statement.
type deed int

const (
	dropAnswer deed = iota // the server does it, and the answer is lost with the connection
	dropAsked              // the connection is lost before the server gets it
	holdAnswer             // the server does it, and the answer never comes
	holdAsked              // the server gets it just before the next such statement, and the answer is lost
)

// A proxy is between an engine and its database, and understands as much of the
// protocol as it needs to lose one statement.
type proxy struct {
	dir    string
	target string
	listen net.Listener

	mu     sync.Mutex
	mark   string // part of the statement; empty: none
	deed   deed
	then   func() // called when the statement is lost, before the client learns it; nil: nothing
	fired  int
	parsed map[string]int // how often the server was to parse a statement
	next   string         // part of the statement before which a held one goes; empty: none is held
	held   *held          // the one that waits, if next is set
	refuse bool           // connections that begin
	all    map[net.Conn]bool
}

// A held statement is one that the server gets later.
type held struct {
	goes   chan struct{} // closed when it may go
	landed chan struct{} // closed when the server has done it
}

// A loss is what happens to a statement.
type loss struct {
	deed deed
	then func()
	held *held // with holdAsked
}

// newProxy starts a proxy in front of the database at url, and returns its address.
func newProxy(t *testing.T, url secret.Text) (*proxy, secret.Text) {
	t.Helper()
	dir, err := os.MkdirTemp("", "px")
	env.OK(t, err)
	was, rest, _ := strings.Cut(strings.TrimPrefix(url.Reveal(), "host="), " ")
	p := &proxy{dir: dir, target: filepath.Join(was, ".s.PGSQL.5432"), parsed: make(map[string]int), all: make(map[net.Conn]bool)}
	if p.listen, err = net.Listen("unix", filepath.Join(dir, ".s.PGSQL.5432")); err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			c, err := p.listen.Accept()
			if err != nil {
				return
			}
			running.Go(func() { p.serve(c) })
		}
	})
	t.Cleanup(func() {
		p.cutAll()
		if err := errors.Join(p.listen.Close(), os.RemoveAll(dir)); err != nil {
			t.Error(err)
		}
		running.Wait()
	})
	return p, secret.New("host=" + dir + " " + rest)
}

// lose has the proxy do this with the next statement that has such a part.
func (p *proxy) lose(mark string, d deed) { p.loseAnd(mark, d, func() {}) }

// loseAnd is lose that calls then when the statement is lost, before the client learns it.
func (p *proxy) loseAnd(mark string, d deed, then func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mark, p.deed, p.then = mark, d, then
}

// lost is how many statements were lost.
func (p *proxy) lost() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fired
}

func (p *proxy) count(statement string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.parsed[statement]++
}

// parses is how often the server was to parse statements that have such a part.
func (p *proxy) parses(mark string) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for statement, times := range p.parsed {
		if strings.Contains(statement, mark) {
			n += times
		}
	}
	return n
}

// away has the proxy refuse connections, or take them again.
func (p *proxy) away(refuse bool) {
	p.mu.Lock()
	p.refuse = refuse
	p.mu.Unlock()
	if refuse {
		p.cutAll()
	}
}

func (p *proxy) cutAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.all {
		_ = c.Close() // it may be closed
	}
}

func (p *proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all[c] = true
	return !p.refuse
}

// take reports whether the statement is the one to be lost, and how.
func (p *proxy) take(statement string) (l loss, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mark == "" || !strings.Contains(statement, p.mark) {
		return loss{}, false
	}
	l = loss{deed: p.deed, then: p.then}
	if l.deed == holdAsked {
		l.held = &held{goes: make(chan struct{}), landed: make(chan struct{})}
		p.next, p.held = p.mark, l.held
	}
	p.mark = ""
	p.fired++
	return l, true
}

// goBefore has a held statement go before the next one that has such a part.
func (p *proxy) goBefore(mark string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next = mark
}

// letHeldGo lets a held statement go before one that it waits for, and waits until the server
// has done it.
func (p *proxy) letHeldGo(statement string) {
	p.mu.Lock()
	var first *held
	if p.next != "" && strings.Contains(statement, p.next) {
		first, p.next, p.held = p.held, "", nil
	}
	p.mu.Unlock()
	if first != nil {
		close(first.goes)
		<-first.landed
	}
}

func (p *proxy) serve(client net.Conn) {
	defer client.Close()
	if !p.keep(client) {
		return
	}
	server, err := net.Dial("unix", p.target)
	if err != nil {
		return
	}
	defer server.Close()
	p.keep(server)
	w := &wire{proxy: p, client: client, server: server, lose: make(chan loss, 1)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.answers()
	}()
	w.asks()
	<-done
}

// A wire is one connection through a proxy.
type wire struct {
	proxy          *proxy
	client, server net.Conn
	lose           chan loss // has a value while the answer to the last statements is to be lost
}

// message reads a message of the protocol, with its head.
func message(r io.Reader, typed bool) ([]byte, error) {
	head := make([]byte, 4)
	if typed {
		head = make([]byte, 5)
	}
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	m := append(head, make([]byte, binary.BigEndian.Uint32(head[len(head)-4:])-4)...)
	_, err := io.ReadFull(r, m[len(head):])
	return m, err
}

// asks passes on what the client asks, all statements up to a Sync at once.
func (w *wire) asks() {
	defer w.server.Close()
	r := bufio.NewReader(w.client)
	m, err := message(r, false)
	var waiting []byte
	statement, named := "", make(map[string]string)
	var held *held
	for lost := false; err == nil; m, err = message(r, true) {
		waiting = append(waiting, m...)
		switch m[0] {
		case 'P': // Parse: name, statement
			name, rest, _ := bytes.Cut(m[5:], []byte{0})
			text, _, _ := bytes.Cut(rest, []byte{0})
			named[string(name)] = string(text)
			w.proxy.count(string(text))
		case 'B': // Bind: portal, name
			_, rest, _ := bytes.Cut(m[5:], []byte{0})
			name, _, _ := bytes.Cut(rest, []byte{0})
			statement = named[string(name)]
		case 'Q': // Query: a statement without arguments, such as a commit
			text, _, _ := bytes.Cut(m[5:], []byte{0})
			statement = string(text)
			fallthrough
		case 'E': // Execute
			w.proxy.letHeldGo(statement)
			if l, ok := w.proxy.take(statement); ok {
				l.then()
				if l.deed == dropAsked {
					_ = w.client.Close()
					return
				}
				held, lost = l.held, true
				w.lose <- l
			}
		}
		if m[0] == 'S' || m[0] == 'Q' || m[0] == 'X' || m[0] == 0 || m[0] == 'p' || m[0] == 'd' || m[0] == 'c' || !lost && len(waiting) > 1<<20 {
			if held != nil {
				<-held.goes
			}
			if _, err := w.server.Write(waiting); err != nil {
				return
			}
			if held != nil {
				<-held.landed
				return
			}
			waiting, lost = nil, false
		}
	}
}

// answers passes on what the server answers.
func (w *wire) answers() {
	defer w.client.Close()
	r := bufio.NewReader(w.server)
	for {
		m, err := message(r, true)
		if err != nil {
			return
		}
		select {
		case l := <-w.lose:
			for m[0] != 'Z' { // until the transaction has ended
				if m, err = message(r, true); err != nil {
					return
				}
			}
			if l.held != nil {
				close(l.held.landed)
			}
			if l.deed != holdAnswer {
				return
			}
			_, _ = io.Copy(io.Discard, r) // until the client gives up
			return
		default:
		}
		if _, err := w.client.Write(m); err != nil {
			return
		}
	}
}
