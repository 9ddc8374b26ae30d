package mail

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pushbox/internal/lang"
	"pushbox/internal/retry"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/mailtest"
	"pushbox/store"
	"pushbox/store/clock"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// A world is a store that mail waits in, and a mailer that can be started and stopped.
type world struct {
	*storetest.Fixture
	t      *testing.T
	ann    store.Actor
	log    *bytes.Buffer // to be read after stop
	tuning tuning
	server *Server
	mailer *Mailer // since start
	stop   func()
}

func newWorld(t *testing.T, changes ...func(*storetest.Setup)) *world {
	t.Helper()
	setup := func(s *storetest.Setup) {
		s.Clock = clock.NewSystem()
		s.Mail = store.MailOptions{Languages: lang.Tags(), MaxRecipients: 5, PerAccount: 100, PerInstance: 1000, GiveUp: time.Hour}
	}
	w := &world{Fixture: storetest.New(t, append([]func(*storetest.Setup){setup}, changes...)...), t: t, log: new(bytes.Buffer), stop: func() {}, tuning: usualTuning()}
	quick := retry.Policy{First: 10 * time.Millisecond, Most: 50 * time.Millisecond}
	w.tuning.retry, w.tuning.server, w.tuning.rest, w.tuning.idle = quick, quick, time.Millisecond, 10*time.Millisecond
	w.tuning.store = env.Patience
	w.ann = w.Account("ann@example.com")
	return w
}

// through is the way to a server for tests.
func through(s *mailtest.Server, e Encryption) *Server {
	return &Server{Host: s.Host, Port: s.Port, Encryption: e, Roots: s.Roots, From: mail.Address{Name: "Push & Co", Address: "push@example.org"}}
}

// start runs a mailer until stop, at the latest until the test ends.
func (w *world) start() {
	w.t.Helper()
	m := New(Options{Store: w.Store, Server: w.server, Brand: "Push & Co", Base: "https://push.example", Language: "en", Log: zerolog.New(zerolog.SyncWriter(w.log))})
	m.tuning, w.mailer = w.tuning, m
	w.stop = env.Run(w.t, m.Run)
}

// send makes a push whose link goes to these addresses.
func (w *world) send(to string, changes ...func(*store.NewPush)) store.PushInfo {
	w.t.Helper()
	in := store.NewPush{
		Kind: record.Text, Payload: secret.New("payload-marker"), Name: secret.New("name-marker"), Note: secret.New("note-marker"),
		Mail: &store.MailRequest{To: secret.New(to), Base: "https://push.example"},
	}
	for _, change := range changes {
		change(&in)
	}
	return env.Must(w.CreatePush(w.t.Context(), w.ann, in))(w.t)
}

func linkOf(p store.PushInfo) secret.Text {
	return secret.New("https://push.example/p/" + p.Token.Reveal() + "/r")
}

// drained returns when no mail waits.
func (w *world) drained() {
	w.t.Helper()
	env.Eventually(w.t, "no mail waits", func() bool { return w.Waiting() == 0 })
}

// wantLog stops the mailer, and fails the test unless the log has these texts, and
// nothing of an address or a link.
func (w *world) wantLog(texts ...string) {
	w.t.Helper()
	w.stop()
	for _, text := range texts {
		env.Contains(w.t, "the log", w.log.String(), text)
	}
	if strings.ContainsAny(w.log.String(), "@") || strings.Contains(w.log.String(), "marker") || strings.Contains(w.log.String(), "/p/") || len(texts) == 0 && w.log.Len() > 0 {
		w.t.Errorf("the log has\n%s", w.log)
	}
}

// parts are the texts of a mail by their types.
func parts(t *testing.T, m mailtest.Mail) map[string]string {
	t.Helper()
	message := env.Must(mail.ReadMessage(bytes.NewReader(m.Raw)))(t)
	media, params, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	if err != nil || media != "multipart/alternative" {
		t.Fatalf("it is %s, %v", media, err)
	}
	all := make(map[string]string)
	r := multipart.NewReader(message.Body, params["boundary"])
	for {
		p, err := r.NextRawPart()
		if errors.Is(err, io.EOF) {
			return all
		}
		env.OK(t, err)
		media, _, _ := mime.ParseMediaType(p.Header.Get("Content-Type"))
		if encoding := p.Header.Get("Content-Transfer-Encoding"); encoding != "quoted-printable" {
			t.Fatalf("a part is encoded as %s", encoding)
		}
		text := env.Must(io.ReadAll(quotedprintable.NewReader(p)))(t)
		all[media] = strings.ReplaceAll(string(text), "\r\n", "\n")
	}
}

// subject is the subject of a mail.
func subject(t *testing.T, m mailtest.Mail) string {
	t.Helper()
	return env.Must(new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject")))(t)
}

// recipients are those of mails, in their order.
func recipients(ms []mailtest.Mail) (to string) {
	for _, m := range ms {
		to += fmt.Sprint(m.To, " ")
	}
	return to
}

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
		"with TLS to a server that has none": {how: Implicit, says: "does not use TLS"},
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
				if err != nil || len(got) != 1 || got[0].To != "bob@example.net" || got[0].User != to.User || !strings.Contains(parts(t, got[0])["text/plain"], "Mail can be delivered") {
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
	l := env.Listen(t)
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
