// Package acmetest provides a certificate authority for tests: Pebble, Let's Encrypt's
// own test server, in this process and on loopback. It validates challenges over HTTP
// and TLS, and resolves every domain to 127.0.0.1.
package acmetest

import (
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/letsencrypt/pebble/v2/ca"
	"github.com/letsencrypt/pebble/v2/db"
	"github.com/letsencrypt/pebble/v2/va"
	"github.com/letsencrypt/pebble/v2/wfe"

	"pushbox/internal/testkit/env"
)

// Options configure a CA.
type Options struct {
	HTTPPort, TLSPort int           // where it validates challenges, instead of 80 and 443
	Validity          time.Duration // of its certificates, in whole seconds; 0: 90 days
}

// A CA is a certificate authority that runs until the test ends.
type CA struct {
	Directory string         // its URL
	RootFile  string         // for tls.acme.ca_file: the root of its own HTTPS
	Issued    *x509.CertPool // the root of the certificates that it issues
	IssuedPEM []byte

	store  *db.MemoryStore
	down   atomic.Bool
	orders atomic.Int64
}

// New starts a certificate authority.
func New(t testing.TB, o Options) *CA {
	t.Helper()
	quiet := log.New(io.Discard, "", 0)
	for name, value := range map[string]string{"PEBBLE_VA_NOSLEEP": "1", "PEBBLE_AUTHZREUSE": "0"} {
		if err := os.Setenv(name, value); err != nil { // Pebble has no other way to set it
			t.Fatal(err)
		}
	}
	store := db.NewMemoryStore()
	profiles := map[string]ca.Profile{"default": {ValidityPeriod: uint64(o.Validity / time.Second)}}
	authority := ca.New(quiet, store, "", "ecdsa", 0, 1, profiles)
	validation := va.New(quiet, o.HTTPPort, o.TLSPort, false, resolver(t), store)
	front := wfe.New(quiet, store, validation, authority, []string{"ca.example"}, false, false, 0, 0)
	c := &CA{store: store, IssuedPEM: authority.GetRootCert(0).PEM(), Issued: x509.NewCertPool()}
	c.Issued.AppendCertsFromPEM(c.IssuedPEM)

	handler := front.Handler()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c.down.Load() {
			panic(http.ErrAbortHandler)
		}
		if strings.HasSuffix(r.URL.Path, "/order-plz") {
			w = &counter{w, &c.orders}
		}
		handler.ServeHTTP(w, r)
	}))
	s.Config.ErrorLog = quiet
	s.StartTLS()
	t.Cleanup(s.Close)
	c.Directory = s.URL + "/dir"
	c.RootFile = filepath.Join(t.TempDir(), "root.pem")
	root := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	env.OK(t, os.WriteFile(c.RootFile, root, 0o600))
	return c
}

// A counter counts the orders that were made. It does not count requests, because Pebble
// refuses one in twenty to test that clients try again.
type counter struct {
	http.ResponseWriter
	made *atomic.Int64
}

// WriteHeader counts answers with the status Created.
func (c *counter) WriteHeader(status int) {
	if status == http.StatusCreated {
		c.made.Add(1)
	}
	c.ResponseWriter.WriteHeader(status)
}

// SetDown makes the CA close every connection without an answer, or answer again.
func (c *CA) SetDown(down bool) { c.down.Store(down) }

// Orders is the number of orders that were made.
func (c *CA) Orders() int64 { return c.orders.Load() }

// AskToRenew makes the CA announce that a certificate must be renewed at once, as if it
// were about to be revoked.
func (c *CA) AskToRenew(leaf *x509.Certificate) error {
	at := time.Now().Add(-time.Hour).UTC()
	window := `{"suggestedWindow":{"start":"` + at.Format(time.RFC3339) + `","end":"` + at.Add(time.Minute).Format(time.RFC3339) + `"}}`
	return c.store.SetARIResponse(leaf.SerialNumber, window)
}

// resolver is a DNS server over TCP that resolves every name to 127.0.0.1.
func resolver(t testing.TB) (address string) {
	t.Helper()
	l := env.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return // the test has ended
			}
			go resolve(conn)
		}
	}()
	return l.Addr().String()
}

// resolve answers the questions of one connection (RFC 1035 section 4).
func resolve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(env.Patience))
	for {
		var size [2]byte
		if _, err := io.ReadFull(conn, size[:]); err != nil {
			return
		}
		question := make([]byte, int(size[0])<<8|int(size[1]))
		if _, err := io.ReadFull(conn, question); err != nil {
			return
		}
		answer := reply(question)
		if _, err := conn.Write(append([]byte{byte(len(answer) >> 8), byte(len(answer))}, answer...)); err != nil {
			return
		}
	}
}

// reply is the answer to a question with one name: an address if the question is for
// IPv4, else none.
func reply(question []byte) []byte {
	const header, typeA = 12, 1
	end := header
	for end < len(question) && question[end] != 0 {
		end += int(question[end]) + 1
	}
	end += 5 // the root, type and class
	if end > len(question) {
		return nil
	}
	asksForA := question[end-3] == typeA && question[end-4] == 0
	answer := append([]byte{question[0], question[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, question[header:end]...)
	if asksForA {
		answer[7] = 1
		answer = append(answer, 0xc0, header, 0, typeA, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1)
	}
	return answer
}
