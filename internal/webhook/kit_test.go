package webhook

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
)

const testSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

var birth = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func targetOf(url string) store.HookTarget {
	return store.HookTarget{URL: secret.New(url), Secret: secret.New(testSecret)}
}

// loopback permits servers of the test.
func loopback() Policy { return Policy{Networks: prefixes("127.0.0.0/8")} }

// patientSender is a sender to which no receiver of the test is too slow.
func patientSender(p Policy, resolver *net.Resolver) *Sender {
	s := NewSender(p, Words{Brand: "Push & Co", Language: "en"}, resolver)
	s.client.Timeout = env.Patience
	t := s.client.Transport.(*http.Transport)
	t.TLSHandshakeTimeout, t.ResponseHeaderTimeout = env.Patience, env.Patience
	return s
}

// A post is a message as it arrived.
type post struct {
	path   string
	header http.Header
	body   []byte
	message
}

// verified reports whether its signature is right.
func (p post) verified() bool {
	var at time.Time
	if n, err := json.Number(p.header.Get("webhook-timestamp")).Int64(); err == nil {
		at = time.Unix(n, 0)
	}
	_, want, err := sign(secret.New(testSecret), p.header.Get("webhook-id"), at, p.body)
	return err == nil && p.header.Get("webhook-signature") == want
}

// A receiver takes messages and answers with what answer says; nil: 204.
type receiver struct {
	*httptest.Server
	posts  chan post
	answer func(p post, n int) int

	mu   sync.Mutex
	seen int
}

func newReceiver(t *testing.T, answer func(p post, n int) int) *receiver {
	t.Helper()
	r := &receiver{posts: make(chan post, 10000), answer: answer}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	p := post{path: q.URL.Path, header: q.Header}
	p.body, _ = io.ReadAll(q.Body)
	_ = json.Unmarshal(p.body, &p.message)
	r.mu.Lock()
	r.seen++
	n := r.seen
	r.mu.Unlock()
	status := http.StatusNoContent
	if r.answer != nil {
		status = r.answer(p, n)
	}
	r.posts <- p
	w.Header().Set("Location", "/elsewhere")
	w.WriteHeader(status)
}

// next is the next message to arrive.
func (r *receiver) next(t *testing.T) post {
	t.Helper()
	select {
	case p := <-r.posts:
		return p
	case <-time.After(env.Patience):
		t.Fatal("nothing arrived")
		return post{}
	}
}

// A names answers look-ups with the addresses that it is told, one list after the
// other, the last again and again.
type names struct {
	t     *testing.T
	mu    sync.Mutex
	lists [][]string
	asked int
}

// resolver asks names in place of a server.
func (n *names) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		go n.serve(there)
		return here, nil
	}}
}

// serve answers one question, in the form that a stream has.
func (n *names) serve(c net.Conn) {
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(env.Patience))
	var length [2]byte
	if _, err := io.ReadFull(c, length[:]); err != nil {
		return
	}
	q := make([]byte, int(length[0])<<8|int(length[1]))
	if _, err := io.ReadFull(c, q); err != nil {
		return
	}
	b := n.answer(q)
	_, _ = c.Write(append([]byte{byte(len(b) >> 8), byte(len(b))}, b...))
}

func (n *names) answer(question []byte) []byte {
	var m dnsmessage.Message
	if err := m.Unpack(question); err != nil {
		n.t.Error(err)
		return nil
	}
	n.mu.Lock()
	list := n.lists[min(n.asked/2, len(n.lists)-1)] // each look-up asks for IPv4 and for IPv6
	n.asked++
	n.mu.Unlock()
	m.Response, m.Authoritative = true, true
	for _, text := range list {
		addr, name := netip.MustParseAddr(text), m.Questions[0].Name
		head := dnsmessage.ResourceHeader{Name: name, Class: dnsmessage.ClassINET}
		switch {
		case addr.Is4() && m.Questions[0].Type == dnsmessage.TypeA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AResource{A: addr.As4()}})
		case addr.Is6() && m.Questions[0].Type == dnsmessage.TypeAAAA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AAAAResource{AAAA: addr.As16()}})
		}
	}
	b, err := m.Pack()
	if err != nil {
		n.t.Error(err)
	}
	return b
}
