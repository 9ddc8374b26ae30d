package store_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// sendsMail has a store take mail for people.
func sendsMail(s *storetest.Setup) {
	s.Mail = store.MailOptions{Languages: []string{"en", "de"}, MaxRecipients: 5, PerAccount: 10, PerInstance: 15, GiveUp: 24 * time.Hour}
}

// mailing asks for mail to these addresses.
func mailing(to string) *store.MailRequest {
	return &store.MailRequest{To: secret.New(to), Language: "de", Base: "https://canary-push.example"}
}

// letters opens the mail that waits; those that are no longer wanted are left out.
func letters(t *testing.T, f *storetest.Fixture) (all []store.Mail) {
	t.Helper()
	due, _, err := f.DueMessages(ctx, record.MessageQuery{Route: record.ByMail, Limit: 1000})
	env.OK(t, err)
	for _, m := range due {
		l, wanted, err := f.OpenMail(ctx, m)
		env.OK(t, err)
		if wanted {
			all = append(all, l)
		}
	}
	return all
}

func TestMailAndItsCountSurviveARestart(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, sendsMail)
	ann, bob := f.Account("ann@example.com"), f.Account("bob@example.com")
	p := storetest.Push(t, f, ann, func(in *store.NewPush) { in.Mail = mailing("a@example.net,b@example.net") })
	if p.Mailed != 2 || p.Seq != 2 {
		t.Errorf("it is %+v", p)
	}
	select {
	case <-f.OutboxChanged(record.ByMail):
	default:
		t.Error("the channel has no value for new mail")
	}
	f.Reopen()
	got := letters(t, f)
	if len(got) != 2 || f.Waiting() != 2 || got[0].To.Reveal() != "a@example.net" || got[0].ID == got[1].ID {
		t.Fatalf("%d wait: %+v", f.Waiting(), got)
	}
	for _, l := range got {
		if l.Base != mailing("").Base || l.Push.Token.Reveal() != p.Token.Reveal() || l.Language != "de" || l.Sender != "ann@example.com" || l.Push.ID != p.ID {
			t.Errorf("it is %+v", l)
		}
	}
	for range 2 { // 8 are left to her, 13 to all
		_, err := f.MailPush(ctx, ann, p.Token, *mailing("a@example.net,b@example.net,c@example.net,d@example.net"))
		env.OK(t, err)
		f.Reopen()
	}
	quota := func(err error, of record.QuotaOf) {
		t.Helper()
		var q *record.QuotaError
		if !errors.As(err, &q) || q.Of != of || q.RetryAfter <= 0 || q.RetryAfter > 24*time.Hour {
			t.Errorf("it is %v", err)
		}
	}
	_, err := f.MailPush(ctx, ann, p.Token, *mailing("a@example.net"))
	quota(err, record.QuotaOfAccount)
	_, err = f.CreatePush(ctx, bob, store.NewPush{Kind: record.Text, Payload: secret.New("x"), Mail: mailing("a@b.example,b@b.example,c@b.example,d@b.example,e@b.example")})
	env.OK(t, err)
	_, err = f.CreatePush(ctx, bob, store.NewPush{Kind: record.Text, Payload: secret.New("x"), Mail: mailing("a@b.example")})
	quota(err, record.QuotaOfInstance)
	if n := f.Waiting(); n != 15 || len(letters(t, f)) != 15 {
		t.Errorf("%d wait", n)
	}
}

func TestOnlyTheOwnerOfALivePushSendsItsLink(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, sendsMail)
	ann, bob := f.Account("ann@example.com"), f.Account("bob@example.com")
	hers, anonymousPush := storetest.Push(t, f, ann, nil), storetest.Push(t, f, anonymous, nil)
	ended := storetest.Push(t, f, ann, nil)
	if _, err := f.DeletePush(ctx, ann, ended.Token); err != nil {
		t.Fatal(err)
	}
	var invalid *record.InvalidError
	for name, test := range map[string]struct {
		by    store.Actor
		token store.Token
		want  error
	}{
		"another account":       {bob, hers.Token, record.ErrDenied},
		"anonymous":             {anonymous, hers.Token, record.ErrDenied},
		"an anonymous push":     {ann, anonymousPush.Token, record.ErrDenied},
		"one that is not there": {ann, store.NewToken(f.Clock.Now()), record.ErrNotFound},
		"none":                  {ann, store.Token{}, record.ErrNotFound},
	} {
		if _, err := f.MailPush(ctx, test.by, test.token, *mailing("a@example.net")); !errors.Is(err, test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := f.MailPush(ctx, ann, ended.Token, *mailing("a@example.net")); !errors.As(err, &invalid) || !strings.Contains(err.Error(), "has expired") {
		t.Errorf("one that has ended: %v", err)
	}
	if _, err := f.MailPush(ctx, ann, hers.Token, *mailing("a@example.net")); err != nil {
		t.Error(err)
	}
	log, err := f.Audit(ctx, ann, hers.Token, 1)
	if err != nil || len(log) != 2 || log[1].Kind != record.EntryMail || log[1].Recipients.Reveal() != "a@example.net" || log[1].IP != ann.IP || !log[0].Recipients.IsZero() {
		t.Errorf("the log is %+v, %v", log, err)
	}
	if n := f.Waiting(); n != 1 {
		t.Errorf("%d wait", n)
	}
	f.Clock.Advance(8 * 24 * time.Hour)
	f.Clock.Advance(time.Hour)
	if got := letters(t, f); len(got) != 0 {
		t.Errorf("mail of a push whose time is over: %+v", got)
	}
}

func TestMailIsGivenUpInItsTimeAlone(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, sendsMail, func(s *storetest.Setup) { s.Hooks.GiveUp = time.Hour })
	ann := f.Account("ann@example.com")
	storetest.Push(t, f, ann, func(in *store.NewPush) { in.Mail = mailing("a@example.net,b@example.net") })
	due, _, err := f.DueMessages(ctx, record.MessageQuery{Route: record.ByMail, Limit: 1})
	if err != nil || len(due) != 1 {
		t.Fatal(due, err)
	}
	if again, err := f.RetryMessage(ctx, due[0], 23*time.Hour); !again || err != nil {
		t.Errorf("it is tried again: %v, %v", again, err)
	}
	for _, step := range []struct {
		after time.Duration
		given int
	}{{2 * time.Hour, 0}, {22*time.Hour - time.Millisecond, 0}, {time.Millisecond, 2}} {
		f.Clock.Advance(step.after)
		if hooks, err := f.GiveUp(ctx, record.ByWebhook); hooks != 0 || err != nil {
			t.Errorf("%d messages to webhooks were given up, %v", hooks, err)
		}
		if given, err := f.GiveUp(ctx, record.ByMail); given != step.given || err != nil {
			t.Errorf("%d were given up, %v", given, err)
		}
	}
	if f.Waiting() != 0 {
		t.Errorf("%d wait", f.Waiting())
	}
}

func TestTheFileHoldsNothingOfMailInClear(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, sendsMail)
	ann := f.Account("ann@example.com")
	const to = "canary-recipient@canary-host.example"
	p := storetest.Push(t, f, ann, func(in *store.NewPush) { in.Mail = mailing(to) })
	if _, err := f.MailPush(ctx, ann, p.Token, *mailing(to)); err != nil {
		t.Fatal(err)
	}
	due, _, err := f.DueMessages(ctx, record.MessageQuery{Route: record.ByMail, Limit: 9})
	if err != nil || len(due) != 2 {
		t.Fatalf("%d wait, %v", len(due), err)
	}
	holdsNone(t, f, [][]byte{due[0].Sealed}, to, "canary-host.example", "canary-push.example", p.Token.Reveal(), letters(t, f)[0].ID)
}

// An endless outbox has mail that is due, and none that is old.
type endless struct {
	record.Engine
	now  func() time.Time
	read *int
}

func (e endless) View(ctx context.Context, read func(record.View) error) error {
	return e.Engine.View(ctx, func(v record.View) error { return read(endlessView{v, e}) })
}

type endlessView struct {
	record.View
	of endless
}

func (v endlessView) List(of *record.Table, r record.Range) (page []record.Record, err error) {
	if of != record.Messages.Table {
		return v.View.List(of, r)
	}
	for n := range r.Limit {
		page = append(page, record.Message{Route: record.ByMail, Number: uint64(*v.of.read + n + 1), CreatedAt: v.of.now(), NextAt: v.of.now()})
	}
	*v.of.read += len(page)
	return page, nil
}

// However much mail waits, a look for old mail reads a bounded part of it.
func TestALookForOldMailEnds(t *testing.T) {
	t.Parallel()
	read, at := 0, time.Time{}
	f := storetest.New(t, sendsMail, func(s *storetest.Setup) {
		s.Wrap = func(e record.Engine) record.Engine { return endless{e, func() time.Time { return at }, &read} }
	})
	at = f.Clock.Now()
	if given, err := f.GiveUp(ctx, record.ByMail); given != 0 || err != nil || read == 0 || read > 5000 {
		t.Errorf("%d were given up, and %d were read: %v", given, read, err)
	}
}
