package store_test

import (
	"errors"
	"net/netip"
	"testing"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

func at(address string) (by store.Actor) {
	by.Addr, _ = netip.ParseAddr(address)
	return by
}

// The networks of a push stay when the words of its owner change, and end with a push that has none.
func TestNetworksLimitAPushForAsLongAsItLives(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	alice, bob := f.Account("alice@example.com"), f.Account("bob@example.com")
	limited := func(in *store.NewPush) { in.Networks, in.Passphrase = "10.1.2.3/8 2001:db8::/32", secret.New("open") }
	owned, free := storetest.Push(t, f, alice, limited), storetest.Push(t, f, store.Actor{}, limited)
	edited := env.Must(f.EditPush(ctx, alice, owned.Token, store.PushEdit{Name: ptr(secret.New("name-marker"))}))(t)
	if !edited.Restricted {
		t.Error("an edit opens the push to all")
	}
	f.Reopen()
	bob.Addr = netip.MustParseAddr("11.0.0.1")
	for _, p := range []store.PushInfo{owned, free} {
		for _, by := range []store.Actor{at(""), at("11.0.0.0"), at("9.255.255.255"), at("2001:db9::"), bob} {
			for _, passphrase := range []string{"", "wrong", "open"} {
				if _, err := f.Retrieve(ctx, by, p.Token, secret.New(passphrase), nil); !errors.Is(err, record.ErrNetwork) {
					t.Errorf("from %s with %q: %v", by.Addr, passphrase, err)
				}
			}
		}
		for n, by := range []store.Actor{at("10.0.0.0"), at("10.255.255.255"), at("::ffff:10.0.0.1"), at("2001:db8::")} {
			if got := env.Must(f.Retrieve(ctx, by, p.Token, secret.New("open"), nil))(t); got.Views != n+1 || got.Failed != 0 {
				t.Errorf("from %s: %d views, %d failed", by.Addr, got.Views, got.Failed)
			}
		}
	}
	env.Must(f.Retrieve(ctx, alice, owned.Token, secret.New("open"), nil))(t)
	for _, end := range []bool{false, true} {
		if h := env.Must(f.History(ctx, alice, owned.Token, 1))(t); h.Networks != "10.0.0.0/8 2001:db8::/32" || h.Name.Reveal() != "name-marker" {
			t.Errorf("its owner sees %q, %q", h.Networks, h.Name.Reveal())
		}
		if !end {
			env.Must(f.DeletePush(ctx, alice, owned.Token))(t)
			env.Must(f.DeletePush(ctx, store.Actor{Role: store.Operator}, free.Token))(t)
		}
	}
	if p := env.Must(f.Preview(ctx, free.Token))(t); p.Details != nil {
		t.Error("the networks outlive a push without an owner, who could read them")
	}
	if got, err := f.Retrieve(ctx, at("11.0.0.0"), free.Token, secret.Text{}, nil); err != nil || got.Live() {
		t.Errorf("it has ended: %v", err)
	}
}
