package store_test

import (
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

func TestARenamedAccountKeepsAllItHas(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	a := storetest.AddMember(t, f, email)
	ann := store.Actor{Account: a.ID}
	f.Account("bob@example.com")
	token := newToken(t, f, 0)
	session, err := f.SignIn(ctx, storetest.Anonymous, email, secret.New(right))
	env.OK(t, err)
	p, err := f.CreatePush(ctx, ann, store.NewPush{Kind: record.Text, Payload: secret.New("x")})
	env.OK(t, err)
	for to, want := range map[string]error{"bob@example.com": record.ErrExists, "BOB@example.com ": record.ErrExists} {
		if err := f.RenameAccount(ctx, storetest.Operator, email, to); !errors.Is(err, want) {
			t.Errorf("to %s: %v", to, err)
		}
	}
	if invalid := (*record.InvalidError)(nil); !errors.As(f.RenameAccount(ctx, storetest.Operator, email, "no address"), &invalid) {
		t.Error("it takes what is no address")
	}
	if err := f.RenameAccount(ctx, ann, email, "eve@example.com"); !errors.Is(err, record.ErrDenied) {
		t.Errorf("by a client: %v", err)
	}
	env.OK(t, f.RenameAccount(ctx, storetest.Operator, email, " Eve@Example.com"))
	if err := f.RenameAccount(ctx, storetest.Operator, email, "zoe@example.com"); !errors.Is(err, record.ErrNotFound) {
		t.Errorf("by the earlier address: %v", err)
	}
	a, _, err = f.Authenticate(ctx, storetest.Anonymous, token.Secret)
	if err != nil || a.ID != ann.Account || a.Email != "eve@example.com" {
		t.Errorf("its token: %+v, %v", a, err)
	}
	if s, err := f.Resume(ctx, session.Secret); err != nil || s.Email != "eve@example.com" {
		t.Errorf("its session: %+v, %v", s, err)
	}
	if h, err := f.History(ctx, ann, p.Token, 1); err != nil || h.ID != p.ID {
		t.Errorf("its push: %v", err)
	}
	f.Account(email) // the earlier address is free
}

func TestAnAdministratorIsGrantedAndRevoked(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	first, err := f.AddFirstAccount(ctx, storetest.Anonymous, email, secret.New(right))
	if err != nil || !first.Administers() {
		t.Fatalf("the first account: %+v, %v", first, err)
	}
	ann := store.Actor{Account: first.ID}
	session, err := f.SignIn(ctx, storetest.Anonymous, email, secret.New(right))
	if err != nil || !session.Admin {
		t.Fatalf("its session: %+v, %v", session.SessionInfo, err)
	}
	bob := f.Account("bob@example.com").Account
	role := func(by store.Actor, email string, admin, evenLast bool, want error) {
		t.Helper()
		if err := f.SetAdmin(ctx, by, email, admin, evenLast); !errors.Is(err, want) {
			t.Errorf("%s, %t: %v, not %v", email, admin, err, want)
		}
	}
	role(ann, "bob@example.com", true, false, record.ErrDenied) // its role does not come with the account alone
	if _, err := f.AddAdmin(ctx, ann, "eve@example.com", secret.New(right)); !errors.Is(err, record.ErrDenied) {
		t.Errorf("a client makes an administrator: %v", err)
	}
	role(storetest.Operator, email, false, false, record.ErrLastAdmin)
	for what, err := range map[string]error{
		"disable": f.SetDisabled(ctx, storetest.Operator, email, true),
		"remove":  f.RemoveAccount(ctx, storetest.Operator, email),
	} {
		if !errors.Is(err, record.ErrLastAdmin) {
			t.Errorf("%s: %v", what, err)
		}
	}
	admin := store.Actor{Role: store.Admin, Account: first.ID, IP: "192.0.2.7"}
	role(admin, "bob@example.com", true, false, nil)
	role(admin, "unknown@example.com", true, false, record.ErrNotFound)
	role(admin, email, false, false, nil)
	if s, err := f.Resume(ctx, session.Secret); err != nil || s.Admin {
		t.Errorf("its session, afterwards: %+v, %v", s, err)
	}
	role(storetest.Operator, "bob@example.com", false, true, nil)
	if a, _ := f.Accounts(ctx); len(a) != 2 || a[0].Admin || a[1].Admin {
		t.Errorf("the accounts: %+v", a)
	}
	events, err := f.AdminEvents(ctx, time.Time{}, 0, 100)
	env.OK(t, err)
	for _, want := range []struct {
		kind    record.AdminKind
		by      store.Actor
		account record.AccountID
	}{
		{record.AdminGrant, admin, bob},
		{record.AdminRevoke, admin, first.ID},
		{record.AdminRevoke, storetest.Operator, bob},
	} {
		if !slices.ContainsFunc(events, func(e store.AdminEventInfo) bool {
			return e.Kind == want.kind && e.By.Role == want.by.Role && e.By.Account == want.by.Account && e.By.IP == want.by.IP && e.Account == want.account
		}) {
			t.Errorf("there is no event %s by %+v", want.kind, want.by)
		}
	}
}

func TestAllLivePushesOfAnAccountEndAndKeepTheirLogs(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann, bob := f.Account(email), f.Account("bob@example.com")
	make := func(by store.Actor) store.PushInfo {
		t.Helper()
		p, err := f.CreatePush(ctx, by, store.NewPush{Kind: record.Text, Payload: secret.New("x")})
		env.OK(t, err)
		return p
	}
	const many = 300 // more than are read at once
	hers, unseen := make(ann), make(ann)
	for range many - 2 {
		make(ann)
	}
	his := make(bob)
	if n, err := f.ExpirePushes(ctx, ann, email); n != 0 || !errors.Is(err, record.ErrDenied) {
		t.Errorf("by a client: %d, %v", n, err)
	}
	if n, err := f.ExpirePushes(ctx, storetest.Operator, "zoe@example.com"); n != 0 || !errors.Is(err, record.ErrNotFound) {
		t.Errorf("of an unknown account: %d, %v", n, err)
	}
	for _, want := range []int{many, 0} {
		if n, err := f.ExpirePushes(ctx, storetest.Operator, email); n != want || err != nil {
			t.Errorf("%d ended, not %d: %v", n, want, err)
		}
	}
	if r, err := f.Retrieve(ctx, storetest.Anonymous, hers.Token, secret.Text{}, nil); err != nil || r.Live() {
		t.Errorf("hers is live: %v", err)
	}
	if r, err := f.Retrieve(ctx, storetest.Anonymous, his.Token, secret.Text{}, nil); err != nil || !r.Live() {
		t.Errorf("his ended: %v", err)
	}
	ended, err := f.Pushes(ctx, ann, false, 1)
	if err != nil || len(ended) != store.PageSize {
		t.Fatalf("%d ended pushes are listed, %v", len(ended), err)
	}
	h, err := f.History(ctx, ann, unseen.Handle(), 1)
	if err != nil || len(h.Log) != 2 || h.Log[1].Kind != record.EntryExpire {
		t.Errorf("the log is %+v, %v", h.Log, err)
	}
}

func TestAnAccountShowsItsLastSignIn(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, unhurried)
	storetest.AddMember(t, f, email)
	last := func() time.Time {
		t.Helper()
		list, err := f.Accounts(ctx)
		if err != nil || len(list) != 1 {
			t.Fatal(len(list), err)
		}
		return list[0].SignedInAt
	}
	if !last().IsZero() {
		t.Errorf("before the first: %v", last())
	}
	for range 2 {
		f.Clock.Advance(time.Hour)
		if _, err := f.SignIn(ctx, storetest.Anonymous, email, secret.New(right)); err != nil {
			t.Fatal(err)
		}
		if !last().Equal(f.Clock.Now()) {
			t.Errorf("it was at %v, not %v", last(), f.Clock.Now())
		}
	}
	at := last()
	f.Clock.Advance(time.Hour)
	if _, err := f.SignIn(ctx, storetest.Anonymous, email, secret.New("wrong password")); err == nil || !last().Equal(at) {
		t.Errorf("after a wrong password: %v, %v", last(), err)
	}
}
