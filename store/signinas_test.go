package store_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
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

// person is one whom a provider vouches for, and whom the settings let in.
func person(change ...func(*store.External)) store.External {
	x := store.External{
		Identity: record.Identity{Issuer: "https://id.example.com", Subject: "1234"}, Provider: "Office", Name: "sid-1",
		Email: email, Verified: true, Link: true, Create: true,
	}
	for _, c := range change {
		c(&x)
	}
	return x
}

func signInAs(t *testing.T, f *storetest.Fixture, change ...func(*store.External)) store.NewSession {
	t.Helper()
	n, err := f.SignInAs(ctx, storetest.Anonymous, person(change...))
	env.OK(t, err)
	return n
}

func wantRefused(t *testing.T, f *storetest.Fixture, change ...func(*store.External)) {
	t.Helper()
	if _, err := f.SignInAs(ctx, storetest.Anonymous, person(change...)); !errors.Is(err, record.ErrCredentials) {
		t.Errorf("%+v: %v, not ErrCredentials", person(change...), err)
	}
}

// kinds lists the kinds of the last n events, with their details.
func lastKinds(t *testing.T, f *storetest.Fixture, n int) (all []string) {
	t.Helper()
	list := eventsAfter(t, f, 0)
	for _, e := range list[max(0, len(list)-n):] {
		all = append(all, strings.TrimSpace(e.Kind.String()+" "+e.Detail))
	}
	return all
}

func TestAPersonOfAProviderGetsAnAccountAndFindsItAgain(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	first := signInAs(t, f)
	if first.Email != email || first.Unconfirmed || first.Admin || !first.NoPassword || first.Via != person().Identity || first.ViaName != "sid-1" {
		t.Errorf("the first session is %+v", first.SessionInfo)
	}
	if got, want := lastKinds(t, f, 2), []string{"account_create by Office", "sign_in by Office"}; !slices.Equal(got, want) {
		t.Errorf("the log says %q", got)
	}
	again := signInAs(t, f, func(x *store.External) { x.Email, x.Create, x.Link = "renamed@example.com", false, false })
	if again.Owner != first.Owner || again.Email != email {
		t.Errorf("the second session is of account %d, %s", again.Owner, again.Email)
	}
	other := signInAs(t, f, func(x *store.External) { x.Subject, x.Email, x.Verified = "1235", "other@example.com", false })
	if other.Owner == first.Owner || !other.Unconfirmed {
		t.Errorf("another person got %+v", other.SessionInfo)
	}
	f.Reopen()
	if signInAs(t, f).Owner != first.Owner {
		t.Error("after a restart another account was found")
	}
	f.Check()
}

func TestWhomTheSettingsDoNotLetInIsRefused(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	wantRefused(t, f, func(x *store.External) { x.Denied, x.Why = true, "the group is wrong" })
	if got := lastKinds(t, f, 1); got[0] != `sign_in_refused by Office, subject "1234": the group is wrong` {
		t.Errorf("the log says %q", got)
	}
	wantRefused(t, f, func(x *store.External) { x.Create = false })
	wantRefused(t, f, func(x *store.External) { x.Email = "" })
	wantRefused(t, f, func(x *store.External) { x.Email = "not an address" })
	wantRefused(t, f, func(x *store.External) { x.Subject = "" })
	wantRefused(t, f, func(x *store.External) { x.Subject = strings.Repeat("x", 513) })
	if has, err := f.HasAccounts(ctx); has || err != nil {
		t.Errorf("there is an account: %v", err)
	}
	a := signInAs(t, f)
	wantRefused(t, f, func(x *store.External) { x.Denied = true })
	for _, end := range []func() error{
		func() error { return f.SetDisabled(ctx, storetest.Operator, email, true) },
		func() error { return f.RemoveAccount(ctx, storetest.Operator, email) },
	} {
		env.OK(t, end())
		wantRefused(t, f, func(x *store.External) { x.Create = false })
	}
	if n := signInAs(t, f); n.Owner == a.Owner {
		t.Error("the removed account is used again")
	}
}

func TestAnAccountIsNotTakenOverByAnUnverifiedAddress(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	storetest.AddMember(t, f, email)
	wantRefused(t, f, func(x *store.External) { x.Verified = false })
	wantRefused(t, f, func(x *store.External) { x.Link = false })
	if _, err := f.SignUp(ctx, storetest.Anonymous, "victim@example.com", secret.New(right)); err != nil {
		t.Fatal(err)
	}
	wantRefused(t, f, func(x *store.External) { x.Email = "victim@example.com" })
	list, err := f.Accounts(ctx)
	for _, a := range list {
		if a.Identities != "" {
			t.Errorf("%s is linked", a.Email)
		}
	}
	if err != nil || len(list) != 2 {
		t.Errorf("%d accounts, %v", len(list), err)
	}
}

func TestAVerifiedAddressLinksWhereThatIsAllowed(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	member := storetest.AddMember(t, f, email)
	n := signInAs(t, f, func(x *store.External) { x.Email = strings.ToUpper(email) })
	if n.Owner != member.ID || n.NoPassword {
		t.Errorf("the session is %+v", n.SessionInfo)
	}
	if got, want := lastKinds(t, f, 2), []string{"identity_link by Office", "sign_in by Office"}; !slices.Equal(got, want) {
		t.Errorf("the log says %q", got)
	}
	if err := signsIn(f, email, right); err != nil {
		t.Errorf("its password: %v", err)
	}
	for i := range record.MaxIdentities - 1 {
		signInAs(t, f, func(x *store.External) { x.Issuer = strings.Repeat("x", i+1) })
	}
	wantRefused(t, f, func(x *store.External) { x.Issuer = "one too many" })
	if _, err := f.Invite(ctx, storetest.Operator, "new@example.com", true); err != nil {
		t.Fatal(err)
	}
	invited := signInAs(t, f, func(x *store.External) { x.Subject, x.Email = "new", "new@example.com" })
	if !invited.Admin {
		t.Error("an invited administrator does not administer")
	}
}

func TestGroupsDecideTheRoleAndKeepTheLastAdministrator(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	role := func(admin bool) func(*store.External) { return func(x *store.External) { x.Admin = &admin } }
	if !signInAs(t, f, role(true)).Admin {
		t.Error("the role was not given")
	}
	if !signInAs(t, f, role(false)).Admin {
		t.Error("the last administrator was taken away")
	}
	signInAs(t, f, role(true), func(x *store.External) { x.Subject, x.Email = "b", "b@example.com" })
	if signInAs(t, f, role(false)).Admin {
		t.Error("the role was not taken away")
	}
	if got, want := lastKinds(t, f, 2), []string{"admin_revoke by Office", "sign_in by Office"}; !slices.Equal(got, want) {
		t.Errorf("the log says %q", got)
	}
	env.OK(t, f.SetAdmin(ctx, storetest.Operator, email, true, false))
	if !signInAs(t, f).Admin {
		t.Error("a provider that does not decide the role has changed it")
	}
}

func TestASecondFactorIsAskedForUnlessTheProviderAskedForOne(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	storetest.AddMember(t, f, email)
	session := storetest.SignIn(t, f)
	signInAs(t, f) // which links the account
	key, _ := storetest.EnableTOTP(t, f, &session)
	pending := signInAs(t, f)
	if !pending.Pending {
		t.Fatal("no code is asked for")
	}
	if got := lastKinds(t, f, 1); got[0] != "first_factor by Office" {
		t.Errorf("the log says %q", got)
	}
	f.Clock.Advance(time.Minute)
	n, err := f.SignInCode(ctx, storetest.Anonymous, pending.Secret, storetest.Code(t, f, key, 0))
	if err != nil || n.Via != person().Identity || n.ViaName != "sid-1" || n.Strong {
		t.Errorf("after the code: %+v, %v", n.SessionInfo, err)
	}
	if strong := signInAs(t, f, func(x *store.External) { x.Strong = true }); strong.Pending || !strong.Strong {
		t.Errorf("with the provider's: %+v", strong.SessionInfo)
	}
}

func TestASignInOfLateStandsForAPassword(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	n := signInAs(t, f)
	create := func() error {
		_, err := f.CreateOwnToken(ctx, storetest.Anonymous, n.Secret, secret.Text{}, store.Factor{}, store.TokenTerms{Label: "x"})
		return err
	}
	if err := create(); err != nil {
		t.Errorf("at once: %v", err)
	}
	f.Clock.Advance(10*time.Minute + time.Second)
	if err := create(); !errors.Is(err, record.ErrStale) {
		t.Errorf("later: %v", err)
	}
	n = signInAs(t, f)
	if _, err := f.ChangePassword(ctx, storetest.Anonymous, n.Secret, secret.Text{}, secret.New(another), false); !errors.Is(err, record.ErrDenied) {
		t.Errorf("a password in place of the provider: %v", err)
	}
	for _, password := range []string{"", right} {
		if err := signsIn(f, email, password); !errors.Is(err, record.ErrCredentials) {
			t.Errorf("the password %q: %v", password, err)
		}
	}
}

// Without a password a session of late is all that proves an account, so it takes a factor to
// lose one, and to get another one.
func TestItTakesAFactorToChangeFactorsWithoutAPassword(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	n := signInAs(t, f)
	key, _ := storetest.EnableTOTP(t, f, &n)
	codes := func(given store.Factor) error {
		_, err := f.NewRecoveryCodes(ctx, storetest.Anonymous, n.Secret, secret.Text{}, given)
		return err
	}
	off := func(given store.Factor) error {
		return f.DisableTOTP(ctx, storetest.Anonymous, n.Secret, secret.Text{}, given)
	}
	for name, lose := range map[string]func(store.Factor) error{
		"recovery codes": codes, "the app": off,
		"a passkey": func(given store.Factor) error {
			return f.RemovePasskey(ctx, storetest.Anonymous, n.Secret, secret.Text{}, given, record.PasskeyID{})
		},
		"another passkey": func(given store.Factor) error {
			k := newKeyholder(t, f)
			k.given = given
			_, _, err := k.add(n.Secret, "a thief's")
			return err
		},
	} {
		if err := lose(store.Factor{}); !errors.Is(err, record.ErrCredentials) {
			t.Errorf("%s without a factor: %v", name, err)
		}
	}
	for _, lose := range []func(store.Factor) error{codes, off} {
		f.Clock.Advance(time.Minute)
		if err := lose(store.Factor{Code: storetest.Code(t, f, key, 0)}); err != nil {
			t.Error(err)
		}
	}
}

// A provider ends the sessions that it began, and no others. What it said once ends nothing
// that began later.
func TestAProviderEndsItsSessions(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	storetest.AddMember(t, f, email)
	own := storetest.SignIn(t, f)
	one, two := signInAs(t, f), signInAs(t, f, func(x *store.External) { x.Name = "sid-2" })
	stranger := signInAs(t, f, func(x *store.External) { x.Subject, x.Email = "b", "b@example.com" })
	end := func(of record.Identity, name string, at time.Time) {
		t.Helper()
		env.OK(t, f.EndSessionsOf(ctx, of, name, at, "Office"))
	}
	id, now := person().Identity, f.Clock.Now()
	end(id, "sid-3", now)
	end(record.Identity{Issuer: "https://other.example.com", Subject: id.Subject}, "", now)
	end(record.Identity{Issuer: id.Issuer, Subject: "nobody"}, "", now)
	end(id, "", now.Add(-time.Second))
	for _, n := range []store.NewSession{own, one, two, stranger} {
		wantResume(t, f, n, nil)
	}
	end(record.Identity{Issuer: id.Issuer}, "sid-2", now)
	wantResume(t, f, two, record.ErrSession)
	wantResume(t, f, one, nil)
	if got := lastKinds(t, f, 1); got[0] != "provider_sign_out by Office" {
		t.Errorf("the log says %q", got)
	}
	end(id, "", now)
	wantResume(t, f, one, record.ErrSession)
	wantResume(t, f, own, nil)
	f.Clock.Advance(time.Minute)
	later := signInAs(t, f)
	end(id, "sid-1", now) // it is said again
	wantResume(t, f, later, nil)
	end(record.Identity{Issuer: id.Issuer}, "sid-1", f.Clock.Now())
	wantResume(t, f, later, record.ErrSession)
	wantResume(t, f, stranger, record.ErrSession) // the provider called its session by the same name
}

// At once two requests of a new person make one account.
func TestTwoFirstSignInsMakeOneAccount(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	got := make(chan record.AccountID, 2)
	for range 2 {
		go func() {
			n, err := f.SignInAs(ctx, storetest.Anonymous, person())
			if err != nil {
				t.Error(err)
			}
			got <- n.Owner
		}()
	}
	if a, b := <-got, <-got; a != b {
		t.Errorf("accounts %d and %d", a, b)
	}
}

func TestAnotherPersonDoesNotGetAnAccountByItsAddress(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	first := signInAs(t, f)
	wantRefused(t, f, func(x *store.External) { x.Subject = "5678" }) // a newcomer with the address of a person who left
	if n := signInAs(t, f); n.Owner != first.Owner {
		t.Errorf("the person is account %d", n.Owner)
	}
	other := signInAs(t, f, func(x *store.External) { x.Issuer = "https://other.example.com" })
	if other.Owner != first.Owner {
		t.Error("another provider that verified the address was not linked")
	}
	env.OK(t, f.RenameAccount(ctx, storetest.Operator, email, "new@example.com"))
	proxied := func(x *store.External) {
		x.Issuer, x.Subject = store.ByProxy, "new@example.com"
		x.Email = "new@example.com"
	}
	if n := signInAs(t, f, proxied); n.Owner != first.Owner {
		t.Error("the proxy names another account")
	}
	env.OK(t, f.RenameAccount(ctx, storetest.Operator, "new@example.com", email))
	if n := signInAs(t, f, proxied); n.Owner == first.Owner {
		t.Error("the next person with the address got the account")
	}
}

func TestAnAccountWithASecondFactorIsNotLinkedBeforeItIsGiven(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	storetest.AddMember(t, f, email)
	n := storetest.SignIn(t, f)
	storetest.EnableTOTP(t, f, &n)
	wantRefused(t, f)
	if n := signInAs(t, f, func(x *store.External) { x.Strong = true }); n.Email != email || n.Pending {
		t.Errorf("by a provider that asked for a second factor: %+v", n.SessionInfo)
	}
}

func TestTheInstanceLogSaysWhyAPersonIsRefused(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*store.External){
		"link_by_email is off":                  func(x *store.External) { x.Link = false },
		"has not verified the address":          func(x *store.External) { x.Verified = false },
		"is not confirmed":                      func(x *store.External) { x.Email = "new@example.com" },
		"create_accounts is off":                func(x *store.External) { x.Email, x.Create = "another@example.com", false },
		"the provider gives no e-mail address":  func(x *store.External) { x.Email = "" },
		"the subject is empty":                  func(x *store.External) { x.Subject = "" },
		"the account belongs to another person": func(x *store.External) { x.Email = "known@example.com" },
	} {
		f := storetest.New(t)
		storetest.AddMember(t, f, email)
		if _, err := f.SignUp(ctx, storetest.Anonymous, "new@example.com", secret.New(right)); err != nil {
			t.Fatal(err)
		}
		signInAs(t, f, func(x *store.External) { x.Subject, x.Email = "5678", "known@example.com" })
		wantRefused(t, f, change)
		if got := lastKinds(t, f, 1); !strings.HasPrefix(got[0], "sign_in_refused by Office") || !strings.Contains(got[0], want) {
			t.Errorf("the log says %q, not %q", got, want)
		}
	}
}

func TestWhatAPersonHadGoesWhenTheProviderRefusesThem(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	yes, no := true, false
	if _, err := f.AddAdmin(ctx, storetest.Operator, "root@example.com", secret.New("a long password")); err != nil {
		t.Fatal(err)
	}
	n := signInAs(t, f, func(x *store.External) { x.Admin = &yes })
	wantRefused(t, f, func(x *store.External) { x.Admin, x.Denied, x.Why = &no, true, "the group is wrong" })
	if _, err := f.Resume(ctx, n.Secret); !errors.Is(err, record.ErrSession) {
		t.Errorf("the session: %v", err)
	}
	if a, err := f.AccountByID(ctx, n.Owner); err != nil || a.Admin {
		t.Errorf("the account is %+v, %v", a, err)
	}
	wantRefused(t, f, func(x *store.External) { x.Denied, x.Why = true, "the group is wrong" })
	const refused = `sign_in_refused by Office, subject "1234": the group is wrong`
	if got, want := lastKinds(t, f, 3), []string{"provider_sign_out by Office", refused, refused}; !slices.Equal(got, want) {
		t.Errorf("the log says %q", got)
	}
}

func TestAnInvitationEndsWhenAProviderKnowsItsUser(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	l, err := f.Invite(ctx, storetest.Operator, email, false)
	env.OK(t, err)
	signInAs(t, f)
	if _, err := f.ReadPasswordLink(ctx, l.Code); !errors.Is(err, record.ErrCode) {
		t.Errorf("the link: %v", err)
	}
}

// A provider knows the user of an account no more once its links are removed, and the last
// administrator keeps a way to sign in.
func TestAnAccountIsUnlinked(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	n := signInAs(t, f)
	env.OK(t, f.Unlink(ctx, storetest.Operator, email))
	if _, err := f.Resume(ctx, n.Secret); !errors.Is(err, record.ErrSession) {
		t.Errorf("a session from before: %v", err)
	}
	wantRefused(t, f, func(x *store.External) { x.Link, x.Create = false, false })
	if again := signInAs(t, f); again.Owner != n.Owner { // linked by its address
		t.Errorf("account %d, not %d", again.Owner, n.Owner)
	}
	env.OK(t, f.SetAdmin(ctx, storetest.Operator, email, true, false))
	if err := f.Unlink(ctx, storetest.Operator, email); !errors.Is(err, record.ErrLastAdmin) {
		t.Errorf("the last administrator: %v", err)
	}
	env.OK(t, f.SetPassword(ctx, storetest.Operator, email, secret.New(right), false))
	if err := f.Unlink(ctx, storetest.Operator, email); err != nil {
		t.Errorf("the last administrator, who has a password: %v", err)
	}
	f.Check()
}

// A provider's word for an address is not one for another address that looks or folds like it.
func TestAProviderMakesNoAccountOfAnAddressThatPassesForAnother(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	karl := storetest.AddMember(t, f, "karl@example.com")
	for i, address := range []string{
		"\u212aarl@example.com", "\u043aarl@example.com", "karl\u200b@example.com", "karl@example\u3002com", "k\u00adarl@example.com", "ｋarl@example.com",
	} {
		wantRefused(t, f, func(x *store.External) {
			x.Subject, x.Email, x.Verified, x.Link, x.Create = fmt.Sprint("thief ", i), address, true, true, true
		})
	}
	if a, err := f.AccountByID(ctx, karl.ID); err != nil || a.Identities != "" {
		t.Errorf("%+v, %v", a, err)
	}
	if all, err := f.Accounts(ctx); err != nil || len(all) != 1 {
		t.Errorf("%d accounts, %v", len(all), err)
	}
}

// heldElsewhere is a provider that finds a person, and answers to a password once it is released.
func heldElsewhere(id record.Identity, inside chan<- struct{}, release <-chan struct{}) store.Elsewhere {
	return func(context.Context) (record.Identity, func(context.Context) (store.External, error), error) {
		return id, func(context.Context) (store.External, error) {
			inside <- struct{}{}
			<-release
			return store.External{}, record.ErrCredentials
		}, nil
	}
}

func TestASlowProviderHoldsUpNoOtherPassword(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	storetest.AddMember(t, f, email)
	storetest.AddMember(t, f, "bob@example.com")
	id := record.Identity{Issuer: "ldap", Subject: "ann"}
	if _, err := f.SignInAs(ctx, anonymous, store.External{Identity: id, Provider: "dir", Email: email, Verified: true, Link: true}); err != nil {
		t.Fatal(err)
	}
	inside, release := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		_, err := f.SignInAt(ctx, anonymous, "ann", secret.New("wrong"), true, heldElsewhere(id, inside, release))
		if !errors.Is(err, record.ErrCredentials) {
			t.Errorf("at the provider: %v", err)
		}
	})
	<-inside
	for n := range 2 * runtime.GOMAXPROCS(0) {
		by := store.Actor{Client: fmt.Sprintf("10.2.%d.2", n)}
		if _, err := f.SignIn(ctx, by, email, secret.New("wrong")); !errors.Is(err, record.ErrCredentials) {
			t.Errorf("a local password of the same account: %v", err)
		}
		if _, err := f.SignIn(ctx, by, "bob@example.com", secret.New(right)); err != nil {
			t.Errorf("a password of another account: %v", err)
		}
	}
	close(release)
	all.Wait()
}

func TestOneNetworkLeavesRoomAtAProvider(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, func(s *storetest.Setup) { s.Guessing.Queue = 16 })
	inside, release := make(chan struct{}, 100), make(chan struct{})
	signIn := func(client string, to chan<- error) {
		id := record.Identity{Issuer: "ldap", Subject: client}
		_, err := f.SignInAt(ctx, store.Actor{Client: client}, client, secret.New("wrong"), true, heldElsewhere(id, inside, release))
		to <- err
	}
	const running, waiting, more = 8, 2, 10 // half of what may run, and an eighth of what may wait
	crowd, other := make(chan error, 100), make(chan error, 1)
	enter := func(from, n int) {
		for i := range n {
			go signIn(fmt.Sprintf("203.0.113.%d", from+i), crowd)
		}
	}
	enter(0, running)
	for range running {
		<-inside
	}
	enter(running, waiting+more)
	for range more {
		if err := <-crowd; !errors.Is(err, record.ErrBusy) {
			t.Errorf("one of many sign-ins of a network: %v", err)
		}
	}
	go signIn("198.51.100.7", other)
	<-inside
	close(release)
	if err := <-other; !errors.Is(err, record.ErrCredentials) {
		t.Errorf("a sign-in of another network: %v", err)
	}
	for range running + waiting {
		if err := <-crowd; !errors.Is(err, record.ErrCredentials) {
			t.Errorf("a sign-in that was asked: %v", err)
		}
	}
}
