package admin_test

import (
	"context"
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pushbox/internal/admin"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// A route is a way to do operations: on the store itself or through the socket.
type route struct {
	f *storetest.Fixture
	c *admin.Client // nil: on the store itself
}

func do[In, Out any](t *testing.T, r route, o admin.Op[In, Out], in In) (Out, error) {
	t.Helper()
	if r.c != nil {
		return o.Call(t.Context(), r.c, in)
	}
	return o.Do(t.Context(), r.f.Store, in)
}

// must does what is expected to work.
func must[In, Out any](t *testing.T, r route, o admin.Op[In, Out], in In) Out {
	t.Helper()
	out, err := do(t, r, o, in)
	if err != nil {
		t.Fatalf("%T: %v", in, err)
	}
	return out
}

func wantErr[In, Out any](t *testing.T, r route, o admin.Op[In, Out], in In, want error) {
	t.Helper()
	_, err := do(t, r, o, in)
	env.ErrorIs(t, in, err, want)
}

// bothWays runs a test on a store itself and through a socket.
func bothWays(t *testing.T, test func(t *testing.T, r route)) {
	t.Run("in place", func(t *testing.T) {
		t.Parallel()
		test(t, route{f: storetest.New(t)})
	})
	t.Run("through the socket", func(t *testing.T) {
		t.Parallel()
		f := storetest.New(t)
		test(t, route{f: f, c: client(t, serve(t, f))})
	})
}

func TestAnAccountLives(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, r route) {
		who := admin.Address{Email: alice}
		listed := func(when string, want ...admin.User) {
			t.Helper()
			if list := must(t, r, admin.UserList, admin.None{}); len(list) != len(want) || len(want) > 0 && !reflect.DeepEqual(list, want) {
				t.Errorf("%s the list is %+v", when, list)
			}
		}
		u := must(t, r, admin.UserAdd, admin.Credentials{Email: "Alice@example.com", Password: clear(password)})
		want := admin.User{ID: 1, Email: alice, CreatedAt: r.f.Clock.Now(), Confirmed: true}
		if !reflect.DeepEqual(u, want) {
			t.Errorf("added %+v, want %+v", u, want)
		}
		must(t, r, admin.UserPasswd, admin.Credentials{Email: alice, Password: clear(password + "!")})
		must(t, r, admin.UserResetMFA, who)
		must(t, r, admin.UserRole, admin.Role{Email: alice, Admin: true})
		want.Admin = true
		listed("as an administrator", want)
		wantErr(t, r, admin.UserRole, admin.Role{Email: alice}, record.ErrLastAdmin)
		must(t, r, admin.UserRole, admin.Role{Email: alice, EvenLast: true})
		want.Admin = false
		must(t, r, admin.UserDisable, who)
		want.Disabled = true
		listed("after disable", want)
		must(t, r, admin.UserEnable, who)
		want.Disabled = false
		listed("after enable", want)
		outside := store.External{Identity: record.Identity{Issuer: "https://id.example.com", Subject: "7"}, Email: alice, Verified: true, Link: true}
		_, err := r.f.SignInAs(t.Context(), store.Actor{}, outside)
		env.OK(t, err)
		want.Identities, want.LastSignInAt = []admin.Identity{{Issuer: "https://id.example.com", Subject: "7"}}, r.f.Clock.Now()
		listed("linked", want)
		_, err = r.f.SignUp(t.Context(), store.Actor{Client: "192.0.2.9"}, "new@example.com", secret.New(password))
		env.OK(t, err)
		for _, confirmed := range []bool{false, true} {
			if list := must(t, r, admin.UserList, admin.None{}); len(list) != 2 || list[1].Confirmed != confirmed {
				t.Errorf("the list is %+v", list)
			}
			must(t, r, admin.UserConfirm, admin.Address{Email: "new@example.com"})
		}
		must(t, r, admin.UserRemove, admin.Address{Email: "new@example.com"})
		wantErr(t, r, admin.UserConfirm, admin.Address{Email: "new@example.com"}, record.ErrNotFound)
		must(t, r, admin.UserRename, admin.Rename{Email: alice, To: "eve@example.com"})
		wantErr(t, r, admin.UserExpirePushes, who, record.ErrNotFound)
		must(t, r, admin.UserRename, admin.Rename{Email: "eve@example.com", To: alice})
		_, err = r.f.CreatePush(t.Context(), store.Actor{Account: 1}, store.NewPush{Kind: record.Text, Payload: secret.New("x")})
		env.OK(t, err)
		if n := must(t, r, admin.UserExpirePushes, who); n.N != 1 {
			t.Errorf("%d pushes ended", n.N)
		}
		must(t, r, admin.UserRemove, who)
		listed("after remove")
	})
}

func TestATokenLives(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, r route) {
		must(t, r, admin.UserAdd, admin.Credentials{Email: alice, Password: clear(password)})
		made := must(t, r, admin.TokenCreate, admin.TokenRequest{Email: alice, TokenTerms: store.TokenTerms{Label: "laptop", Lifetime: time.Hour}})
		now := r.f.Clock.Now()
		want := admin.Token{ID: made.ID, Label: "laptop", Scopes: record.AllScopes, CreatedAt: now, ExpiresAt: now.Add(time.Hour)}
		env.Equal(t, "made", made.Token, want)
		if _, _, err := r.f.Authenticate(t.Context(), storetest.Anonymous, made.Secret.Text); err != nil {
			t.Errorf("the token that was handed over is not valid: %v", err)
		}
		want.LastUsedAt = now
		if list := must(t, r, admin.TokenList, admin.Address{Email: alice}); !slices.Equal(list, []admin.Token{want}) {
			t.Errorf("the list is %+v", list)
		}
		must(t, r, admin.TokenRevoke, admin.TokenRef{ID: made.ID})
		_, _, err := r.f.Authenticate(t.Context(), storetest.Anonymous, made.Secret.Text)
		env.ErrorIs(t, "the revoked token", err, record.ErrToken)
	})
}

func TestErrorsAreTheSameBothWays(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, r route) {
		unknown := admin.Address{Email: "unknown@example.com"}
		must(t, r, admin.UserAdd, admin.Credentials{Email: alice, Password: clear(password)})

		wantErr(t, r, admin.UserAdd, admin.Credentials{Email: alice, Password: clear(password)}, record.ErrExists)
		wantErr(t, r, admin.UserPasswd, admin.Credentials{Email: unknown.Email, Password: clear(password)}, record.ErrNotFound)
		wantErr(t, r, admin.UserResetMFA, unknown, record.ErrNotFound)
		wantErr(t, r, admin.UserUnlink, unknown, record.ErrNotFound)
		wantErr(t, r, admin.UserMailLink, admin.MailedLink{Email: unknown.Email, Base: "https://push.example.com"}, record.ErrNotFound)
		wantErr(t, r, admin.UserDisable, unknown, record.ErrNotFound)
		wantErr(t, r, admin.UserEnable, unknown, record.ErrNotFound)
		wantErr(t, r, admin.UserRemove, unknown, record.ErrNotFound)
		wantErr(t, r, admin.TokenCreate, admin.TokenRequest{Email: unknown.Email}, record.ErrNotFound)
		wantErr(t, r, admin.TokenList, unknown, record.ErrNotFound)
		wantErr(t, r, admin.TokenRevoke, admin.TokenRef{ID: 99}, record.ErrNotFound)

		_, err := do(t, r, admin.UserAdd, admin.Credentials{Email: "no address", Password: clear("short")})
		invalid := (*record.InvalidError)(nil)
		if !errors.As(err, &invalid) || len(invalid.Fields["email"]) != 1 || len(invalid.Fields["password"]) != 1 {
			t.Errorf("an address and a password that are wrong gave %v", err)
		}
	})
}

func TestEachByteOfAPasswordArrives(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, r route) {
		_, err := do(t, r, admin.UserAdd, admin.Credentials{Email: alice, Password: clear(strings.Repeat("x", 20) + "\xff")})
		if invalid := (*record.InvalidError)(nil); !errors.As(err, &invalid) || invalid.Fields["password"] == nil {
			t.Errorf("a password that is not UTF-8 gave %v", err)
		}
	})
}

func TestACheckFindsNothingWrongInANewStore(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, r route) {
		if problems := must(t, r, admin.Check, admin.None{}); len(problems) != 0 {
			t.Errorf("problems: %q", problems)
		}
	})
}

func TestACompactionTellsHowFarItIsAndWhatCameOfIt(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, r route) {
		must(t, r, admin.UserAdd, admin.Credentials{Email: alice, Password: clear(password)})
		told, last := 0, int64(0)
		size := must(t, r, admin.Compact.WithProgress(func(done, total int64) {
			if done < 0 || done > total {
				t.Errorf("%d of %d is done", done, total)
			}
			told++
			last = total
		}), admin.None{})
		if told == 0 || last <= 0 {
			t.Errorf("progress was told %d times, at last of %d bytes", told, last)
		}
		if size.After <= 0 || size.Before < size.After {
			t.Errorf("the sizes are %+v", size)
		}
		must(t, r, admin.Compact, admin.None{}) // without reports of progress
		if list := must(t, r, admin.UserList, admin.None{}); len(list) != 1 {
			t.Errorf("after it the list is %+v", list)
		}
	})
}

func TestAContextThatEndedEndsTheCall(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, r route) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var err error
		if r.c != nil {
			_, err = admin.UserList.Call(ctx, r.c, admin.None{})
		} else {
			_, err = admin.UserList.Do(ctx, r.f.Store, admin.None{})
		}
		env.ErrorIs(t, "it", err, context.Canceled)
	})
}

// Each operation that changes something leaves an event of the operator.
func TestEachChangeByACommandIsInTheLog(t *testing.T) {
	t.Parallel()
	r := route{f: storetest.New(t, func(s *storetest.Setup) {
		s.Mail = store.MailOptions{Languages: []string{"en"}, PerAccount: 3, PerInstance: 3, GiveUp: time.Hour}
	})}
	who := admin.Address{Email: alice}
	must(t, r, admin.UserAdd, admin.Credentials{Email: alice, Password: clear(password)})
	must(t, r, admin.UserAdd, admin.Credentials{Email: "root@example.com", Password: clear(password), Admin: true})
	token := must(t, r, admin.TokenCreate, admin.TokenRequest{Email: alice})
	hook := must(t, r, admin.WebhookAdd, admin.WebhookRequest{Email: alice, URL: clear("https://hooks.example.com"), Events: []string{"view"}})
	if err := r.f.DisableHook(t.Context(), storetest.Operator, hook.ID, true); err != nil {
		t.Fatal(err)
	}
	session, err := r.f.SignIn(t.Context(), store.Actor{}, alice, secret.New(password))
	if err != nil {
		t.Fatal(err)
	}
	storetest.EnableTOTP(t, r.f, &session)
	changes := []struct {
		name string
		do   func()
	}{
		{"user/add", func() {
			must(t, r, admin.UserAdd, admin.Credentials{Email: "bob@example.com", Password: clear(password)})
		}},
		{"user/invite", func() { must(t, r, admin.UserInvite, admin.Invitation{Email: "eve@example.com"}) }},
		{"user/password-link", func() { must(t, r, admin.UserPasswordLink, who) }},
		{"user/mail-link", func() {
			must(t, r, admin.UserMailLink, admin.MailedLink{Email: alice, Base: "https://push.example.com"})
		}},
		{"user/unlink", func() {
			x := store.External{Identity: record.Identity{Issuer: "i", Subject: "s"}, Email: "linked@example.com", Create: true}
			_, err := r.f.SignInAs(t.Context(), store.Actor{}, x)
			env.OK(t, err)
			must(t, r, admin.UserUnlink, admin.Address{Email: x.Email})
		}},
		{"user/reset-mfa", func() { must(t, r, admin.UserResetMFA, who) }},
		{"user/passwd", func() {
			must(t, r, admin.UserPasswd, admin.Credentials{Email: alice, Password: clear(password + "!"), KeepTokens: true})
		}},
		{"user/role", func() { must(t, r, admin.UserRole, admin.Role{Email: alice, Admin: true}) }},
		{"user/disable", func() { must(t, r, admin.UserDisable, who) }},
		{"user/enable", func() { must(t, r, admin.UserEnable, who) }},
		{"user/confirm", func() {
			_, err := r.f.SignUp(t.Context(), store.Actor{Client: "192.0.2.9"}, "new@example.com", secret.New(password))
			env.OK(t, err)
			must(t, r, admin.UserConfirm, admin.Address{Email: "new@example.com"})
		}},
		{"user/rename", func() { must(t, r, admin.UserRename, admin.Rename{Email: "new@example.com", To: "old@example.com"}) }},
		{"user/expire-pushes", func() { must(t, r, admin.UserExpirePushes, who) }},
		{"token/create", func() { must(t, r, admin.TokenCreate, admin.TokenRequest{Email: alice}) }},
		{"token/revoke", func() { must(t, r, admin.TokenRevoke, admin.TokenRef{ID: token.ID}) }},
		{"webhook/enable", func() { must(t, r, admin.WebhookEnable, admin.WebhookRef{ID: hook.ID}) }},
		{"webhook/remove", func() { must(t, r, admin.WebhookRemove, admin.WebhookRef{ID: hook.ID}) }},
		{"webhook/add", func() {
			must(t, r, admin.WebhookAdd, admin.WebhookRequest{Email: alice, URL: clear("https://hooks.example.com"), Events: []string{"view"}})
		}},
		{"purge", func() { must(t, r, admin.Purge, store.Purge{}) }},
		{"compact", func() { must(t, r, admin.Compact, admin.None{}) }},
		{"backup", func() {
			if err := os.Remove(must(t, r, admin.Backup, admin.None{}).Path); err != nil {
				t.Fatal(err)
			}
		}},
		{"user/policy", func() {
			r.f.Configure(store.Options{Policies: []store.Policy{{Name: "finance"}}})
			must(t, r, admin.UserPolicy, admin.NewPolicy{Email: alice, Policy: "finance"})
		}},
		{"user/remove", func() { must(t, r, admin.UserRemove, who) }},
	}
	names := slices.DeleteFunc(admin.Changing(), func(name string) bool { return name == "key/rotate" }) // its key is in no file here
	for _, change := range changes {
		last, err := r.f.LastAdminEvent(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		change.do()
		list := must(t, r, admin.Events, admin.EventQuery{After: last}).Events
		if !slices.ContainsFunc(list, func(e store.AdminLine) bool { return e.Actor == "operator" }) {
			t.Errorf("the log has no event of %s: %+v", change.name, list)
		}
		if i := slices.Index(names, change.name); i >= 0 {
			names = slices.Delete(names, i, i+1)
		} else {
			t.Errorf("there is no operation %s", change.name)
		}
	}
	if len(names) > 0 {
		t.Errorf("no test finds the events of %q", names)
	}
}

func TestTheInstanceLogIsListed(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, r route) {
		must(t, r, admin.UserAdd, admin.Credentials{Email: alice, Password: clear(password)})
		r.f.Clock.Advance(time.Minute)
		made := must(t, r, admin.TokenCreate, admin.TokenRequest{Email: alice, TokenTerms: store.TokenTerms{Label: "laptop"}})
		hook := must(t, r, admin.WebhookAdd, admin.WebhookRequest{Email: alice, URL: clear("https://hooks.example.com"), Events: []string{"view"}})
		by := store.Actor{Client: "192.0.2.7", IP: "192.0.2.7", UserAgent: "Browser/1.0"}
		if _, err := r.f.SignIn(t.Context(), by, alice, secret.New("a wrong password")); !errors.Is(err, record.ErrCredentials) {
			t.Fatal(err)
		}
		_, err := r.f.SignIn(t.Context(), by, alice, secret.New(password))
		env.OK(t, err)
		const layout = "2006-01-02T15:04:05.000Z"
		now := r.f.Clock.Now()
		then, first := now.Format(layout), now.Add(-time.Minute).Format(layout)
		want := []store.AdminLine{
			{Number: 1, Time: first, Event: "keys_create", Actor: "system"},
			{Number: 2, Time: first, Event: "account_create", Actor: "operator", AccountID: 1, Account: alice},
			{Number: 3, Time: then, Event: "token_create", Actor: "operator", AccountID: 1, Account: alice, Token: made.ID, Detail: "laptop"},
			{Number: 4, Time: then, Event: "webhook_add", Actor: "operator", AccountID: 1, Account: alice, Webhook: hook.ID, Detail: "view"},
			{Number: 5, Time: then, Event: "sign_in_refused", Actor: "anonymous", IP: by.IP, UserAgent: by.UserAgent, AccountID: 1, Account: alice},
			{Number: 6, Time: then, Event: "sign_in", Actor: "account", ActorID: 1, IP: by.IP, UserAgent: by.UserAgent, AccountID: 1, Account: alice},
		}
		for _, c := range []struct {
			in   admin.EventQuery
			want []store.AdminLine
		}{{admin.EventQuery{}, want}, {admin.EventQuery{Since: now}, want[2:]}, {admin.EventQuery{Since: now, After: 5}, want[5:]}, {admin.EventQuery{After: 6}, nil}} {
			if got := must(t, r, admin.Events, c.in); !slices.Equal(got.Events, c.want) || got.More {
				t.Errorf("%+v:\n%+v\nwant\n%+v", c.in, got, c.want)
			}
		}
	})
}
