package store_test

import (
	"encoding/base64"
	"errors"
	"slices"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

const another = "another horse battery"

func linkFor(t *testing.T, f *storetest.Fixture, email string) store.PasswordLink {
	t.Helper()
	l, err := f.MakePasswordLink(ctx, storetest.Operator, email)
	env.OK(t, err)
	return l
}

func setBy(f *storetest.Fixture, l store.PasswordLink, password string) error {
	return f.SetPasswordByLink(ctx, storetest.Anonymous, l.Code, secret.New(password), true)
}

func signsIn(f *storetest.Fixture, email, password string) error {
	_, err := f.SignIn(ctx, storetest.Anonymous, email, secret.New(password))
	return err
}

func TestALinkSetsAPasswordOnce(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	storetest.AddMember(t, f, email)
	session, err := f.SignIn(ctx, storetest.Anonymous, email, secret.New(right))
	env.OK(t, err)
	token := newToken(t, f, 0)
	l, second := linkFor(t, f, email), linkFor(t, f, email)
	if read, err := f.ReadPasswordLink(ctx, l.Code); err != nil || read.Email != email || read.First || !read.Until.Equal(l.Until) || l.Until.Sub(f.Clock.Now()) > store.ResetLasts {
		t.Errorf("%+v, %v", read, err)
	}
	if err := signsIn(f, email, right); err != nil { // the present password is still valid
		t.Error(err)
	}
	var invalid *record.InvalidError
	if err := setBy(f, l, "short"); !errors.As(err, &invalid) {
		t.Errorf("a short password: %v", err)
	}
	env.OK(t, setBy(f, l, another))
	for what, err := range map[string]error{"the same link": setBy(f, l, right), "a link from before": setBy(f, second, right)} {
		if !errors.Is(err, record.ErrCode) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := signsIn(f, email, another); err != nil {
		t.Error(err)
	}
	if err := signsIn(f, email, right); !errors.Is(err, record.ErrCredentials) {
		t.Errorf("the old password: %v", err)
	}
	if _, err := f.Resume(ctx, session.Secret); !errors.Is(err, record.ErrSession) {
		t.Errorf("a session from before: %v", err)
	}
	if _, _, err := f.Authenticate(ctx, storetest.Anonymous, token.Secret); !errors.Is(err, record.ErrToken) {
		t.Errorf("a token from before: %v", err)
	}
}

func TestALinkIsGoodForATimeAndForOneAccount(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	storetest.AddMember(t, f, email)
	storetest.AddMember(t, f, "bob@example.com")
	gone := func(what string, l store.PasswordLink) {
		t.Helper()
		if _, err := f.ReadPasswordLink(ctx, l.Code); !errors.Is(err, record.ErrCode) {
			t.Errorf("%s: read: %v", what, err)
		}
		if err := setBy(f, l, another); !errors.Is(err, record.ErrCode) {
			t.Errorf("%s: %v", what, err)
		}
	}
	l := linkFor(t, f, email)
	raw, err := base64.RawURLEncoding.DecodeString(l.Code.Reveal())
	env.OK(t, err)
	for i := range raw { // whatever is changed of it: the account, the time, the HMAC
		b := slices.Clone(raw)
		b[i] ^= 1
		gone("a changed byte", store.PasswordLink{Code: secret.New(base64.RawURLEncoding.EncodeToString(b))})
	}
	for _, text := range []string{"", "x", l.Code.Reveal() + "A", l.Code.Reveal()[1:], l.Code.Reveal() + "\n"} {
		gone("a text", store.PasswordLink{Code: secret.New(text)})
	}
	for what, change := range map[string]func() error{
		"renamed":  func() error { return f.RenameAccount(ctx, storetest.Operator, email, "ann@example.org") },
		"disabled": func() error { return f.SetDisabled(ctx, storetest.Operator, email, true) },
	} {
		env.OK(t, change())
		gone(what, l)
		_ = f.RenameAccount(ctx, storetest.Operator, "ann@example.org", email)
		_ = f.SetDisabled(ctx, storetest.Operator, email, false)
	}
	f.Clock.Advance(l.Until.Sub(f.Clock.Now()) - time.Second)
	if _, err := f.ReadPasswordLink(ctx, l.Code); err != nil {
		t.Errorf("a second before its end: %v", err)
	}
	f.Clock.Advance(time.Second)
	gone("too late", l)
	l = linkFor(t, f, email)
	env.OK(t, f.RemoveAccount(ctx, storetest.Operator, email))
	gone("removed", l)
}

func TestAnInvitedAccountCanDoNothingUntilItHasAPassword(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	if _, err := f.Invite(ctx, storetest.Anonymous, email, true); !errors.Is(err, record.ErrDenied) {
		t.Errorf("by a client: %v", err)
	}
	if _, err := f.MakePasswordLink(ctx, storetest.Anonymous, email); !errors.Is(err, record.ErrDenied) {
		t.Errorf("a link by a client: %v", err)
	}
	l, err := f.Invite(ctx, storetest.Operator, " Ann@Example.com", true)
	if err != nil || l.Email != email || !l.First {
		t.Fatalf("%+v, %v", l, err)
	}
	if _, err := f.Invite(ctx, storetest.Operator, email, false); !errors.Is(err, record.ErrExists) {
		t.Errorf("twice: %v", err)
	}
	for _, password := range []string{"", right} {
		if err := signsIn(f, email, password); !errors.Is(err, record.ErrCredentials) {
			t.Errorf("password %q: %v", password, err)
		}
	}
	bob := storetest.AddMember(t, f, "bob@example.com")
	env.OK(t, f.SetAdmin(ctx, storetest.Operator, bob.Email, true, false))
	if err := f.SetAdmin(ctx, storetest.Operator, bob.Email, false, false); !errors.Is(err, record.ErrLastAdmin) { // an invitation is no administrator
		t.Errorf("the last administrator: %v", err)
	}
	f.Clock.Advance(store.InviteLasts - time.Second)
	env.OK(t, setBy(f, l, another))
	if n, err := f.SignIn(ctx, storetest.Anonymous, email, secret.New(another)); err != nil || !n.Admin || n.Unconfirmed {
		t.Errorf("%+v, %v", n.SessionInfo, err)
	}
}

// A mailed link is that of the account. What asks for it learns nothing of whether there is
// one.
func TestALinkIsMailedToTheAccountAlone(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, sendsMail)
	storetest.AddMember(t, f, email)
	storetest.AddMember(t, f, "off@example.com")
	env.OK(t, f.SetDisabled(ctx, storetest.Operator, "off@example.com", true))
	const base = "https://push.example.com"
	for _, address := range []string{"unknown@example.com", "off@example.com", "no address", ""} {
		if err := f.AskForPassword(ctx, storetest.Anonymous, address, base, ""); err != nil {
			t.Errorf("%q: %v", address, err)
		}
		if h, err := f.Health(ctx); err != nil || !h.Latest.Equal(f.Clock.Now().UTC().Truncate(time.Millisecond)) {
			t.Errorf("%q: nothing was written, so the answer comes sooner than for an account: %v, %v", address, h.Latest, err)
		}
		if all := letters(t, f); len(all) != 0 {
			t.Errorf("%q: %d mails", address, len(all))
		}
		f.Clock.Advance(time.Minute)
	}
	env.OK(t, f.AskForPassword(ctx, storetest.Anonymous, " ANN@example.com", base, "de"))
	all := letters(t, f)
	if len(all) != 1 || all[0].About != store.MailPassword || all[0].To.Reveal() != email || all[0].Base != base || all[0].Language != "de" {
		t.Fatalf("%+v", all)
	}
	env.OK(t, setBy(f, store.PasswordLink{Code: all[0].Code}, another))
	if again := letters(t, f); len(again) != 0 {
		t.Errorf("a link that is used up would still be sent: %+v", again)
	}
	if err := f.AskForPassword(ctx, storetest.Anonymous, email, "", ""); !errors.Is(err, record.ErrNotFound) {
		t.Errorf("without the address of the server: %v", err)
	}
	var locked *record.LockedError
	for range 100 {
		if err := f.AskForPassword(ctx, storetest.Anonymous, "unknown@example.com", base, ""); errors.As(err, &locked) {
			break
		}
	}
	if locked == nil {
		t.Error("a client may ask without end")
	}
}

// Where the address was never confirmed, another person may have made the account, and left keys to it.
func TestALinkToAnAddressThatWasNotConfirmedMakesItsAccountAnew(t *testing.T) {
	t.Parallel()
	storetest.OnEachEngine(t, func(t *testing.T, engine func(*storetest.Setup)) {
		f := storetest.New(t, engine, unhurried)
		old := storetest.AddMember(t, f, email)
		n := storetest.SignIn(t, f)
		_, recovery := storetest.EnableTOTP(t, f, &n)
		k := newKeyholder(t, f)
		k.given.Code = recovery[0]
		if _, _, err := k.add(n.Secret, "laptop"); err != nil {
			t.Fatal(err)
		}
		env.OK(t, f.SetWishes(ctx, anonymous, n.Secret, store.Wishes{Name: "Eve"}))
		by := store.Actor{Account: old.ID}
		token, push, request := newToken(t, f, 0), storetest.Push(t, f, by, nil), asks(t, f, by, nil)
		addHook(t, f, email, record.EventView)
		for _, err := range []error{f.SetAdmin(ctx, storetest.Operator, email, true, false), unconfirm(f, old.ID)} {
			env.OK(t, err)
		}
		l := linkFor(t, f, email)
		n, err := f.ChangePassword(ctx, anonymous, n.Secret, secret.New(storetest.Password), secret.New("Eve keeps it"), false)
		env.OK(t, err)
		if read, err := f.ReadPasswordLink(ctx, l.Code); err != nil || !read.Anew {
			t.Errorf("%+v, %v", read, err)
		}
		env.OK(t, f.SetPasswordByLink(ctx, anonymous, l.Code, secret.New(another), false))
		if err := setBy(f, l, right); !errors.Is(err, record.ErrCode) {
			t.Errorf("the link again: %v", err)
		}
		wantResume(t, f, n, record.ErrSession)
		if _, _, err := f.Authenticate(ctx, anonymous, token.Secret); !errors.Is(err, record.ErrToken) {
			t.Errorf("the API token: %v", err)
		}
		if err := k.alone(t); !errors.Is(err, record.ErrCredentials) {
			t.Errorf("the passkey alone: %v", err)
		}
		if _, err := f.Retrieve(ctx, anonymous, push.Token, secret.Text{}, nil); !errors.Is(err, record.ErrNotFound) {
			t.Errorf("the push: %v", err)
		}
		if _, err := f.FindRequest(ctx, request.Token); !errors.Is(err, record.ErrNotFound) {
			t.Errorf("the request: %v", err)
		}
		if hooks, err := f.Hooks(ctx, email); err != nil || len(hooks) > 0 {
			t.Errorf("webhooks %+v, %v", hooks, err)
		}
		all, err := f.Accounts(ctx)
		if err != nil || len(all) != 1 || all[0].ID <= old.ID || all[0].Unconfirmed || all[0].MFA() || all[0].Name != "" || !all[0].Administers() {
			t.Errorf("accounts %+v, %v", all, err)
		}
		if own, err := f.SignIn(ctx, anonymous, email, secret.New(another)); err != nil || own.Pending {
			t.Errorf("the new password: %+v, %v", own.SessionInfo, err)
		}
		want := []string{"password_change " + email, "password_change " + email, "account_removed account 1 of " + email}
		if got := eventsOf(t, f, record.AdminPassword, record.AdminAccountRemoved); !slices.Equal(got, want) {
			t.Errorf("events %q", got)
		}
	})
}

// What an administrator does to an account is not done behind the back of its user.
func TestAnAccountIsToldWhatAnAdministratorDoesToIt(t *testing.T) {
	t.Parallel()
	storetest.OnEachEngine(t, func(t *testing.T, engine func(*storetest.Setup)) {
		f := storetest.New(t, engine, sendsMail, unhurried, func(s *storetest.Setup) { s.Mail.PerAccount = 3 })
		ann := storetest.AddMember(t, f, email)
		n := storetest.SignIn(t, f)
		storetest.EnableTOTP(t, f, &n)
		linkFor(t, f, email)
		for range 2 { // the second time there is nothing to remove
			env.OK(t, f.ResetFactors(ctx, storetest.Operator, email))
		}
		own := store.Actor{Role: store.Admin, Account: ann.ID}
		_, err := f.MakePasswordLink(ctx, own, email)
		if again := f.ResetFactors(ctx, own, email); !errors.Is(err, record.ErrOwnAccount) || !errors.Is(again, record.ErrOwnAccount) {
			t.Errorf("her own account: %v, %v", err, again)
		}
		got := letters(t, f)
		if len(got) != 2 || got[0].About != store.MailLinkMade || got[1].About != store.MailFactorsGone || got[0].To.Reveal() != email {
			t.Errorf("%+v", got)
		}
		for range 3 { // beyond the limit of mails it is made all the same
			linkFor(t, f, email)
		}
		if n := len(letters(t, f)); n != 3 {
			t.Errorf("%d mails", n)
		}
		events := eventsOf(t, f, record.AdminPasswordLink, record.AdminFactorRemove)
		if len(events) != 5 {
			t.Errorf("events %q", events)
		}
		env.OK(t, f.SetDisabled(ctx, storetest.Operator, email, true))
		if n := len(letters(t, f)); n != 3 {
			t.Errorf("%d mails once it is disabled", n)
		}
		env.OK(t, unconfirm(f, ann.ID))
		if got := letters(t, f); len(got) > 0 {
			t.Errorf("an address that is not confirmed gets %+v", got)
		}
	})
}
