package store_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/seal"
	"pushbox/store/storetest"
)

// Name and note can change as long as the push is live. They stay sealed, and outlive it.
func TestNameAndNoteCanBeGivenLater(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	alice := f.Account("alice@example.com")
	p := storetest.Push(t, f, alice, nil)
	text := func(s string) *secret.Text { return ptr(secret.New(s)) }
	for _, step := range []struct {
		edit       store.PushEdit
		name, note string
		entries    string
		wrong      string
	}{
		{store.PushEdit{Name: text("name-marker"), Note: text("note-marker")}, "name-marker", "note-marker", "creation edit ", ""},
		{store.PushEdit{Name: text("name-marker")}, "name-marker", "note-marker", "creation edit ", ""},
		{store.PushEdit{Name: text(strings.Repeat("n", store.MaxName+1)), Views: ptr(9)}, "name-marker", "note-marker", "creation edit ", store.FieldName},
		{store.PushEdit{Note: text(strings.Repeat("n", store.MaxNote+1))}, "name-marker", "note-marker", "creation edit ", store.FieldNote},
		{store.PushEdit{Note: text("second"), Views: ptr(9)}, "name-marker", "second", "creation edit edit ", ""},
		{store.PushEdit{Name: text(""), Note: text("")}, "", "", "creation edit edit edit ", ""},
		{store.PushEdit{Name: text("kept")}, "kept", "", "creation edit edit edit edit ", ""},
	} {
		_, err := f.EditPush(ctx, alice, p.Token, step.edit)
		var invalid *record.InvalidError
		if wrong := errors.As(err, &invalid); wrong != (step.wrong != "") || wrong && invalid.Fields[step.wrong] == nil || !wrong && err != nil {
			t.Errorf("%+v: %v", step, err)
		}
		f.Reopen()
		h, err := f.History(ctx, alice, p.Token, 1)
		if err != nil || h.Name.Reveal() != step.name || h.Note.Reveal() != step.note {
			t.Errorf("%+v: %q, %q, %v", step, h.Name.Reveal(), h.Note.Reveal(), err)
		}
		if got := storetest.EntryKinds(t, f, alice, p); got != step.entries {
			t.Errorf("%+v: entries %s", step, got)
		}
	}
	if h, _ := f.History(ctx, alice, p.Token, 1); h.ViewLimit != 9 {
		t.Errorf("%d views", h.ViewLimit)
	}
	if _, err := f.DeletePush(ctx, alice, p.Token); err != nil {
		t.Fatal(err)
	}
	if got, err := f.EditPush(ctx, alice, p.Token, store.PushEdit{Name: text("late")}); err != nil || got.Live() {
		t.Errorf("after the end: %v", err)
	}
	ended, err := f.Pushes(ctx, alice, false, 1)
	if err != nil || len(ended) != 1 || ended[0].Name.Reveal() != "kept" {
		t.Errorf("after the end: %+v, %v", ended, err)
	}
}

func TestWhoMayEditAndSeeAHistory(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	alice, bob := f.Account("alice@example.com"), f.Account("bob@example.com")
	hers, anonymousPush := storetest.Push(t, f, alice, nil), storetest.Push(t, f, anonymous, nil)
	for name, test := range map[string]struct {
		by    store.Actor
		token store.Token
		want  error
	}{
		"the owner":                   {alice, hers.Token, nil},
		"another account":             {bob, hers.Token, record.ErrDenied},
		"anonymous":                   {anonymous, hers.Token, record.ErrDenied},
		"an account, anonymous push":  {alice, anonymousPush.Token, record.ErrDenied},
		"anonymous, anonymous push":   {anonymous, anonymousPush.Token, record.ErrDenied},
		"the owner, an unknown token": {alice, store.NewToken(f.Clock.Now()), record.ErrNotFound},
		"the owner, no token":         {alice, store.Token{}, record.ErrNotFound},
	} {
		if _, err := f.EditPush(ctx, test.by, test.token, store.PushEdit{Views: ptr(9)}); !errors.Is(err, test.want) {
			t.Errorf("%s edits: %v", name, err)
		}
		if _, err := f.History(ctx, test.by, test.token, 1); !errors.Is(err, test.want) {
			t.Errorf("%s looks: %v", name, err)
		}
	}
	f.Clock.Jump(2 * day)
	if _, err := f.EditPush(ctx, alice, hers.Token, store.PushEdit{Views: ptr(8)}); !errors.Is(err, record.ErrClock) {
		t.Errorf("in doubt: %v", err)
	}
}

func TestAHistoryIsDurableBeforeItSaysThatAPushHasEnded(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	alice := f.Account("alice@example.com")
	p := storetest.Push(t, f, alice, func(in *store.NewPush) { in.Name, in.Note = secret.New("name"), secret.New("note") })
	h, err := f.History(ctx, alice, p.Token, 1)
	if err != nil || !h.Live() || h.Name.Reveal() != "name" || h.Note.Reveal() != "note" || len(h.Log) != 1 {
		t.Fatalf("%+v, %v", h, err)
	}
	if h.Days != (store.Range{Default: 7, Min: 1, Max: 90}) || h.Views != (store.Range{Default: 5, Min: 1, Max: 100}) {
		t.Errorf("bounds %+v and %+v", h.Days, h.Views)
	}
	f.Clock.Advance(7 * day)
	if h, err = f.History(ctx, alice, p.Token, 1); err != nil || h.Live() {
		t.Fatalf("%+v, %v", h, err)
	}
	f.Clock.Jump(-7 * day)
	f.Reopen()
	if storetest.Retrieve(t, f, anonymous, p) != "" {
		t.Error("a clock brought it back")
	}
}

func TestAnEditEndsGrantsWithThePush(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	alice := f.Account("alice@example.com")
	for name, views := range map[string]int{"a live push": 5, "a push that had its last view": 2} {
		p := storetest.PushFiles(t, f, alice, func(in *store.NewPush) { in.Views = ptr(views) }, storetest.Content(1, 4*seal.ChunkSize))
		f.Clock.Advance(day - 10*time.Minute)
		got := storetest.Grant(t, f, anonymous, p)
		running, err := f.Download(ctx, got.Grant, 0)
		env.OK(t, err)
		ended := make(chan struct{})
		running.AfterEnd(func() { close(ended) })
		if _, err := f.EditPush(ctx, alice, p.Token, store.PushEdit{Days: ptr(1)}); err != nil {
			t.Fatal(err)
		}
		later := storetest.Grant(t, f, anonymous, p)
		f.Clock.Advance(10*time.Minute - time.Millisecond)
		for _, g := range []secret.Text{got.Grant, later.Grant} {
			if _, err := storetest.Download(f, g, 0); err != nil {
				t.Errorf("%s: in the last moment: %v", name, err)
			}
		}
		begun, err := f.Download(ctx, got.Grant, 0)
		env.OK(t, err)
		if _, err := io.CopyN(io.Discard, begun, 10); err != nil {
			t.Fatal(err)
		}
		f.Clock.Advance(time.Millisecond)
		if _, err := io.CopyN(io.Discard, begun, 2*seal.ChunkSize); !errors.Is(err, record.ErrNotFound) {
			t.Errorf("%s: a download reads on: %v", name, err)
		}
		begun.Close()
		wantEnded(t, f, got.Grant)
		f.SweepAll()
		<-ended
		running.Close()
		wantEnded(t, f, later.Grant)
		if n := f.Orphans(); n != 0 {
			t.Errorf("%s: %d pushes left their files behind", name, n)
		}
	}
}

func TestLongerLimitsBringNoGrantBack(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	alice := f.Account("alice@example.com")
	p := storetest.PushFiles(t, f, alice, nil, storetest.Content(1, 10))
	got := storetest.Grant(t, f, anonymous, p)
	f.Clock.Advance(15 * time.Minute)
	if _, err := f.EditPush(ctx, alice, p.Token, store.PushEdit{Days: ptr(90)}); err != nil {
		t.Fatal(err)
	}
	wantEnded(t, f, got.Grant)
}

func TestEditsAndViewsNeverPassTheLimitTheyMeet(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	alice := f.Account("alice@example.com")
	for range 5 {
		p := storetest.Push(t, f, alice, func(in *store.NewPush) { in.Views = ptr(30) })
		var all sync.WaitGroup
		for i := range 64 {
			all.Go(func() {
				if i%2 == 0 {
					if _, err := f.Retrieve(ctx, anonymous, p.Token, secret.Text{}, nil); err != nil {
						t.Errorf("retrieve: %v", err)
					}
					return
				}
				var invalid *record.InvalidError
				if _, err := f.EditPush(ctx, alice, p.Token, store.PushEdit{Views: ptr(i), Days: ptr(1 + i)}); err != nil && !errors.As(err, &invalid) {
					t.Errorf("edit: %v", err)
				}
			})
		}
		all.Wait()
	}
	f.Check() // views are entries, and none is beyond the limit
}

func TestASearchIsOfOnesOwnPushes(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	alice, bob := f.Account("alice@example.com"), f.Account("bob@example.com")
	for i, name := range []string{"Mail server", "VPN", "mail, old"} {
		f.Clock.Advance(time.Second)
		storetest.Push(t, f, alice, func(in *store.NewPush) { in.Name, in.Note = secret.New(name), secret.New(fmt.Sprintf("No. %d", i)) })
	}
	storetest.Push(t, f, bob, func(in *store.NewPush) { in.Name = secret.New("Mail of Bob") })
	storetest.Push(t, f, anonymous, func(in *store.NewPush) { in.Name = secret.New("Mail of no account") })
	for words, want := range map[string]string{
		"mail": "mail, old|Mail server", "MAIL no.": "mail, old|Mail server", "server 0": "Mail server", "": "mail, old|VPN|Mail server",
		" vpn ": "VPN", "bob": "", "mail vpn": "", "servermail": "",
	} {
		found, err := f.SearchPushes(ctx, alice, store.Search{Live: true, Words: words}, 1)
		if err != nil || found.More || found.Cut {
			t.Fatalf("%q: %+v, %v", words, found, err)
		}
		var names []string
		for _, p := range found.Pushes {
			names = append(names, p.Name.Reveal())
		}
		if got := strings.Join(names, "|"); got != want {
			t.Errorf("%q found %q", words, got)
		}
	}
	if found, err := f.SearchPushes(ctx, alice, store.Search{Words: "mail"}, 1); err != nil || len(found.Pushes) != 0 {
		t.Errorf("expired: %+v, %v", found, err)
	}
	f.Clock.Advance(7 * day)
	if found, err := f.SearchPushes(ctx, alice, store.Search{Live: true, Words: "mail"}, 1); err != nil || len(found.Pushes) != 0 {
		t.Errorf("after their time: %+v, %v", found, err)
	}
	if found, err := f.SearchPushes(ctx, alice, store.Search{Words: "mail"}, 1); err != nil || len(found.Pushes) != 2 {
		t.Errorf("expired then: %+v, %v", found, err)
	}
}

func TestAListIsOfAKindWithNewsAndInAnOrder(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	alice := f.Account("alice@example.com")
	add := func(name string, change func(*store.NewPush)) store.Token {
		f.Clock.Advance(time.Second)
		return storetest.Push(t, f, alice, func(in *store.NewPush) {
			in.Name = secret.New(name)
			change(in)
		}).Token
	}
	add("unopened", func(in *store.NewPush) { in.Days = new(3) })
	opened := add("opened", func(in *store.NewPush) { in.Kind, in.Payload = record.URL, secret.New("https://example.com") })
	last := add("last", func(in *store.NewPush) { in.Views = new(2) })
	guessed := add("guessed", func(in *store.NewPush) { in.Passphrase = secret.New("open sesame") })
	add("soon", func(in *store.NewPush) { in.Lifetime = day })
	for _, token := range []store.Token{opened, last} {
		if _, err := f.Retrieve(ctx, anonymous, token, secret.Text{}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.Retrieve(ctx, anonymous, guessed, secret.New("wrong"), nil); !errors.Is(err, record.ErrPassphrase) {
		t.Fatal(err)
	}
	list := func(q store.Search) string {
		found, err := f.SearchPushes(ctx, alice, q, 1)
		if err != nil || found.More || found.Cut || found.Live+found.Ended != 5 {
			t.Fatalf("%+v: %+v, %v", q, found, err)
		}
		var names []string
		for _, p := range found.Pushes {
			names = append(names, p.Name.Reveal())
			if p.Live() == p.Token.IsZero() {
				t.Errorf("%+v: whether %s has a link: %t", q, p.Name.Reveal(), !p.Token.IsZero())
			}
		}
		return strings.Join(names, " ")
	}
	for want, q := range map[string]store.Search{
		"opened":                            {Live: true, Kind: record.URL},
		"soon guessed unopened":             {Live: true, News: store.NotOpened},
		"last opened":                       {Live: true, News: store.Opened},
		"guessed":                           {Live: true, News: store.Guessed},
		"soon":                              {Live: true, News: store.EndsSoon},
		"last":                              {Live: true, News: store.LastView},
		"":                                  {Live: true, News: store.LastView, Kind: record.URL},
		"soon unopened opened last guessed": {Live: true, ByEnd: true},
		"unopened opened":                   {Live: true, ByEnd: true, Words: "opened"},
	} {
		if got := list(q); got != want {
			t.Errorf("%+v: %q, not %q", q, got, want)
		}
	}
	f.Clock.Advance(time.Hour)
	for _, token := range []store.Token{last, opened} {
		f.Clock.Advance(time.Second)
		if _, err := f.DeletePush(ctx, alice, token); err != nil {
			t.Fatal(err)
		}
	}
	if got := list(store.Search{ByEnd: true}); got != "opened last" {
		t.Errorf("the last to end first: %q", got)
	}
}

// A crowd is an engine that lists more pushes than it keeps.
type crowd struct {
	record.Engine
	size   int
	listed int
}

func (c *crowd) Pushes(ctx context.Context, owner record.AccountID, live bool, _ record.ID, _, limit int) ([]record.Push, error) {
	ps, err := c.Engine.Pushes(ctx, owner, live, record.ID{}, 0, 1)
	if err != nil || len(ps) == 0 {
		return nil, err
	}
	list := make([]record.Push, min(limit, c.size-c.listed))
	for i := range list {
		list[i] = ps[0]
	}
	c.listed += len(list)
	return list, nil
}

func (c *crowd) CountPushes(_ context.Context, _ record.AccountID, live bool, most int) (int, error) {
	return map[bool]int{true: min(c.size, most)}[live], nil
}

func TestASearchSaysWhereItStopped(t *testing.T) {
	t.Parallel()
	for size, cut := range map[int]bool{store.MaxSearched - 1: false, store.MaxSearched: false, store.MaxSearched + 1: true} {
		f := storetest.New(t, func(s *storetest.Setup) {
			s.Wrap = func(e record.Engine) record.Engine { return &crowd{Engine: e, size: size} }
		})
		alice := f.Account("alice@example.com")
		storetest.Push(t, f, alice, func(in *store.NewPush) { in.Name = secret.New("mail") })
		found, err := f.SearchPushes(ctx, alice, store.Search{Live: true, Words: "vpn"}, 1)
		if err != nil || found.Cut != cut || len(found.Pushes) != 0 || found.Live != store.MaxCounted+1 || found.Ended != 0 {
			t.Errorf("%d pushes: cut: %t, %d and %d counted, %v", size, found.Cut, found.Live, found.Ended, err)
		}
	}
}

// A heldList is an engine that lists nothing until it is released, but says who asked.
type heldList struct {
	record.Engine
	asked   chan record.AccountID
	release chan struct{}
}

func (e heldList) Pushes(ctx context.Context, owner record.AccountID, live bool, before record.ID, skip, limit int) ([]record.Push, error) {
	e.asked <- owner
	<-e.release
	return e.Engine.Pushes(ctx, owner, live, before, skip, limit)
}

func TestTheSearchesOfOneAccountLeaveRoomForOthers(t *testing.T) {
	t.Parallel()
	e := heldList{asked: make(chan record.AccountID, 100), release: make(chan struct{})}
	f := storetest.New(t, func(s *storetest.Setup) {
		s.Wrap = func(inner record.Engine) record.Engine {
			e.Engine = inner
			return e
		}
	})
	alice, bob := f.Account("alice@example.com"), f.Account("bob@example.com")
	search := func(by store.Actor, to chan<- error) {
		_, err := f.SearchPushes(ctx, by, store.Search{Live: true, Words: "vpn"}, 1)
		to <- err
	}
	const all, waiting = 40, 4
	crowd, other := make(chan error, all), make(chan error, 1)
	go search(alice, crowd)
	<-e.asked
	for range all - 1 {
		go search(alice, crowd)
	}
	for range all - 1 - waiting {
		if err := <-crowd; !errors.Is(err, record.ErrBusy) {
			t.Errorf("one of many searches: %v", err)
		}
	}
	go search(bob, other)
	close(e.release)
	if err := <-other; err != nil {
		t.Errorf("the search of another account: %v", err)
	}
	for range 1 + waiting {
		if err := <-crowd; err != nil {
			t.Errorf("a search that waited: %v", err)
		}
	}
}

// An arrival is an engine that another push comes into before each but the first
// look at a list.
type arrival struct {
	record.Engine
	looks *int
	come  func()
}

func (a arrival) Pushes(ctx context.Context, owner record.AccountID, live bool, before record.ID, skip, limit int) ([]record.Push, error) {
	if *a.looks++; *a.looks > 1 && a.come != nil {
		a.come()
	}
	return a.Engine.Pushes(ctx, owner, live, before, skip, limit)
}

func TestASearchTellsNoPushTwiceWhenOthersCome(t *testing.T) {
	t.Parallel()
	looks := 0
	engine := &arrival{looks: &looks}
	f := storetest.New(t, func(s *storetest.Setup) {
		s.Wrap = func(e record.Engine) record.Engine {
			engine.Engine = e
			return engine
		}
	})
	alice := f.Account("alice@example.com")
	for i := range 101 { // a batch and one more
		f.Clock.Advance(time.Millisecond)
		storetest.Push(t, f, alice, func(in *store.NewPush) { in.Name = secret.New(map[bool]string{true: "mail", false: "VPN"}[i < 3]) })
	}
	engine.come = func() {
		f.Clock.Advance(time.Millisecond)
		storetest.Push(t, f, alice, nil)
	}
	found, err := f.SearchPushes(ctx, alice, store.Search{Live: true, Words: "mail"}, 1)
	if err != nil || len(found.Pushes) != 3 || looks != 2 {
		t.Errorf("%d found in %d looks, %v", len(found.Pushes), looks, err)
	}
}
