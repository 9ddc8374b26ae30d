// Package mailtest provides an SMTP server for tests, which accepts and refuses mail as
// its Setup says.
package mailtest

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/mail"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"pushbox/internal/testkit/certtest"
	"pushbox/internal/testkit/env"
)

// A Setup configures a server. The zero value accepts all mail, without encryption.
type Setup struct {
	Listener net.Listener // nil: a new one, of this machine
	StartTLS bool         // offer STARTTLS
	Implicit bool         // encrypt from the first byte
	Name     string       // in its certificate; empty: 127.0.0.1
	Plain    bool         // offer to sign in without encryption, too
	User     string       // require this user, with the password "right"

	// Refuse returns the error for a recipient that is given for the nth time, from 1.
	// Without it the server accepts every recipient.
	Refuse func(to string, n int) *smtp.SMTPError
	// RefuseFrom is the same for senders, without a count.
	RefuseFrom func(from string) *smtp.SMTPError
}

// Reply returns a refusal.
func Reply(code int, message string) *smtp.SMTPError {
	return &smtp.SMTPError{Code: code, EnhancedCode: smtp.NoEnhancedCode, Message: message}
}

// A Mail is a mail that the server has accepted.
type Mail struct {
	From, To string // of the envelope
	Header   mail.Header
	Raw      []byte
	User     string // that was signed in
}

// A Server is an SMTP server on a real listener.
type Server struct {
	Host  string
	Port  int
	Roots *x509.CertPool // that verify its certificate
	PEM   []byte         // the same, as PEM

	setup  Setup
	server *smtp.Server

	mu     sync.Mutex
	mails  []Mail
	asked  map[string]int
	open   int // mails that have a sender and are not accepted yet
	most   int // greatest value of open
	signed int // number of sign-ins
	fresh  chan struct{}
}

// New starts a server that runs until the test ends.
func New(t testing.TB, setup Setup) *Server {
	t.Helper()
	if setup.Name == "" {
		setup.Name = "127.0.0.1"
	}
	certificate, authority := certtest.New(t, setup.Name)
	s := &Server{setup: setup, asked: make(map[string]int), fresh: make(chan struct{}, 1), PEM: authority, Roots: x509.NewCertPool()}
	s.Roots.AppendCertsFromPEM(authority)
	s.server = smtp.NewServer(backend{s})
	s.server.Domain, s.server.ReadTimeout, s.server.WriteTimeout = "mail.test", env.Patience, env.Patience
	s.server.AllowInsecureAuth = setup.Plain
	s.server.ErrorLog = log.New(io.Discard, "", 0)
	config := &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	if setup.StartTLS {
		s.server.TLSConfig = config
	}
	l := setup.Listener
	if l == nil {
		l = env.Listen(t)
	}
	at := l.Addr().(*net.TCPAddr)
	s.Host, s.Port = at.IP.String(), at.Port
	if setup.Implicit {
		l = tls.NewListener(l, config)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.server.Serve(l) // the error is that it was closed
	}()
	t.Cleanup(func() {
		s.Close()
		_ = l.Close() // if Serve has not begun, Close does not know of it
		<-ended
	})
	return s
}

// Close stops the server and closes its connections.
func (s *Server) Close() { _ = s.server.Close() }

// Mails returns the accepted mails, in the order of their arrival.
func (s *Server) Mails() []Mail {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Mail(nil), s.mails...)
}

// Asked is how often a recipient was given.
func (s *Server) Asked(to string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[to]
}

// Counts returns the greatest number of mails in transfer at the same time, and the
// number of sign-ins.
func (s *Server) Counts() (mails, signed int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.most, s.signed
}

// Wait waits until n mails were accepted, and returns them.
func (s *Server) Wait(t testing.TB, n int) []Mail {
	t.Helper()
	end := time.NewTimer(env.Patience)
	defer end.Stop()
	for {
		if all := s.Mails(); len(all) >= n {
			return all
		}
		select {
		case <-s.fresh:
		case <-end.C:
			t.Fatalf("%d mails were accepted, not %d", len(s.Mails()), n)
		}
	}
}

type backend struct{ *Server }

func (b backend) NewSession(*smtp.Conn) (smtp.Session, error) {
	s := &session{server: b.Server}
	if b.setup.User == "" {
		return s, nil
	}
	return &signedSession{s}, nil
}

// A session is one connection.
type session struct {
	server         *Server
	user, from, to string
	sending        bool
}

// A signedSession is a session on a server that requires a user.
type signedSession struct{ *session }

func (s *signedSession) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *signedSession) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != s.server.setup.User || password != "right" {
			return smtp.ErrAuthFailed
		}
		s.server.mu.Lock()
		defer s.server.mu.Unlock()
		s.server.signed++
		s.user = user
		return nil
	}), nil
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	setup := s.server.setup
	if setup.User != "" && s.user == "" {
		return smtp.ErrAuthRequired
	}
	if setup.RefuseFrom != nil {
		if err := setup.RefuseFrom(from); err != nil {
			return err
		}
	}
	s.from = from
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	s.sending = true
	s.server.open++
	s.server.most = max(s.server.most, s.server.open)
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.server.mu.Lock()
	s.server.asked[to]++
	n := s.server.asked[to]
	s.server.mu.Unlock()
	if s.server.setup.Refuse != nil {
		if err := s.server.setup.Refuse(to, n); err != nil {
			return err
		}
	}
	s.to = to
	return nil
}

func (s *session) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	m, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		return Reply(554, "that is no mail")
	}
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	s.server.mails = append(s.server.mails, Mail{From: s.from, To: s.to, Header: m.Header, Raw: raw, User: s.user})
	select {
	case s.server.fresh <- struct{}{}:
	default:
	}
	return nil
}

func (s *session) Reset() {
	s.from, s.to = "", ""
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	if s.sending {
		s.sending = false
		s.server.open--
	}
}

func (s *session) Logout() error {
	s.Reset()
	return nil
}
