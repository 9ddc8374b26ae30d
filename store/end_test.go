package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"pushbox/store"
	"pushbox/store/bolt"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// endOf asks for the end of a push until it is known to be erased.
func endOf(t *testing.T, f *storetest.Fixture, by store.Actor, n store.Name) store.End {
	t.Helper()
	for range 60 {
		e, err := f.End(ctx, by, n, 0)
		var erasing *record.ErasingError
		if err == nil {
			return e
		}
		if !errors.As(err, &erasing) || erasing.RetryAfter <= 0 {
			t.Fatal(err)
		}
		f.SweepAll()
	}
	t.Fatal("it is never erased")
	return store.End{}
}

func TestTheEndOfAPushIsToldToItsSenderOnceItIsErased(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	alice, bob := f.Account("alice@example.com"), f.Account("bob@example.com")
	p := storetest.Push(t, f, alice, nil)
	if _, err := f.End(ctx, alice, p.Token, 0); !errors.Is(err, record.ErrLive) {
		t.Errorf("a live push: %v", err)
	}
	if _, err := f.End(ctx, bob, p.Token, 0); !errors.Is(err, record.ErrDenied) {
		t.Errorf("another account: %v", err)
	}
	if _, err := f.DeletePush(ctx, alice, p.Token); err != nil {
		t.Fatal(err)
	}
	e := endOf(t, f, alice, p.Handle())
	if e.Cause != store.EndedByDelete || e.ErasedAt.IsZero() || !e.Token.IsZero() || e.ID != p.ID {
		t.Errorf("%+v", e)
	}
	if _, err := f.End(ctx, bob, p.Handle(), 0); !errors.Is(err, record.ErrNotFound) {
		t.Errorf("another account, by the handle: %v", err)
	}

	late := storetest.Push(t, f, alice, nil)
	f.Clock.Advance(late.ExpiresAt.Sub(f.Clock.Now()))
	f.SweepAll()
	if e := endOf(t, f, alice, late.Token); e.Cause != store.EndedByTime {
		t.Errorf("after its time: %+v", e)
	}
}

// A copy of the last view may wait in memory, and files for downloads. Then a push is not gone.
func TestAnEndIsNotToldWhileSomethingIsLeft(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	alice := f.Account("alice@example.com")
	p := storetest.Push(t, f, alice, func(in *store.NewPush) { in.Views = ptr(1) })
	storetest.Retrieve(t, f, store.Actor{Client: "192.0.2.9", IP: "192.0.2.9"}, p)
	var erasing *record.ErasingError
	if _, err := f.End(ctx, alice, p.Token, time.Minute); !errors.As(err, &erasing) || erasing.RetryAfter != time.Minute {
		t.Errorf("within the window: %v", err)
	}
	f.Clock.Advance(time.Minute)
	if e := endOf(t, f, alice, p.Token); e.Cause != store.EndedByViews || e.Views != 1 {
		t.Errorf("%+v", e)
	}
}

// never is a file whose pages are never known to be overwritten.
type never struct{ record.FileUpkeep }

func (never) AwaitErased(ctx context.Context, _ record.ID) error { <-ctx.Done(); return ctx.Err() }

// An engine without a file of its own cannot say more than its rows do.
func TestTheStoreSaysWhatItKnowsOfThePages(t *testing.T) {
	t.Parallel()
	for name, wrap := range map[string]func(*bolt.DB) record.Engine{
		"no file": func(db *bolt.DB) record.Engine { return struct{ record.Engine }{db} },
		"not yet": func(db *bolt.DB) record.Engine {
			return struct {
				record.Engine
				never
			}{db, never{db}}
		},
	} {
		f := storetest.New(t, func(s *storetest.Setup) {
			s.Open = func(ctx context.Context) (record.Engine, error) {
				db, _, err := bolt.Open(ctx, s.Engine)
				if err != nil {
					return nil, err
				}
				return wrap(db), nil
			}
		})
		alice := f.Account("alice@example.com")
		p := storetest.Push(t, f, alice, nil)
		if _, err := f.DeletePush(ctx, alice, p.Token); err != nil {
			t.Fatal(err)
		}
		e, err := f.End(ctx, alice, p.Token, 0)
		var erasing *record.ErasingError
		if waits := errors.As(err, &erasing); waits != (name == "not yet") || !waits && err != nil || !e.ErasedAt.IsZero() {
			t.Errorf("%s: %v, %v", name, e.ErasedAt, err)
		}
	}
}

func TestTheKeyOfCertificatesStays(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	first, key := f.Certify([]byte("m"))
	f.Reopen()
	again, same := f.Certify([]byte("m"))
	_, other := storetest.New(t).Certify(nil)
	if string(first) != string(again) || !key.Equal(same) || key.Equal(other) {
		t.Error("it changed, or is that of another store")
	}
}
