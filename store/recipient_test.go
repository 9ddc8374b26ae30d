package store_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// mailsMuch has a store take much mail for people.
func mailsMuch(s *storetest.Setup) {
	s.Mail = store.MailOptions{Languages: []string{"en", "de"}, MaxRecipients: 5, PerAccount: 100, PerInstance: 1000, GiveUp: 24 * time.Hour}
}

// A forOne is a push for a recipient who proves a mailbox.
type forOne struct {
	*storetest.Fixture
	t     *testing.T
	owner store.Actor
	push  store.PushInfo
	mails int // that were read
}

func namedPush(t *testing.T, f *storetest.Fixture, owner store.Actor, to string, change func(*store.NewPush)) *forOne {
	t.Helper()
	p := storetest.Push(t, f, owner, func(in *store.NewPush) {
		in.Recipient = secret.New(to)
		if change != nil {
			change(in)
		}
	})
	return &forOne{Fixture: f, t: t, owner: owner, push: p}
}

// client returns a stranger at an address of its own.
func client(n int) store.Actor {
	return store.Actor{Client: fmt.Sprintf("203.0.%d.7", n), IP: fmt.Sprintf("203.0.%d.7", n)}
}

// ask asks for a code, and returns what a page would keep, with the code if one was mailed.
func (n *forOne) ask(by store.Actor, address string) store.Mailbox {
	n.t.Helper()
	challenge, err := n.MailRecipientCode(ctx, by, n.push.Token, address, "de")
	env.OK(n.t, err)
	all := slices.DeleteFunc(letters(n.t, n.Fixture), func(l store.Mail) bool { return l.About != store.MailRecipient })
	m := store.Mailbox{Challenge: challenge}
	if len(all) > n.mails {
		m.Code = all[len(all)-1].Code
	}
	n.mails = len(all)
	return m
}

// opens tries to open the push.
func (n *forOne) opens(by store.Actor, m store.Mailbox, passphrase string) error {
	n.t.Helper()
	by.Mailbox = m
	v, err := n.Reveal(ctx, by, n.push.Token, secret.New(passphrase), nil)
	if err == nil && v.Payload.IsZero() {
		err = errors.New("it has no payload")
	}
	return err
}

// refuses fails the test unless the push is refused with so many tries left.
func (n *forOne) refuses(by store.Actor, m store.Mailbox, left int) {
	n.t.Helper()
	before := storetest.EntryKinds(n.t, n.Fixture, n.owner, n.push)
	var wrong *record.RecipientError
	if err := n.opens(by, m, ""); !errors.As(err, &wrong) || wrong.Left != left || !errors.Is(err, record.ErrRecipient) {
		n.t.Errorf("it is %v, %+v, not %d", err, wrong, left)
	}
	if after := storetest.EntryKinds(n.t, n.Fixture, n.owner, n.push); after != before {
		n.t.Errorf("the log has %s, not %s", after, before)
	}
}

// other is another code.
func other(m store.Mailbox) store.Mailbox {
	code := "000000"
	if m.Code.Reveal() == code {
		code = "000001"
	}
	return store.Mailbox{Challenge: m.Challenge, Code: secret.New(code)}
}

func TestANamedRecipientOpensAPushWithAMailedCode(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, mailsMuch)
	ann := f.Account("ann@example.com")
	n := namedPush(t, f, ann, " Bob@Example.net ", nil)
	if got := n.push.Recipient.Reveal(); got != "Bob@Example.net" || !n.push.Restricted {
		t.Errorf("it names %q", got)
	}
	f.Reopen()
	bob := client(1)
	if err := n.opens(bob, store.Mailbox{}, ""); !errors.Is(err, record.ErrRecipient) {
		t.Errorf("without a code: %v", err)
	}
	v, err := f.Look(ctx, n.push.Token)
	if err != nil || !v.Named || !v.Recipient.IsZero() {
		t.Errorf("it looks like %+v, %v", v, err)
	}
	m := n.ask(bob, "BOB@example.NET")
	l := letters(t, f)[0]
	if l.About != store.MailRecipient || l.To.Reveal() != "Bob@Example.net" || l.Language != "de" || l.Sender != "ann@example.com" || len(l.Code.Reveal()) != 6 || strings.Trim(l.Code.Reveal(), "0123456789") != "" {
		t.Errorf("it is %+v", l)
	}
	n.refuses(bob, other(m), store.RecipientCodeTries-1)
	env.OK(t, n.opens(bob, m, ""))
	n.refuses(bob, m, 0)
	log, err := f.Audit(ctx, ann, n.push.Token, 1)
	if err != nil || len(log) != 2 || log[1].Kind != record.EntryView || log[1].Recipients.Reveal() != "bob@example.net" || log[1].IP != bob.IP {
		t.Errorf("the log has %+v, %v", log, err)
	}
	own, err := f.Pushes(ctx, ann, true, 1)
	if err != nil || own[0].Recipient.Reveal() != "Bob@Example.net" {
		t.Errorf("the list has %+v, %v", own, err)
	}
	if p, err := f.Retrieve(ctx, ann, n.push.Token, secret.Text{}, nil); err != nil || p.Payload.IsZero() {
		t.Errorf("the owner: %v", err)
	}
}

func TestAPushWithoutARecipientAsksForNoCode(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, mailsMuch)
	p := storetest.Push(t, f, f.Account("ann@example.com"), nil)
	if v, err := f.Look(ctx, p.Token); err != nil || v.Named {
		t.Errorf("it is %+v, %v", v, err)
	}
	if _, err := f.MailRecipientCode(ctx, client(1), p.Token, "bob@example.net", ""); !errors.Is(err, record.ErrNotFound) {
		t.Errorf("it is %v", err)
	}
	storetest.Retrieve(t, f, client(1), p)
}

func TestWhichAddressesFitARecipient(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, mailsMuch)
	ann := f.Account("ann@example.com")
	for of, test := range map[string]struct{ fit, not []string }{
		"bob@example.net": {[]string{"bob@example.net", " BOB@EXAMPLE.NET"}, []string{"bo@example.net", "bob@example.ne", "bob+x@example.net", "xbob@example.net", "bob@sub.example.net"}},
		"@Example.com":    {[]string{"x@example.com", "Y.Z@EXAMPLE.COM"}, []string{"x@sub.example.com", "x@example.com.evil", "x@example.co", "x@notexample.com", "example.com@evil.com"}},
	} {
		n := namedPush(t, f, ann, of, func(in *store.NewPush) { views := 9; in.Views = &views })
		for i, address := range append(slices.Clone(test.fit), test.not...) {
			by, fits := client(i), i < len(test.fit)
			m := n.ask(by, address)
			if m.Code.IsZero() == fits {
				t.Errorf("%s, %s: a code is mailed: %t", of, address, !fits)
			}
			if fits {
				env.OK(t, n.opens(by, m, ""))
			} else {
				n.refuses(by, store.Mailbox{Challenge: m.Challenge, Code: secret.New("123456")}, store.RecipientCodeTries-1)
			}
			f.Clock.Advance(time.Minute)
		}
	}
	if to := letters(t, f); len(to) == 0 || to[len(to)-1].To.IsZero() {
		t.Errorf("%+v", to)
	}
}

func TestHowLongACodeOfARecipientLasts(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, mailsMuch)
	n := namedPush(t, f, f.Account("ann@example.com"), "bob@example.net", nil)
	bob := client(1)
	m := n.ask(bob, "bob@example.net")
	f.Clock.Advance(store.RecipientCodeLasts - time.Millisecond)
	if len(letters(t, f)) != 1 {
		t.Error("a code that is still good is not wanted")
	}
	n.refuses(bob, other(m), store.RecipientCodeTries-1)
	f.Clock.Advance(time.Millisecond)
	if len(letters(t, f)) != 0 {
		t.Error("a code that has run out is still sent")
	}
	n.refuses(bob, m, 0)
	n.mails = 0
	m = n.ask(bob, "bob@example.net")
	f.Clock.Advance(store.RecipientCodeLasts - time.Millisecond)
	env.OK(t, n.opens(bob, m, ""))
}

func TestAChallengeTakesFiveWrongCodes(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, mailsMuch)
	n := namedPush(t, f, f.Account("ann@example.com"), "bob@example.net", nil)
	bob := client(1)
	m := n.ask(bob, "bob@example.net")
	for left := store.RecipientCodeTries - 1; left > 0; left-- {
		n.refuses(bob, other(m), left)
	}
	env.OK(t, n.opens(bob, m, "")) // the fifth try may be right
	f.Clock.Advance(time.Minute)
	m = n.ask(bob, "bob@example.net")
	for left := store.RecipientCodeTries - 1; left >= 0; left-- {
		n.refuses(client(2), other(m), left) // from another client, too
	}
	n.refuses(bob, m, 0)
}

func TestAChallengeCannotBeForged(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, mailsMuch)
	ann := f.Account("ann@example.com")
	n, another := namedPush(t, f, ann, "bob@example.net", nil), namedPush(t, f, ann, "bob@example.net", nil)
	bob := client(1)
	m := n.ask(bob, "bob@example.net")
	another.refuses(bob, m, 0)
	text := m.Challenge.Reveal()
	for i := range text {
		for _, c := range "AQgw" {
			if changed := text[:i] + string(c) + text[i+1:]; changed != text {
				by := bob
				by.Mailbox = store.Mailbox{Challenge: secret.New(changed), Code: m.Code}
				var wrong *record.RecipientError
				if _, err := f.Reveal(ctx, by, n.push.Token, secret.Text{}, nil); !errors.As(err, &wrong) || wrong.Left != 0 {
					t.Fatalf("changed at %d: %v", i, err)
				}
			}
		}
	}
	for _, junk := range []string{"x", text[:40], text + "A", text + "\n", strings.Repeat("A", 1000)} {
		n.refuses(bob, store.Mailbox{Challenge: secret.New(junk), Code: m.Code}, 0)
	}
	env.OK(t, n.opens(bob, m, ""))
}

// The code is asked for first, and lasts until the passphrase is right.
func TestARightCodeOutlivesAWrongPassphrase(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, mailsMuch)
	n := namedPush(t, f, f.Account("ann@example.com"), "bob@example.net", func(in *store.NewPush) { in.Passphrase = secret.New("open sesame") })
	bob := client(1)
	if err := n.opens(bob, store.Mailbox{}, "open sesame"); !errors.Is(err, record.ErrRecipient) {
		t.Errorf("it is %v", err)
	}
	m := n.ask(bob, "bob@example.net")
	n.refuses(bob, other(m), store.RecipientCodeTries-1)
	for range 2 {
		if err := n.opens(bob, m, "wrong"); !errors.Is(err, record.ErrPassphrase) {
			t.Errorf("it is %v", err)
		}
	}
	env.OK(t, n.opens(bob, m, "open sesame"))
	n.refuses(bob, m, 0)
	if got := storetest.EntryKinds(t, f, n.owner, n.push); got != "creation failed_passphrase failed_passphrase view " {
		t.Error(got)
	}
}

func TestACodeOpensOnceAlsoAtTheSameTime(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, mailsMuch)
	n := namedPush(t, f, f.Account("ann@example.com"), "bob@example.net", func(in *store.NewPush) { views := 9; in.Views = &views })
	by := client(1)
	by.Mailbox = n.ask(by, "bob@example.net")
	var group sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		group.Go(func() { _, errs[i] = f.Reveal(ctx, by, n.push.Token, secret.Text{}, nil) })
	}
	group.Wait()
	opened := 0
	for _, err := range errs {
		if err == nil {
			opened++
		} else if !errors.Is(err, record.ErrRecipient) {
			t.Error(err)
		}
	}
	if got := storetest.EntryKinds(t, f, n.owner, n.push); opened != 1 || got != "creation view " {
		t.Errorf("%d opened it: %s", opened, got)
	}
}

// A client has its own limits, so that it does not use up the codes of the recipient. The limit of an
// address shows nothing: what comes back is a challenge as always.
func TestHowManyCodesArePossible(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, mailsMuch)
	n := namedPush(t, f, f.Account("ann@example.com"), "bob@example.net", nil)
	locked := func(by store.Actor, address string, wait time.Duration) {
		t.Helper()
		var e *record.LockedError
		if _, err := n.MailRecipientCode(ctx, by, n.push.Token, address, ""); !errors.As(err, &e) || e.RetryAfter != wait || e.Limit != record.LimitCodesPerRecipient {
			t.Errorf("%s: %v, %#v", address, err, e)
		}
	}
	for _, address := range []string{"bob@example.net", "eve@example.org"} { // the same for both
		fits := address == "bob@example.net"
		for i := range 3 {
			if m := n.ask(client(1), address); m.Code.IsZero() == fits {
				t.Errorf("%s %d: a code is mailed: %t", address, i, !fits)
			}
			if i < 2 {
				locked(client(1), address, time.Minute)
			}
			f.Clock.Advance(time.Minute)
		}
		locked(client(1), address, 57*time.Minute)
	}
	for i := range 3 {
		if m := n.ask(client(2), "bob@example.net"); m.Code.IsZero() == (i < 2) {
			t.Errorf("of client 2, %d: a code is mailed: %t", i, !m.Code.IsZero())
		}
		f.Clock.Advance(time.Minute)
	}
	for i := range 14 {
		n.ask(client(1), fmt.Sprintf("x%d@example.net", i))
	}
	locked(client(1), "x99@example.net", 50*time.Minute+time.Minute)
	f.Clock.Advance(time.Hour)
	n.mails = len(letters(t, f))
	if m := n.ask(client(1), "bob@example.net"); m.Code.IsZero() {
		t.Error("no code is mailed an hour later")
	}
}

// Strangers with the link use up a part of what its owner may send in a day, and no more.
func TestCodesLeaveTheOwnerMail(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, func(s *storetest.Setup) {
		mailsMuch(s)
		s.Mail.PerAccount = 12
	})
	ann := f.Account("ann@example.com")
	mailed := 0
	for i := range 3 {
		n := namedPush(t, f, ann, "@example.com", nil)
		n.mails = mailed
		for j := range 5 {
			if m := n.ask(client(j), fmt.Sprintf("x%d%d@example.com", i, j)); !m.Code.IsZero() {
				mailed++
			}
		}
		if want := min(3*(i+1), 6); mailed != want {
			t.Errorf("push %d: %d mails, not %d", i, mailed, want)
		}
	}
	_, err := f.CreatePush(ctx, ann, store.NewPush{Kind: record.Text, Payload: secret.New("x"), Mail: mailing("a@b.example,b@b.example,c@b.example,d@b.example,e@b.example")})
	env.OK(t, err)
}

func TestNoCodeIsMailedForAPushThatHasEnded(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, mailsMuch)
	ann := f.Account("ann@example.com")
	n := namedPush(t, f, ann, "bob@example.net", nil)
	m := n.ask(client(1), "bob@example.net")
	_, err := f.DeletePush(ctx, ann, n.push.Token)
	env.OK(t, err)
	if len(letters(t, f)) != 0 {
		t.Error("the code is still sent")
	}
	if _, err := f.MailRecipientCode(ctx, client(2), n.push.Token, "bob@example.net", ""); !errors.Is(err, record.ErrNotFound) {
		t.Errorf("it is %v", err)
	}
	by := client(1)
	by.Mailbox = m
	if v, err := f.Reveal(ctx, by, n.push.Token, secret.Text{}, nil); err != nil || !v.Payload.IsZero() || v.Live() {
		t.Errorf("it is %+v, %v", v, err)
	}
}

func TestWhoMayNameARecipient(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, mailsMuch)
	ann, eve := f.Account("ann@example.com"), signedUp(t, f, "eve@example.com")
	create := func(by store.Actor, to string) error {
		_, err := f.CreatePush(ctx, by, store.NewPush{Kind: record.Text, Payload: secret.New("x"), Recipient: secret.New(to)})
		return err
	}
	for _, to := range []string{"b@c.example", "@c.example", "@sub.c.example", " ", ""} {
		if err := create(ann, to); err != nil {
			t.Errorf("%q: %v", to, err)
		}
	}
	wrong := func(by store.Actor, to, message string) {
		t.Helper()
		var invalid *record.InvalidError
		if err := create(by, to); !errors.As(err, &invalid) || len(invalid.Fields) != 1 || len(invalid.Fields[store.FieldRecipient]) != 1 || !strings.Contains(invalid.Fields[store.FieldRecipient][0], message) {
			t.Errorf("%q: %v, %+v", to, err, invalid)
		}
	}
	for _, to := range []string{"b", "@", "c.example", "b@c.example,d@c.example", "Bob <b@c.example>", "@c.example @d.example", "b@@c.example", "@c example", "bö@c.example", "@" + strings.Repeat("c", 300)} {
		wrong(ann, to, "must be one e-mail address")
	}
	wrong(anonymous, "b@c.example", "needs an account")
	if err := create(eve.by, "b@c.example"); !errors.Is(err, record.ErrUnconfirmed) {
		t.Errorf("unconfirmed: %v", err)
	}
	env.OK(t, create(eve.by, ""))
	f = storetest.New(t)
	wrong(f.Account("ann@example.com"), "b@c.example", "sends no mail")
}

func TestTheFileHoldsNothingOfARecipientInClear(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, mailsMuch)
	const address = "canary-recipient-77@canary-mailbox.example"
	n := namedPush(t, f, f.Account("ann@example.com"), address, nil)
	m := n.ask(client(1), address)
	due, _, err := f.DueMessages(ctx, record.MessageQuery{Route: record.ByMail, Limit: 9})
	if err != nil || len(due) != 1 {
		t.Fatalf("%d messages are due, %v", len(due), err)
	}
	env.OK(t, n.opens(client(1), m, ""))
	holdsNone(t, f, [][]byte{due[0].Sealed}, address, "canary-recipient-77", "canary-mailbox", m.Challenge.Reveal(), n.push.Token.Reveal())
}

// Several servers share the tries, and one code opens once for all of them.
func TestACodeOpensOnceOnEachEngine(t *testing.T) {
	t.Parallel()
	storetest.OnEachEngine(t, func(t *testing.T, engine func(*storetest.Setup)) {
		f := storetest.New(t, mailsMuch, engine)
		n := namedPush(t, f, f.Account("ann@example.com"), "@example.net", nil)
		m := n.ask(client(1), "bob@example.net")
		n.refuses(client(1), other(m), store.RecipientCodeTries-1)
		env.OK(t, n.opens(client(1), m, ""))
		n.refuses(client(1), m, 0)
	})
}
