package mail

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/mailtest"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

func TestTheLinkIsSentToEachRecipientAlone(t *testing.T) {
	t.Parallel()
	s := mailtest.New(t, mailtest.Setup{StartTLS: true})
	w := newWorld(t)
	w.server = through(s, StartTLS)
	first := w.send("bob@example.net, carol@example.net,bob@EXAMPLE.net")
	w.start()
	second := w.send("dan@example.net")
	got := s.Wait(t, 3)
	w.drained()
	w.wantLog()
	if to := recipients(got); to != "bob@example.net carol@example.net dan@example.net " {
		t.Errorf("mail went to %s", to)
	}
	if most, _ := s.Counts(); most != 1 {
		t.Errorf("%d mails were on their way at the same time", most)
	}
	ids := make(map[string]bool)
	for i, m := range got {
		link := linkOf(first).Reveal()
		if i == 2 {
			link = linkOf(second).Reveal()
		}
		ids[m.Header.Get("Message-Id")] = true
		if !strings.Contains(parts(t, m)["text/plain"], "\n\n"+link+"\n\n") || m.From != "push@example.org" || m.Header.Get("To") != "<"+m.To+">" {
			t.Errorf("it came from %s:\n%s", m.From, m.Raw)
		}
	}
	if len(ids) != 3 {
		t.Errorf("the IDs are %v", ids)
	}
}

func TestWhatIsNotTakenNowIsTriedAgainUnderTheSameID(t *testing.T) {
	t.Parallel()
	s := mailtest.New(t, mailtest.Setup{StartTLS: true, Refuse: func(to string, n int) *smtp.SMTPError {
		if to == "grey@example.net" && n < 4 {
			return mailtest.Reply(451, "greylisted: "+to)
		}
		return nil
	}})
	w := newWorld(t)
	w.server = through(s, StartTLS)
	w.send("grey@example.net,white@example.net")
	w.start()
	got := s.Wait(t, 2)
	w.drained()
	w.wantLog()
	if to := recipients(got); to != "white@example.net grey@example.net " || s.Asked("grey@example.net") != 4 {
		t.Errorf("mail went to %s, after %d tries", to, s.Asked("grey@example.net"))
	}
}

func TestARefusedRecipientIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	s := mailtest.New(t, mailtest.Setup{StartTLS: true, Refuse: func(to string, _ int) *smtp.SMTPError {
		if strings.HasPrefix(to, "gone") {
			return mailtest.Reply(550, "there is no "+to)
		}
		return nil
	}})
	w := newWorld(t)
	w.server = through(s, StartTLS)
	w.send("gone@example.net,here@example.net")
	w.start()
	s.Wait(t, 1)
	w.drained()
	w.wantLog(`"code":550`, "refuses the mail permanently", "a mail is dropped")
	if n, f := w.mailer.Dropped(), w.mailer.Failures(); n != 1 || f != 0 {
		t.Errorf("%d dropped, and %d failures of the server", n, f)
	}
	if s.Asked("gone@example.net") != 1 || recipients(s.Mails()) != "here@example.net " {
		t.Errorf("it was asked for %d times", s.Asked("gone@example.net"))
	}
}

func TestARefusedSenderHoldsAllMailUp(t *testing.T) {
	t.Parallel()
	n := 0
	s := mailtest.New(t, mailtest.Setup{StartTLS: true, RefuseFrom: func(from string) *smtp.SMTPError {
		if n++; n <= 3 {
			return mailtest.Reply(553, from+" is not yours")
		}
		return nil
	}})
	w := newWorld(t)
	w.server = through(s, StartTLS)
	w.send("bob@example.net,carol@example.net")
	w.start()
	s.Wait(t, 2)
	w.drained()
	w.wantLog(`"code":553`, "refuses mail from the address mail.from", "mail can be sent again")
}

func TestMailWaitsForAServerThatIsDown(t *testing.T) {
	t.Parallel()
	l := env.Listen(t)
	w := newWorld(t)
	w.server = &Server{Host: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port, Encryption: None, From: mail.Address{Address: "push@example.org"}}
	w.send("bob@example.net")
	w.start()
	for range 3 {
		conn := env.Must(l.Accept())(t)
		_ = conn.Close() // before a greeting
	}
	s := mailtest.New(t, mailtest.Setup{Listener: l})
	s.Wait(t, 1)
	w.drained()
	w.wantLog("the connection to the mail server broke", "mail can be sent again")
}

// The mailer takes codes and news of freezes from the outbox as it takes links, and none of
// it reaches the log.
func TestCodesAndNewsOfAFreezeAreSent(t *testing.T) {
	t.Parallel()
	s := mailtest.New(t, mailtest.Setup{StartTLS: true})
	w := newWorld(t, func(s *storetest.Setup) {
		s.Guessing.PerLife, s.Guessing.PerPush, s.Guessing.PerClient = 1, 0, 0
		s.SignIns.PerClient = 0
	})
	w.server = through(s, StartTLS)
	client := store.Actor{Client: "192.0.2.9"}
	password := secret.New("correct horse battery")
	env.Must(w.SignUp(t.Context(), client, "eve@example.net", password))(t)
	eve := env.Must(w.SignIn(t.Context(), client, "eve@example.net", password))(t)
	env.OK(t, w.MailCode(t.Context(), client, eve.Secret, "fr"))
	w.start()
	first := s.Wait(t, 1)[0]
	w.drained()
	code := strings.Split(parts(t, first)["text/plain"], "\n\n")[1]
	if first.To != "eve@example.net" || subject(t, first) != "Votre code pour Push & Co" || len(code) != 8 {
		t.Errorf("it is to %s:\n%s", first.To, first.Raw)
	}
	if err := w.ConfirmAddress(t.Context(), client, eve.Secret, secret.New(code)); err != nil {
		t.Errorf("the code %s: %v", code, err)
	}
	p, err := w.CreatePush(t.Context(), w.ann, store.NewPush{Kind: record.Text, Payload: secret.New("x"), Passphrase: secret.New("right"), Name: secret.New("name-marker")})
	env.OK(t, err)
	for range 2 {
		if _, err := w.Retrieve(t.Context(), client, p.Token, secret.New("wrong"), nil); err == nil {
			t.Fatal("it is right")
		}
	}
	second := s.Wait(t, 2)[1]
	w.drained()
	text := parts(t, second)["text/plain"]
	if second.To != "ann@example.com" || subject(t, second) != "One of your secrets is locked" || !strings.Contains(text, "\n\nhttps://push.example/p\n\n") || strings.Contains(string(second.Raw), p.Token.Reveal()) || strings.Contains(text, "marker") {
		t.Errorf("it is to %s:\n%s", second.To, second.Raw)
	}
	w.wantLog()
	if strings.Contains(w.log.String(), code) || len(s.Mails()) != 2 {
		t.Errorf("there are %d mails, and the log has\n%s", len(s.Mails()), w.log)
	}
}

func TestMailOfAPushThatHasEndedIsNotSent(t *testing.T) {
	t.Parallel()
	once := 1
	for name, end := range map[string]func(w *world, p store.PushInfo) error{
		"by a delete": func(w *world, p store.PushInfo) error {
			_, err := w.DeletePush(w.t.Context(), w.ann, p.Token)
			return err
		},
		"by its last view": func(w *world, p store.PushInfo) error {
			_, err := w.Retrieve(w.t.Context(), store.Actor{}, p.Token, secret.Text{}, nil)
			return err
		},
		"with its account": func(w *world, _ store.PushInfo) error {
			return w.RemoveAccount(w.t.Context(), storetest.Operator, "ann@example.com")
		},
		"while its account is disabled": func(w *world, _ store.PushInfo) error {
			return w.SetDisabled(w.t.Context(), storetest.Operator, "ann@example.com", true)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := mailtest.New(t, mailtest.Setup{StartTLS: true})
			w := newWorld(t)
			w.server = through(s, StartTLS)
			p := w.send("bob@example.net,carol@example.net", func(in *store.NewPush) { in.Views = &once })
			env.OK(t, end(w, p))
			w.start()
			w.drained()
			w.wantLog()
			if got := s.Mails(); len(got) > 0 {
				t.Errorf("mail went to %s", recipients(got))
			}
		})
	}
}

func TestMailThatCannotBeDeliveredIsGivenUp(t *testing.T) {
	t.Parallel()
	for name, down := range map[string]bool{"by a server that is down": true, "by one that does not take it": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			machine := new(env.Ahead)
			s := mailtest.New(t, mailtest.Setup{StartTLS: true, Refuse: func(string, int) *smtp.SMTPError {
				machine.Advance(time.Hour)
				return mailtest.Reply(450, "later")
			}})
			w := newWorld(t, func(s *storetest.Setup) { s.Clock, s.Mail.GiveUp = machine, time.Hour })
			w.server = through(s, StartTLS)
			if down {
				_, port, _ := net.SplitHostPort(env.FreeAddress(t))
				w.server.Port, _ = strconv.Atoi(port)
			}
			w.send("bob@example.net,carol@example.net")
			w.start()
			if down {
				for end := time.Now().Add(env.Patience); w.mailer.Failures() == 0 && time.Now().Before(end); time.Sleep(time.Millisecond) {
				}
				machine.Advance(time.Hour)
			}
			w.drained()
			w.wantLog("could not be delivered in time (mail.give_up)")
			if n, f := w.mailer.Dropped(), w.mailer.Failures(); n != 2 || (f > 0) != down {
				t.Errorf("%d dropped, and %d failures of the server", n, f)
			}
		})
	}
}

func TestMailThatWaitsIsGivenUpWhereNoneIsSentAnyMore(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *storetest.Setup) { s.Mail.GiveUp = 100 * time.Millisecond })
	w.send("bob@example.net")
	w.start()
	w.drained()
	w.wantLog(`"mails":1`)
}

// A stop in the middle leaves what was not taken for the next run.
func TestAStopLosesNoMail(t *testing.T) {
	t.Parallel()
	reached, release := make(chan struct{}), make(chan struct{})
	s := mailtest.New(t, mailtest.Setup{StartTLS: true, Refuse: func(to string, n int) *smtp.SMTPError {
		if to == "second@example.net" && n == 1 {
			close(reached)
			<-release
		}
		return nil
	}})
	w := newWorld(t)
	w.server, w.tuning.grace = through(s, StartTLS), time.Millisecond
	w.send("first@example.net,second@example.net,third@example.net")
	w.start()
	<-reached
	w.wantLog()
	close(release)
	env.Equal(t, "mails wait", w.Waiting(), 2)
	w.start()
	w.drained()
	if to := recipients(s.Mails()); !strings.HasPrefix(to, "first@example.net ") || !strings.Contains(to, "second@") || !strings.Contains(to, "third@") {
		t.Errorf("mail went to %s", to)
	}
}

func TestWhatTheServerSaysIsForThePersonAlone(t *testing.T) {
	t.Parallel()
	s := mailtest.New(t, mailtest.Setup{StartTLS: true, Refuse: func(to string, _ int) *smtp.SMTPError {
		return mailtest.Reply(550, "there is no "+to)
	}})
	err := through(s, StartTLS).Test(t.Context(), "bob@example.net", "Push & Co")
	var f *Failure
	if !errors.As(err, &f) || f.Code != 550 || !f.Permanent || strings.Contains(fmt.Sprint(err), "bob") || !strings.Contains(f.Detail(), "there is no bob@example.net") {
		t.Errorf("it is %v", err)
	}
}

// An engine that is away cannot list messages for a while.
type away struct {
	record.Engine
	asked, back *atomic.Int64
}

func (e away) DueMessages(ctx context.Context, q record.MessageQuery) ([]record.Message, time.Time, error) {
	if e.asked.Add(1) <= e.back.Load() {
		return nil, time.Time{}, record.ErrUnavailable
	}
	return e.Engine.DueMessages(ctx, q)
}

// A database that is away is no failure of the mail server.
func TestAStoreThatIsAwayIsNoFailureOfTheMailServer(t *testing.T) {
	t.Parallel()
	s := mailtest.New(t, mailtest.Setup{StartTLS: true})
	asked, back := new(atomic.Int64), new(atomic.Int64)
	w := newWorld(t, func(s *storetest.Setup) {
		s.Wrap = func(e record.Engine) record.Engine { return away{e, asked, back} }
	})
	w.server = through(s, StartTLS)
	back.Store(asked.Load() + 3)
	w.start()
	for end := time.Now().Add(env.Patience); asked.Load() <= back.Load(); time.Sleep(time.Millisecond) {
		if w.mailer.Failures() != 0 || time.Now().After(end) {
			t.Fatalf("%d failures of the mail server after %d rounds", w.mailer.Failures(), asked.Load())
		}
	}
	w.send("bob@example.net")
	s.Wait(t, 1)
	w.drained()
	w.wantLog() // the engine tells that the database is away
}
