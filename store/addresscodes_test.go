package store_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// A newcomer has signed up, and signed in.
type newcomer struct {
	*storetest.Fixture
	t       *testing.T
	by      store.Actor
	session secret.Text
}

func signedUp(t *testing.T, f *storetest.Fixture, email string) newcomer {
	t.Helper()
	a, err := f.SignUp(ctx, store.Actor{Client: "203.0.113.7"}, email, secret.New(storetest.Password))
	env.OK(t, err)
	n := newcomer{f, t, store.Actor{Account: a.ID, Client: "203.0.113.7"}, secret.Text{}}
	n.signIn(email)
	return n
}

func (n *newcomer) signIn(email string) {
	n.t.Helper()
	s, err := n.SignIn(ctx, store.Actor{Client: "203.0.113.7"}, email, secret.New(storetest.Password))
	env.OK(n.t, err)
	n.session = s.Secret
}

// mailCode has a code sent, and returns it as the mail has it.
func (n newcomer) mailCode() secret.Text {
	n.t.Helper()
	env.OK(n.t, n.MailCode(ctx, n.by, n.session, "de"))
	codes := codesIn(n.t, n.Fixture)
	return codes[len(codes)-1].Code
}

// codesIn are the mails with codes that wait and are wanted.
func codesIn(t *testing.T, f *storetest.Fixture) []store.Mail {
	t.Helper()
	return slices.DeleteFunc(letters(t, f), func(l store.Mail) bool { return l.About != store.MailCode })
}

// confirms reports whether a code confirms the address.
func (n newcomer) confirms(code string) bool {
	n.t.Helper()
	err := n.ConfirmAddress(ctx, n.by, n.session, secret.New(code))
	if err != nil && !errors.Is(err, record.ErrCode) {
		n.t.Fatal(err)
	}
	return err == nil
}

// otherThan is a code that is wrong.
func otherThan(code secret.Text) string {
	if code.Reveal() == "00000000" {
		return "00000001"
	}
	return "00000000"
}

// wantLocked fails the test unless err asks to wait that long for the next code.
func (n newcomer) wantLocked(wait time.Duration) {
	n.t.Helper()
	var locked *record.LockedError
	err := n.MailCode(ctx, n.by, n.session, "")
	if !errors.As(err, &locked) || locked.Limit != record.LimitCodesPerAccount || locked.RetryAfter != wait {
		n.t.Errorf("it is %v, %+v, not a wait of %v", err, locked, wait)
	}
}

// eventsOf are the events of the instance log of some kinds, with their addresses.
func eventsOf(t *testing.T, f *storetest.Fixture, of ...record.AdminKind) (kinds []string) {
	t.Helper()
	list, err := f.AdminEvents(ctx, time.Time{}, 0, 1000)
	env.OK(t, err)
	for _, e := range list {
		if slices.Contains(of, e.Kind) {
			kinds = append(kinds, e.Kind.String()+" "+e.Email)
		}
	}
	return kinds
}

func TestAnAccountThatSignedUpSendsNoMailUntilItsAddressIsConfirmed(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, sendsMail)
	n := signedUp(t, f, "Eve@example.com")
	old := storetest.Push(t, f, n.by, nil)
	refused := func() {
		t.Helper()
		_, err := f.CreatePush(ctx, n.by, store.NewPush{Kind: record.Text, Payload: secret.New("x"), Mail: mailing("a@example.net")})
		if !errors.Is(err, record.ErrUnconfirmed) {
			t.Errorf("a create: %v", err)
		}
		if _, err := f.MailPush(ctx, n.by, old.Token, *mailing("a@example.net")); !errors.Is(err, record.ErrUnconfirmed) {
			t.Errorf("mail later: %v", err)
		}
		own, err := f.Pushes(ctx, n.by, true, 1)
		if err != nil || len(own) != 1 || own[0].Seq != 1 || len(letters(t, f)) != len(codesIn(t, f)) {
			t.Errorf("there are %d pushes, with %+v, %v", len(own), letters(t, f), err)
		}
	}
	refused()
	state, err := f.Address(ctx, n.session)
	if err != nil || state != (store.AddressState{Email: "eve@example.com", Reachable: true}) {
		t.Errorf("it is %+v, %v", state, err)
	}
	code := n.mailCode()
	if l := codesIn(t, f)[0]; len(code.Reveal()) != 8 || strings.Trim(code.Reveal(), "0123456789") != "" || l.To.Reveal() != "eve@example.com" || l.Language != "de" || l.Sender != "" {
		t.Errorf("it is %q in %+v", code.Reveal(), l)
	}
	refused()
	f.Reopen()
	if n.confirms(otherThan(code)) {
		t.Error("a wrong code confirms it")
	}
	refused()
	state, err = f.Address(ctx, n.session)
	if err != nil || state.Confirmed || state.Tries != record.CodeTries-1 || !state.CodeUntil.Equal(f.Clock.Now().Add(store.CodeLasts)) {
		t.Errorf("it is %+v, %v", state, err)
	}
	if !n.confirms(" " + code.Reveal()[:4] + " " + code.Reveal()[4:]) {
		t.Error("the code does not confirm it")
	}
	if got := letters(t, f); len(got) != 0 {
		t.Errorf("a code that is used up is still sent: %+v", got)
	}
	f.Reopen()
	p := storetest.Push(t, f, n.by, func(in *store.NewPush) { in.Mail = mailing("a@example.net") })
	if _, err := f.MailPush(ctx, n.by, old.Token, *mailing("b@example.net")); err != nil {
		t.Error(err)
	}
	if got := letters(t, f); len(got) != 2 || got[0].Sender != "eve@example.com" || p.Mailed != 1 {
		t.Errorf("it is %+v", got)
	}
	if err := f.MailCode(ctx, n.by, n.session, ""); err != nil || len(codesIn(t, f)) != 0 || f.Waiting() != 3 {
		t.Errorf("a code for a confirmed address: %v, %d wait", err, f.Waiting())
	}
	if kinds := eventsOf(t, f, record.AdminAddressConfirm, record.AdminCodeRefused); !slices.Equal(kinds, []string{"address_confirm eve@example.com"}) {
		t.Errorf("the events are %v", kinds)
	}
}

func TestACodeIsGoodForItsTimeAndItsTriesAlone(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		wrong int
		after time.Duration
		good  bool
	}{
		"at once":           {0, 0, true},
		"the last try":      {record.CodeTries - 1, 0, true},
		"no try left":       {record.CodeTries, 0, false},
		"the last moment":   {0, 30*time.Minute - time.Millisecond, true},
		"a moment too late": {0, 30 * time.Minute, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := storetest.New(t, sendsMail)
			n := signedUp(t, f, "eve@example.com")
			if n.confirms("00000000") || n.confirms("") {
				t.Error("it is confirmed without a code")
			}
			code := n.mailCode()
			for range test.wrong {
				n.confirms(otherThan(code))
			}
			f.Clock.Advance(test.after)
			if wanted := len(codesIn(t, f)) == 1; wanted != test.good {
				t.Errorf("its mail is wanted: %v", wanted)
			}
			f.Reopen() // the count survives
			if n.confirms(code.Reveal()) != test.good {
				t.Errorf("it is good: %v", !test.good)
			}
			var want []string
			if test.wrong == record.CodeTries {
				want = []string{"code_refused eve@example.com"}
			}
			if kinds := eventsOf(t, f, record.AdminCodeRefused); !slices.Equal(kinds, want) {
				t.Errorf("the events are %v", kinds)
			}
			if test.good {
				return
			}
			f.Clock.Advance(time.Minute)
			if again := n.mailCode(); n.confirms(code.Reveal()) && again.Reveal() != code.Reveal() || !n.confirms(again.Reveal()) {
				t.Error("a new code is not the one that is good")
			}
		})
	}
}

func TestCodesAreSentOnceAMinuteAndFiveTimesADay(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, sendsMail, func(s *storetest.Setup) { s.Mail.PerInstance = 40 })
	day := 24 * time.Hour
	f.Clock.Advance(f.Clock.Now().Truncate(day).Add(day + 12*time.Hour).Sub(f.Clock.Now())) // noon
	n := signedUp(t, f, "eve@example.com")
	first := n.mailCode()
	n.wantLocked(time.Minute)
	f.Clock.Advance(time.Minute - time.Millisecond)
	n.wantLocked(time.Millisecond)
	f.Reopen()
	f.Clock.Advance(time.Millisecond)
	for range 4 {
		if n.mailCode(); n.confirms(first.Reveal()) {
			t.Fatal("the code before the last one is good") // or, once in ten to the eighth, the same
		}
		f.Clock.Advance(time.Minute)
	}
	n.wantLocked(12*time.Hour - 5*time.Minute)
	f.Clock.Advance(12*time.Hour - 5*time.Minute - time.Millisecond)
	n.signIn("eve@example.com")
	n.wantLocked(time.Millisecond)
	f.Clock.Advance(time.Millisecond)
	if !n.confirms(n.mailCode().Reveal()) {
		t.Error("the first code of the next day is not good")
	}
}

func TestCodesCountAsMail(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, sendsMail, func(s *storetest.Setup) { s.Mail.PerInstance, s.Mail.PerAddressee = 4, 2 })
	ann := f.Account("ann@example.com")
	eve, bob, carol := signedUp(t, f, "eve@example.com"), signedUp(t, f, "bob@example.com"), signedUp(t, f, "carol@example.com")
	refused := func(n newcomer, of record.QuotaOf) {
		t.Helper()
		var quota *record.QuotaError
		if err := n.MailCode(ctx, n.by, n.session, ""); !errors.As(err, &quota) || quota.Of != of || quota.RetryAfter <= 0 {
			t.Errorf("it is %v", err)
		}
		if state, err := f.Address(ctx, n.session); err != nil || !state.CodeUntil.IsZero() {
			t.Errorf("there is a code all the same: %+v, %v", state, err)
		}
	}
	storetest.Push(t, f, ann, func(in *store.NewPush) { in.Mail = mailing("Bob@example.com") })
	eve.mailCode()
	refused(bob, record.QuotaOfAddressee) // codes have a quarter of the day's mail
	storetest.Push(t, f, ann, func(in *store.NewPush) { in.Mail = mailing("bob@example.com") })
	f.Clock.Advance(24 * time.Hour)
	carol.signIn("carol@example.com")
	storetest.Push(t, f, ann, func(in *store.NewPush) { in.Mail = mailing("carol@example.com") })
	carol.mailCode()
	if n := f.Waiting(); n != 5 {
		t.Errorf("%d mails wait", n)
	}
}

func TestACodeCountsAsMailToItsAddress(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, sendsMail, func(s *storetest.Setup) { s.Mail.PerAddressee = 1 })
	eve := signedUp(t, f, "eve@example.com")
	storetest.Push(t, f, f.Account("ann@example.com"), func(in *store.NewPush) { in.Mail = mailing("Eve@Example.com") })
	var quota *record.QuotaError
	if err := eve.MailCode(ctx, eve.by, eve.session, ""); !errors.As(err, &quota) || quota.Of != record.QuotaOfAddressee {
		t.Errorf("it is %v", err)
	}
	f.Clock.Advance(24 * time.Hour)
	eve.signIn("eve@example.com")
	eve.mailCode()
}

func TestAnAdministratorVouchesForAnAddress(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, sendsMail)
	for name, vouch := range map[string]func(email string) (now string, err error){
		"confirm": func(email string) (string, error) {
			return email, f.ConfirmAccount(ctx, storetest.Operator, strings.ToUpper(email))
		},
		"rename": func(email string) (string, error) {
			return "new-" + email, f.RenameAccount(ctx, storetest.Operator, email, "new-"+email)
		},
	} {
		n := signedUp(t, f, name+"@example.com")
		code := n.mailCode()
		now, err := vouch(name + "@example.com")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		state, err := f.Address(ctx, n.session)
		if err != nil || state != (store.AddressState{Email: now, Confirmed: true, Reachable: true}) {
			t.Errorf("%s: it is %+v, %v", name, state, err)
		}
		if got := codesIn(t, f); len(got) != 0 {
			t.Errorf("%s: the code %s is still sent", name, code.Reveal())
		}
		storetest.Push(t, f, n.by, func(in *store.NewPush) { in.Mail = mailing("a@example.net") })
	}
	if err := f.ConfirmAccount(ctx, f.Account("ann@example.com"), "ann@example.com"); !errors.Is(err, record.ErrDenied) {
		t.Errorf("a client vouches: %v", err)
	}
	if err := f.ConfirmAccount(ctx, storetest.Operator, "nowhere@example.com"); !errors.Is(err, record.ErrNotFound) {
		t.Errorf("an account that is not there: %v", err)
	}
	if err := f.ConfirmAccount(ctx, storetest.Operator, "ann@example.com"); err != nil {
		t.Error(err)
	}
	if kinds := eventsOf(t, f, record.AdminAddressConfirm); !slices.Equal(kinds, []string{"address_confirm confirm@example.com"}) {
		t.Errorf("the events are %v", kinds)
	}
}

func TestNoCodeWithoutMailOrASession(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	n := signedUp(t, f, "eve@example.com")
	if err := f.MailCode(ctx, n.by, n.session, ""); !errors.Is(err, record.ErrNotFound) {
		t.Errorf("a server that sends no mail: %v", err)
	}
	none := secret.New("none")
	_, err := f.Address(ctx, none)
	for _, err := range []error{err, f.MailCode(ctx, n.by, none, ""), f.ConfirmAddress(ctx, n.by, none, none)} {
		if !errors.Is(err, record.ErrSession) {
			t.Errorf("without a session: %v", err)
		}
	}
}

func TestTheFileHoldsNoCodeInClear(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, sendsMail)
	n := signedUp(t, f, "eve@example.com")
	code := n.mailCode()
	n.confirms(otherThan(code))
	due, _, err := f.DueMessages(ctx, record.MessageQuery{Route: record.ByMail, Limit: 9})
	if err != nil || len(due) != 1 {
		t.Fatalf("%d mails are due: %v", len(due), err)
	}
	holdsNone(t, f, [][]byte{due[0].Sealed}, code.Reveal())
	events, err := f.AdminEvents(ctx, time.Time{}, 0, 1000)
	env.OK(t, err)
	for _, e := range events {
		if strings.Contains(e.Detail, code.Reveal()) {
			t.Errorf("an event has the code: %+v", e)
		}
	}
}

func TestACodeGoesOnlyToAnAddressThatLinksCanBeMailedTo(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, unhurried, sendsMail)
	for email, reachable := range map[string]bool{"eve@example.com": true, "änn@example.com": false, "eve@[192.0.2.25]": false} {
		n := signedUp(t, f, email)
		state, err := f.Address(ctx, n.session)
		if err != nil || state.Reachable != reachable {
			t.Errorf("%s: %+v, %v", email, state, err)
		}
		if err := f.MailCode(ctx, n.by, n.session, ""); errors.Is(err, record.ErrNotFound) == reachable || reachable && err != nil {
			t.Errorf("a code to %s: %v", email, err)
		}
	}
	if got := codesIn(t, f); len(got) != 1 || got[0].To.Reveal() != "eve@example.com" {
		t.Errorf("codes: %+v", got)
	}
}

// Strangers who ask for the link of a person's password use up no mail that others send there, and
// little of the person's own.
func TestForgottenPasswordsUseUpNoOtherMail(t *testing.T) {
	t.Parallel()
	storetest.OnEachEngine(t, func(t *testing.T, engine func(*storetest.Setup)) {
		f := storetest.New(t, engine, sendsMail, unhurried, func(s *storetest.Setup) {
			s.Mail.PerAccount, s.Mail.PerInstance, s.Mail.PerAddressee = 100, 1000, 2
		})
		storetest.AddMember(t, f, email)
		var quota *record.QuotaError
		for i := range 6 {
			if err := f.AskForPassword(ctx, anonymous, email, "https://push.example", ""); errors.As(err, &quota) != (i == 5) || err != nil && i < 5 {
				t.Errorf("link %d: %v", i, err)
			}
		}
		storetest.Push(t, f, f.Account("dan@example.com"), func(in *store.NewPush) { in.Mail = mailing(email) })
		env.OK(t, f.RemoveAccount(ctx, storetest.Operator, email))
		storetest.AddMember(t, f, email)
		if err := f.AskForPassword(ctx, anonymous, email, "https://push.example", ""); !errors.As(err, &quota) {
			t.Errorf("a link for another account of the address: %v", err)
		}
	})
}

// One client can make many accounts, and must not use up the links for passwords of others with them.
func TestCodesLeaveLinksForPasswordsTheirHalf(t *testing.T) {
	t.Parallel()
	storetest.OnEachEngine(t, func(t *testing.T, engine func(*storetest.Setup)) {
		f := storetest.New(t, engine, sendsMail, unhurried, func(s *storetest.Setup) { s.Mail.PerInstance = 8 })
		storetest.AddMember(t, f, email)
		storetest.AddMember(t, f, "bob@example.com")
		storetest.AddMember(t, f, "carol@example.com")
		ask := func(address string) error {
			return f.AskForPassword(ctx, anonymous, address, "https://push.example", "")
		}
		var quota *record.QuotaError
		for i, address := range []string{"eve1@example.com", "eve2@example.com", "eve3@example.com"} {
			eve := signedUp(t, f, address)
			if err := eve.MailCode(ctx, eve.by, eve.session, ""); errors.As(err, &quota) != (i == 2) || err != nil && i < 2 {
				t.Errorf("code %d: %v", i, err)
			}
		}
		if err := ask("eve1@example.com"); !errors.As(err, &quota) {
			t.Errorf("a link for an account that is not confirmed: %v", err)
		}
		for i, address := range []string{email, "bob@example.com", "carol@example.com"} {
			if err := ask(address); errors.As(err, &quota) != (i == 2) || err != nil && i < 2 {
				t.Errorf("link %d: %v", i, err)
			}
		}
		storetest.Push(t, f, f.Account("dan@example.com"), func(in *store.NewPush) {
			in.Mail = mailing("one@example.net,two@example.net,three@example.net,four@example.net")
		})
	})
}
