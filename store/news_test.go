package store_test

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"

	"pushbox/internal/testkit/env"
	"pushbox/store/cold"

	"pushbox/internal/secret"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// about lists what mails are about.
func about(ls []store.Mail) (all []store.MailSubject) {
	for _, l := range ls {
		all = append(all, l.About)
	}
	slices.Sort(all)
	return all
}

// newsreader is a store with an account that wants mail about those events.
func newsreader(t *testing.T, events ...record.Event) (*storetest.Fixture, store.Actor, store.NewSession) {
	t.Helper()
	f := storetest.New(t, sendsMail)
	a := storetest.AddMember(t, f, email)
	n := storetest.SignIn(t, f)
	wish(t, f, n, store.Wishes{Mails: record.NewEventSet(events...)})
	return f, store.Actor{Account: a.ID}, n
}

// pushOf creates a push with a name and so many views.
func pushOf(t *testing.T, f *storetest.Fixture, by store.Actor, views int) store.PushInfo {
	t.Helper()
	p, err := f.CreatePush(ctx, by, store.NewPush{Kind: record.Text, Payload: secret.New("payload"), Passphrase: secret.New("passphrase"), Name: secret.New("the name"), Views: &views})
	env.OK(t, err)
	return p
}

func TestAnAccountGetsTheMailThatItWants(t *testing.T) {
	t.Parallel()
	open := func(f *storetest.Fixture, p store.PushInfo, passphrase string) {
		if _, err := f.Retrieve(ctx, anonymous, p.Token, secret.New(passphrase), nil); err != nil && !errors.Is(err, record.ErrPassphrase) {
			t.Error(err)
		}
	}
	for name, test := range map[string]struct {
		events []record.Event
		do     func(*storetest.Fixture, store.Actor)
		want   []store.MailSubject
	}{
		"the first view alone": {[]record.Event{record.EventView}, func(f *storetest.Fixture, by store.Actor) {
			p := pushOf(t, f, by, 3)
			open(f, p, "passphrase")
			open(f, p, "passphrase")
			open(f, p, "passphrase")
		}, []store.MailSubject{store.MailFirstView}},
		"first and last view": {[]record.Event{record.EventView, record.EventLastView, record.EventExpire}, func(f *storetest.Fixture, by store.Actor) {
			p := pushOf(t, f, by, 2)
			open(f, p, "passphrase")
			open(f, p, "passphrase")
			open(f, p, "passphrase") // it has ended
		}, []store.MailSubject{store.MailFirstView, store.MailLastView}},
		"one mail about the only view": {store.MailedEvents(), func(f *storetest.Fixture, by store.Actor) {
			open(f, pushOf(t, f, by, 1), "passphrase")
		}, []store.MailSubject{store.MailLastView}},
		"an end by views": {[]record.Event{record.EventExpire}, func(f *storetest.Fixture, by store.Actor) {
			open(f, pushOf(t, f, by, 1), "passphrase")
		}, []store.MailSubject{store.MailExpired}},
		"an end by time": {[]record.Event{record.EventExpire}, func(f *storetest.Fixture, by store.Actor) {
			pushOf(t, f, by, 1)
			f.Clock.Advance(8 * day)
			if _, err := f.Sweep(ctx); err != nil {
				t.Error(err)
			}
		}, []store.MailSubject{store.MailExpired}},
		"no delete": {store.MailedEvents(), func(f *storetest.Fixture, by store.Actor) {
			if _, err := f.DeletePush(ctx, by, pushOf(t, f, by, 1).Token); err != nil {
				t.Error(err)
			}
		}, nil},
		"no view by the owner": {store.MailedEvents(), func(f *storetest.Fixture, by store.Actor) {
			if _, err := f.Retrieve(ctx, by, pushOf(t, f, by, 1).Token, secret.New("passphrase"), nil); err != nil {
				t.Error(err)
			}
		}, nil},
		"the first wrong passphrase": {[]record.Event{record.EventFailedPassphrase}, func(f *storetest.Fixture, by store.Actor) {
			p := pushOf(t, f, by, 1)
			open(f, p, "wrong")
			open(f, p, "wrong again")
		}, []store.MailSubject{store.MailGuessed}},
		"nothing": {nil, func(f *storetest.Fixture, by store.Actor) {
			p := pushOf(t, f, by, 1)
			open(f, p, "wrong")
			open(f, p, "passphrase")
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, by, _ := newsreader(t, test.events...)
			test.do(f, by)
			got := letters(t, f)
			if !slices.Equal(about(got), test.want) || f.Waiting() != len(got) {
				t.Errorf("the mails are about %v, and %d wait; want %v", about(got), f.Waiting(), test.want)
			}
			for _, l := range got {
				if l.To.Reveal() != email || l.Push.Name.Reveal() != "the name" || !l.Push.Token.IsZero() || !l.Push.Payload.IsZero() || l.At.IsZero() {
					t.Errorf("a mail is %+v", l)
				}
			}
		})
	}
}

func TestWhatAnAccountWantsHoldsFromTheNextEvent(t *testing.T) {
	t.Parallel()
	f, by, n := newsreader(t, record.EventView)
	see := func() {
		t.Helper()
		if _, err := f.Retrieve(ctx, anonymous, pushOf(t, f, by, 5).Token, secret.New("passphrase"), nil); err != nil {
			t.Fatal(err)
		}
	}
	see()
	if got := letters(t, f); len(got) != 1 || got[0].Language != "" {
		t.Fatalf("the mails are %v", got)
	}
	wish(t, f, n, store.Wishes{Language: "de", Mails: record.NewEventSet(record.EventView)})
	if got := letters(t, f); len(got) != 1 || got[0].Language != "de" {
		t.Errorf("in another language they are %v", got)
	}
	wish(t, f, n, store.Wishes{})
	see()
	if got := letters(t, f); len(got) != 0 || f.Waiting() != 1 {
		t.Errorf("%d mails are wanted, and %d wait", len(got), f.Waiting())
	}
	wish(t, f, n, store.Wishes{Mails: record.NewEventSet(record.EventView)})
	see()
	if got := letters(t, f); len(got) != 2 {
		t.Errorf("%d mails are wanted", len(got))
	}
	env.OK(t, f.RenameAccount(ctx, storetest.Operator, email, "eve@example.net"))
	see()
	if got := letters(t, f); len(got) != 0 || f.Waiting() != 2 {
		t.Errorf("at a new address %d mails are wanted, and %d wait", len(got), f.Waiting())
	}
	var bad *record.InvalidError
	if err := f.SetWishes(ctx, anonymous, n.Secret, store.Wishes{Mails: record.NewEventSet(record.EventAnswer)}); !errors.As(err, &bad) {
		t.Errorf("an event that is not mailed: %v", err)
	}
}

// A view is counted whether or not the mail about it may be sent.
func TestNewsNeverKeepsFromAView(t *testing.T) {
	t.Parallel()
	f, by, _ := newsreader(t, record.EventView)
	most := 0
	for range 20 {
		if _, err := f.Retrieve(ctx, anonymous, pushOf(t, f, by, 5).Token, secret.New("passphrase"), nil); err != nil {
			t.Fatal(err)
		}
		most = max(most, f.Waiting())
	}
	if got := letters(t, f); len(got) != most || most == 0 || most >= 20 {
		t.Errorf("%d mails wait, and at most %d did", len(got), most)
	}
}

// Sign-ins are events of the instance log, as changes of webhooks are, and are many more.
func TestSignInsAreNoReasonToReadAllWebhooks(t *testing.T) {
	t.Parallel()
	var lists atomic.Int64
	f := storetest.New(t, func(s *storetest.Setup) {
		s.Shared, s.SignIns = true, store.SignInLimits{PerClient: 1000, PerAccount: 1000}
		s.Wrap = storetest.CountLists(record.Hooks.Table, &lists)
	})
	storetest.AddMember(t, f, storetest.Email)
	follow(t, f)
	lists.Store(0)
	for range 2 {
		session := storetest.SignIn(t, f)
		if _, err := f.Store.SignIn(ctx, storetest.Anonymous, storetest.Email, secret.New("not the password")); !errors.Is(err, record.ErrCredentials) {
			t.Fatal(err)
		}
		env.OK(t, f.SignOut(ctx, storetest.Anonymous, session.Secret))
		follow(t, f)
	}
	if n := lists.Load(); n > 0 {
		t.Errorf("webhooks were listed %d times", n)
	}
	storetest.SignIn(t, f)
	told := storetest.Told(f.Engine())
	told.Kind = record.AdminWebhookAdd
	if err := cold.AddAdminEvent(ctx, f.Engine(), told); err != nil { // as another server does
		t.Fatal(err)
	}
	storetest.SignIn(t, f)
	if follow(t, f); lists.Load() == 0 {
		t.Error("what another server changed was not read")
	}
}
