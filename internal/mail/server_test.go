package mail

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"testing"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/mailtest"
)

func TestMailGoesTheWayThatIsAskedFor(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		setup  mailtest.Setup
		change func(*Server)
		how    Encryption
		says   string // why it fails; empty: it does not
	}{
		"with STARTTLS":                      {setup: mailtest.Setup{StartTLS: true}},
		"encrypted from the first byte":      {setup: mailtest.Setup{Implicit: true}, how: Implicit},
		"in clear text":                      {how: None},
		"in clear text, past STARTTLS":       {setup: mailtest.Setup{StartTLS: true}, how: None},
		"with STARTTLS that was taken away":  {says: "does not offer STARTTLS"},
		"with TLS to a server that has none": {how: Implicit, says: "does not speak TLS"},
		"by an authority that is not known":  {setup: mailtest.Setup{StartTLS: true}, change: func(s *Server) { s.Roots = nil }, says: "authority is not trusted here"},
		"the same, from the first byte":      {setup: mailtest.Setup{Implicit: true}, change: func(s *Server) { s.Roots = nil }, how: Implicit, says: "authority is not trusted here"},
		"to a server with another name":      {setup: mailtest.Setup{StartTLS: true, Name: "mail.example.net"}, says: "for another name than mail.host"},
		"the same, with TLS at first":        {setup: mailtest.Setup{Implicit: true, Name: "mail.example.net"}, how: Implicit, says: "for another name than mail.host"},

		"signed in":                          {setup: mailtest.Setup{StartTLS: true, User: "push"}, change: user("push", "right")},
		"signed in, TLS at first":            {setup: mailtest.Setup{Implicit: true, User: "push"}, change: user("push", "right"), how: Implicit},
		"signed in, in clear text":           {setup: mailtest.Setup{Plain: true, User: "push"}, change: user("push", "right"), how: None},
		"with a wrong password":              {setup: mailtest.Setup{StartTLS: true, User: "push"}, change: user("push", "wrong"), says: "refuses mail.user and its password"},
		"without the user that it wants":     {setup: mailtest.Setup{StartTLS: true, User: "push"}, says: "refuses mail from"},
		"with a user where there are none":   {setup: mailtest.Setup{StartTLS: true}, change: user("push", "right"), says: "offers no supported way to sign in"},
		"to a port where nothing listens":    {change: func(s *Server) { s.Port = 1 }, says: "refuses connections"},
		"to a name that does not resolve":    {change: func(s *Server) { s.Host = "mail.invalid" }, says: "does not resolve"},
		"with a password past STARTTLS gone": {setup: mailtest.Setup{Plain: true, User: "push"}, change: user("push", "right"), says: "does not offer STARTTLS"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := mailtest.New(t, test.setup)
			to := through(s, test.how)
			if test.change != nil {
				test.change(to)
			}
			if err := to.Check(t.Context()); (err == nil) != (test.says == "" || test.says == "refuses mail from") || len(s.Mails()) > 0 { // which comes later
				t.Errorf("a look at it: %v", err)
			}
			err := to.Test(t.Context(), "bob@example.net", "Push & Co")
			got := s.Mails()
			if test.says == "" {
				if err != nil || len(got) != 1 || got[0].To != "bob@example.net" || got[0].User != to.User || !strings.Contains(parts(t, got[0])["text/plain"], "Mail arrives") {
					t.Errorf("%v: %+v", err, got)
				}
				return
			}
			_, signed := s.Counts()
			if err == nil || !strings.Contains(err.Error(), test.says) || len(got) > 0 || signed > 0 {
				t.Errorf("%v: %d mails were taken, a client signed in %d times", err, len(got), signed)
			}
		})
	}
}

func user(name, password string) func(*Server) {
	return func(s *Server) { s.User, s.Password = name, secret.New(password) }
}

// A server that says nothing is left when the caller's context ends.
func TestASilentServerIsLeft(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	env.OK(t, err)
	defer l.Close()
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		if c, err := l.Accept(); err == nil {
			t.Cleanup(func() { _ = c.Close() })
		}
		leave()
	}()
	s := Server{Host: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port, Encryption: None}
	var f *Failure
	if err := s.Test(ctx, "bob@example.net", "x"); !errors.As(err, &f) || !f.Session || errors.Is(f.err, os.ErrDeadlineExceeded) {
		t.Errorf("it ends with %v: %s", err, f.Detail())
	}
}
