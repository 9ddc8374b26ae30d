package store_test

import (
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

// named are the operations that take a handle.
func named(f *storetest.Fixture, by store.Actor, n store.Name) map[string]error {
	errs := make(map[string]error)
	_, errs["retrieve"] = f.Retrieve(ctx, by, n, secret.Text{}, nil)
	_, errs["delete"] = f.DeletePush(ctx, by, n)
	_, errs["edit"] = f.EditPush(ctx, by, n, store.PushEdit{Views: ptr(9)})
	_, errs["audit"] = f.Audit(ctx, by, n, 1)
	_, errs["history"] = f.History(ctx, by, n, 1)
	return errs
}

func TestAHandleNamesAnEndedPushToItsOwnerAlone(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann, bob := f.Account("ann@example.com"), f.Account("bob@example.com")
	p := storetest.Push(t, f, ann, func(in *store.NewPush) { in.Name, in.Note = secret.New("name"), secret.New("note") })
	ownerless := storetest.Push(t, f, anonymous, nil)
	for op, err := range named(f, ann, p.Handle()) {
		if !errors.Is(err, record.ErrNotFound) {
			t.Errorf("%s of a live push: %v", op, err)
		}
	}
	for _, ended := range []store.PushInfo{p, ownerless} {
		if _, err := f.DeletePush(ctx, ann, ended.Token); err != nil {
			t.Fatal(err)
		}
	}
	for by, a := range map[string]store.Actor{"another account": bob, "anonymous": anonymous, "the operator": storetest.Operator} {
		for op, err := range named(f, a, p.Handle()) {
			if !errors.Is(err, record.ErrNotFound) {
				t.Errorf("%s by %s: %v", op, by, err)
			}
		}
	}
	for _, name := range []store.Name{ownerless.Handle(), store.Handle{1}, store.Handle{}, nil} {
		for op, err := range named(f, ann, name) {
			if !errors.Is(err, record.ErrNotFound) {
				t.Errorf("%s of %v: %v", op, name, err)
			}
		}
	}
	for op, err := range named(f, ann, p.Handle()) {
		if err != nil {
			t.Errorf("%s by the owner: %v", op, err)
		}
	}
	got, err := f.Retrieve(ctx, ann, p.Handle(), secret.Text{}, nil)
	if err != nil || got.Live() || !got.Payload.IsZero() || !got.Token.IsZero() || got.URLToken() != p.Handle().String() || got.ViewLimit != 5 {
		t.Errorf("it is %+v, %v", got, err)
	}
	h, err := f.History(ctx, ann, p.Handle(), 1)
	if err != nil || h.Name.Reveal() != "name" || h.Note.Reveal() != "note" || len(h.Log) != 4 || h.Log[1].Kind != record.EntryExpire {
		t.Errorf("its history is %+v, %v", h, err)
	}
}

// The files of a push that had its last view go by its handle too.
func TestAHandleEndsTheDownloadsOfAPush(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann := f.Account("ann@example.com")
	p := storetest.PushFiles(t, f, ann, func(in *store.NewPush) { in.Views = ptr(1) }, storetest.Content(1, 100))
	shown, err := f.Retrieve(ctx, anonymous, p.Token, secret.Text{}, nil)
	env.OK(t, err)
	listed, err := f.Pushes(ctx, ann, false, 1)
	if err != nil || len(listed) != 1 || listed[0].URLToken() != p.Handle().String() {
		t.Fatalf("%+v, %v", listed, err)
	}
	got, err := f.DeletePush(ctx, ann, p.Handle())
	if err != nil || !got.Ended || got.HoldsFiles() {
		t.Errorf("it is %+v, %v", got, err)
	}
	if _, err := f.Download(ctx, shown.Grant, 0); !errors.Is(err, record.ErrNotFound) {
		t.Errorf("a file can still be downloaded: %v", err)
	}
}

func TestOnlyWholeHandlesAreRead(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	p := storetest.Push(t, f, anonymous, nil)
	h := p.Handle().String()
	if len(h) != 36 || len(p.Token.Reveal()) != 34 || strings.ToLower(h) != h || strings.Contains(h, p.Token.Reveal()[9:]) {
		t.Errorf("the handle is %s", h)
	}
	for _, text := range []string{h, strings.ToUpper(h)} {
		if n, err := store.ParseName(text); err != nil || n != store.Name(p.Handle()) {
			t.Errorf("%s is read as %v, %v", text, n, err)
		}
	}
	if n, err := store.ParseName(strings.ToUpper(p.Token.Reveal())); err != nil || n.(store.Token).Reveal() != p.Token.Reveal() {
		t.Errorf("a url_token is read as %v, %v", n, err)
	}
	const spare = "bcdefghijklmnop" // the last character of a handle has one bit: these have others
	for _, text := range []string{
		"", h[:35], h + "a", h[:35] + "1", "0" + h[1:], h[:34] + "==", h[:17] + "\n" + h[18:], h[:33] + "\u212a",
		h[:35] + string(spare[0]), h[:35] + string(spare[14]),
	} {
		if n, err := store.ParseName(text); !errors.Is(err, record.ErrNotFound) {
			t.Errorf("%q is read as %v, %v", text, n, err)
		}
	}
}

func TestAnEndLeavesNeitherKeyNorLink(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*storetest.Fixture, store.Actor, store.PushInfo) error{
		"the last view": func(f *storetest.Fixture, _ store.Actor, p store.PushInfo) error {
			_, err := f.Retrieve(ctx, anonymous, p.Token, secret.Text{}, nil)
			return err
		},
		"a delete": func(f *storetest.Fixture, by store.Actor, p store.PushInfo) error {
			_, err := f.DeletePush(ctx, by, p.Token)
			return err
		},
		"its time": func(f *storetest.Fixture, _ store.Actor, _ store.PushInfo) error {
			f.Clock.Advance(8 * day)
			f.SweepAll()
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := storetest.New(t)
			ann := f.Account("ann@example.com")
			change := func(in *store.NewPush) { in.Views = ptr(1) }
			bare := storetest.Push(t, f, ann, change)
			f.Clock.Advance(time.Second)
			p := storetest.Push(t, f, ann, func(in *store.NewPush) { in.Views, in.Name = ptr(1), secret.New("name") })
			ownerless := storetest.Push(t, f, anonymous, change)
			if p.Link == nil || p.Wrap == nil || bare.Link == nil || bare.Details != nil || ownerless.Link != nil {
				t.Fatalf("they are %+v, %+v, %+v", p.Push, bare.Push, ownerless.Push)
			}
			for _, one := range []store.PushInfo{p, bare} {
				env.OK(t, end(f, ann, one))
				f.Reopen()
				now, err := f.Preview(ctx, one.Token)
				if err != nil || now.Live() || now.Link != nil || now.Wrap != nil {
					t.Errorf("it is %+v, %v", now.Push, err)
				}
			}
			list, err := f.Pushes(ctx, ann, false, 1)
			if err != nil || len(list) != 2 || list[0].Name.Reveal() != "name" || list[1].Details != nil {
				t.Errorf("the list is %+v, %v", list, err)
			}
		})
	}
}
