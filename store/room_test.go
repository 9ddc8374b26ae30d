package store_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/bolt"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// bounded gives a fixture limits of room.
func bounded(l record.RoomLimits) func(*storetest.Setup) {
	return func(s *storetest.Setup) { s.Engine.Room, s.Space.Room = l, l }
}

// from is an anonymous client.
func from(client string) store.Actor { return store.Actor{Client: client, IP: client} }

// sent makes a push whose text has size bytes.
func sent(f *storetest.Fixture, by store.Actor, size int) (store.PushInfo, error) {
	return f.CreatePush(ctx, by, store.NewPush{Kind: record.Text, Payload: secret.New(strings.Repeat("x", size))})
}

// wantRoom fails the test unless a push is refused for want of that room; 0: unless it is made.
func wantRoom(t *testing.T, what string, err error, of record.RoomOf) {
	t.Helper()
	refused := (*record.RoomError)(nil)
	if of == 0 && err != nil || of != 0 && (!errors.As(err, &refused) || refused.Of != of || !errors.Is(err, record.ErrRoom)) {
		t.Errorf("%s: %v, %+v", what, err, refused)
	}
}

func TestAnAnonymousClientHasSoManyLivePushes(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, bounded(record.RoomLimits{Client: record.Room{Pushes: 3}}))
	ann := f.Account(email)
	one, two := from("198.51.100.1"), from("2001:db8::/64")
	var made []store.PushInfo
	create := func(what string, by store.Actor, of record.RoomOf) {
		t.Helper()
		p, err := sent(f, by, 10)
		if wantRoom(t, what, err, of); err == nil && by.Client == one.Client {
			made = append(made, p)
		}
	}
	for range 3 {
		create("within", one, 0)
	}
	create("one more", one, record.RoomOfClient)
	f.Reopen()
	create("after a restart", one, record.RoomOfClient)
	create("another client", two, 0)
	create("an account", ann, 0)
	here := one
	here.Local, here.Client = true, "127.0.0.1"
	for range 5 {
		create("a program on this machine", here, 0)
	}

	if _, err := f.DeletePush(ctx, one, made[0].Token); err != nil {
		t.Fatal(err)
	}
	create("after a delete", one, 0)
	create("after a delete, one more", one, record.RoomOfClient)
	for range made[1].ViewLimit {
		if _, err := f.Retrieve(ctx, two, made[1].Token, secret.Text{}, nil); err != nil {
			t.Fatal(err)
		}
	}
	create("after a last view", one, 0)
	f.Reopen()
	create("after a last view, one more", one, record.RoomOfClient)
	f.Clock.Advance(8 * day)
	f.SweepAll()
	for range 3 {
		create("after all expired", one, 0)
	}
	create("after all expired, one more", one, record.RoomOfClient)
}

func TestAnAnonymousClientHasSoManyBytes(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	p, err := sent(f, from("198.51.100.1"), 1000)
	env.OK(t, err)
	for name, c := range map[string]struct {
		bytes int64
		of    record.RoomOf
	}{"just enough": {3 * p.Size, 0}, "a byte short": {3*p.Size - 1, record.RoomOfClient}} {
		f := storetest.New(t, bounded(record.RoomLimits{Client: record.Room{Bytes: c.bytes}}))
		for range 2 {
			_, err := sent(f, from("198.51.100.1"), 1000)
			wantRoom(t, name, err, 0)
		}
		_, err := sent(f, from("198.51.100.1"), 1000)
		wantRoom(t, name, err, c.of)
	}
}

// A name and a note take space as a text does, so they count as one.
func TestNamesAndNotesTakeRoom(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, bounded(record.RoomLimits{Account: record.Room{Bytes: 25_000}}))
	ann := f.Account(email)
	noted := func() error {
		_, err := f.CreatePush(ctx, ann, withNote())
		return err
	}
	wantRoom(t, "the first", noted(), 0)
	wantRoom(t, "the second", noted(), 0)
	wantRoom(t, "the third", noted(), record.RoomOfAccount)
}

// withNote is a push with the longest note.
func withNote() store.NewPush {
	return store.NewPush{Kind: record.Text, Payload: secret.New("x"), Name: secret.New("a name"), Note: secret.New(strings.Repeat("n", store.MaxNote))}
}

// What has ended counts for no room, so a client that makes pushes and deletes them leaves little
// behind: nothing that only an owner could read, and no long note of an account that no one
// confirmed.
func TestNoLongNoteOfAClientIsLeft(t *testing.T) {
	t.Parallel()
	storetest.OnEachEngine(t, func(t *testing.T, engine func(*storetest.Setup)) {
		bound := record.RoomLimits{Client: record.Room{Pushes: 10}}
		f := storetest.New(t, engine, sendsMail, bounded(bound), func(s *storetest.Setup) { s.Space.Room = bound })
		sent, err := f.CreatePush(ctx, from("198.51.100.1"), withNote())
		if err != nil || sent.Note.Len() != store.MaxNote || len(sent.Details) > 0 {
			t.Errorf("an anonymous client's push has %d bytes of name and note, %v", len(sent.Details), err)
		}
		eve := signedUp(t, f, "eve@example.com")
		eve.by.Client = "198.51.100.1"
		ann := f.Account(email)
		short := withNote()
		short.Note = secret.New("short")
		for name, c := range map[string]struct {
			by   store.Actor
			in   store.NewPush
			left bool
		}{"long": {eve.by, withNote(), false}, "short": {eve.by, short, true}, "of a confirmed account": {ann, withNote(), true}} {
			p, err := f.CreatePush(ctx, c.by, c.in)
			env.OK(t, err)
			if _, err := f.DeletePush(ctx, c.by, p.Token); err != nil {
				t.Fatal(err)
			}
			h, err := f.History(ctx, c.by, store.Handle(p.ID), 1)
			if err != nil || c.left != (h.Name.Reveal() == "a name" && h.Note.Len() == c.in.Note.Len()) || !c.left && len(h.Details) > 0 {
				t.Errorf("%s: %q and %d bytes of note are left, %v", name, h.Name.Reveal(), h.Note.Len(), err)
			}
		}
	})
}

// What a client without a confirmed address has sent stays a day once it has ended, as without an
// account, however long others' stays.
func TestEndedPushesOfAClientGoAfterADay(t *testing.T) {
	t.Parallel()
	storetest.OnEachEngine(t, func(t *testing.T, engine func(*storetest.Setup)) {
		bound := record.RoomLimits{Client: record.Room{Pushes: 10}}
		f := storetest.New(t, engine, sendsMail, bounded(bound), func(s *storetest.Setup) { s.Space.Room = bound })
		eve, ann := signedUp(t, f, "eve@example.com"), f.Account(email)
		for _, by := range []store.Actor{eve.by, ann} {
			p, err := f.CreatePush(ctx, by, store.NewPush{Kind: record.Text, Payload: secret.New("x")})
			if err == nil {
				_, err = f.DeletePush(ctx, by, p.Token)
			}
			env.OK(t, err)
		}
		for _, step := range []struct {
			wait time.Duration
			eves int
		}{{23 * time.Hour, 1}, {2 * time.Hour, 0}} {
			f.Clock.Advance(step.wait)
			if _, err := f.Sweep(ctx); err != nil {
				t.Fatal(err)
			}
			hers, err := f.Pushes(ctx, eve.by, false, 1)
			anns, annsErr := f.Pushes(ctx, ann, false, 1)
			if err := errors.Join(err, annsErr); err != nil || len(hers) != step.eves || len(anns) != 1 {
				t.Errorf("after another %v: %d and %d, %v", step.wait, len(hers), len(anns), err)
			}
		}
	})
}

// Words of a live push that become longer need room, as when it was made.
func TestAnEditNeedsRoom(t *testing.T) {
	t.Parallel()
	storetest.OnEachEngine(t, func(t *testing.T, engine func(*storetest.Setup)) {
		f := storetest.New(t, bounded(record.RoomLimits{Account: record.Room{Bytes: 15_000}}), engine)
		ann := f.Account(email)
		edit := func(n int) error {
			p := storetest.Push(t, f, ann, nil)
			_, err := f.EditPush(ctx, ann, p.Token, store.PushEdit{Note: ptr(secret.New(strings.Repeat("n", n)))})
			return err
		}
		wantRoom(t, "the first", edit(10_000), 0)
		wantRoom(t, "the second", edit(10_000), record.RoomOfAccount)
		wantRoom(t, "a short one", edit(100), 0)
		// Others do not learn that the owner's room is used up.
		p, long := storetest.Push(t, f, ann, nil), ptr(secret.New(strings.Repeat("n", 10_000)))
		if _, err := f.EditPush(ctx, f.Account("bob@example.com"), p.Token, store.PushEdit{Note: long}); !errors.Is(err, record.ErrDenied) {
			t.Errorf("an edit of another account: %v", err)
		}
	})
}

// A note that comes later counts as one that was there from the start.
func TestAnEditedNoteTakesRoom(t *testing.T) {
	t.Parallel()
	storetest.OnEachEngine(t, func(t *testing.T, engine func(*storetest.Setup)) {
		f := storetest.New(t, engine)
		ann := f.Account(email)
		room := func() int64 {
			t.Helper()
			rooms, err := f.AccountRooms(ctx, []record.AccountID{ann.Account})
			env.OK(t, err)
			return rooms[ann.Account].Bytes
		}
		note := func(p store.PushInfo, n int) {
			t.Helper()
			if _, err := f.EditPush(ctx, ann, p.Token, store.PushEdit{Note: ptr(secret.New(strings.Repeat("n", n)))}); err != nil {
				t.Fatal(err)
			}
		}
		p := storetest.Push(t, f, ann, nil)
		before := room()
		note(p, store.MaxNote)
		if more := room() - before; more < store.MaxNote {
			t.Errorf("the note takes %d bytes", more)
		}
		note(p, 0)
		if after := room(); after > before+100 {
			t.Errorf("without it the push takes %d bytes, and took %d", after, before)
		}
		if _, err := f.DeletePush(ctx, ann, p.Token); err != nil || room() != 0 {
			t.Errorf("after a delete: %d bytes, %v", room(), err)
		}
	})
}

func TestAnAccountHasSoMuchRoom(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, bounded(record.RoomLimits{Account: record.Room{Pushes: 2, Bytes: 100_000}}))
	ann, bob := f.Account(email), f.Account("bob@example.com")
	file := storetest.PushFiles(t, f, ann, nil, storetest.Content(1, 60_000))
	_, err := sent(f, ann, 50_000)
	wantRoom(t, "too many bytes", err, record.RoomOfAccount)
	small, err := sent(f, ann, 10)
	wantRoom(t, "few bytes", err, 0)
	_, err = sent(f, ann, 10)
	wantRoom(t, "too many pushes", err, record.RoomOfAccount)
	_, err = sent(f, bob, 50_000)
	wantRoom(t, "another account", err, 0)
	rooms, err := f.AccountRooms(ctx, []record.AccountID{ann.Account, bob.Account, 77})
	if want := (record.Room{Pushes: 2, Bytes: file.Stored + file.Size + small.Size}); err != nil || rooms[ann.Account] != want || rooms[bob.Account].Pushes != 1 {
		t.Errorf("%+v, not %+v, %v", rooms, want, err)
	}
	if _, err := f.DeletePush(ctx, ann, file.Token); err != nil {
		t.Fatal(err)
	}
	_, err = sent(f, ann, 50_000)
	wantRoom(t, "after a delete", err, 0)
	env.OK(t, f.RemoveAccount(ctx, storetest.Operator, email))
	if rooms, err := f.AccountRooms(ctx, []record.AccountID{ann.Account, bob.Account, 77}); err != nil || rooms[ann.Account] != (record.Room{}) {
		t.Errorf("after the account was removed: %+v, %v", rooms, err)
	}
}

func TestAnonymousPushesHaveAShareOfTheStore(t *testing.T) {
	t.Parallel()
	const whole, size = 8 << 20, 500_000
	f := storetest.New(t, func(s *storetest.Setup) {
		s.Engine = bolt.Options{Path: s.Engine.Path, MaxSize: whole, Room: record.RoomLimits{Anonymous: 50}}
	})
	ann := f.Account(email)
	var n int
	var err error
	for n = 0; n < 20 && err == nil; n++ {
		_, err = sent(f, from("198.51.100.1"), size)
	}
	if wantRoom(t, "anonymous clients", err, record.RoomOfAnonymous); n-1 != whole/2/size {
		t.Errorf("%d pushes of %d bytes fit into half of %d", n-1, size, whole)
	}
	here := store.Actor{Client: "127.0.0.1", Local: true}
	_, err = sent(f, here, size)
	wantRoom(t, "a program on this machine", err, record.RoomOfAnonymous)
	for range 4 {
		_, err = sent(f, ann, size)
		wantRoom(t, "an account", err, 0)
	}
}

func TestAnonymousPushesArePurged(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann := f.Account(email)
	made := make(map[string]store.PushInfo)
	add := func(name string, by store.Actor, size int) {
		t.Helper()
		p, err := sent(f, by, size)
		env.OK(t, err)
		made[name] = p
	}
	add("old small", from("198.51.100.1"), 10)
	add("old large", from("198.51.100.1"), 5000)
	add("old, of an account", ann, 5000)
	f.Clock.Advance(3 * day)
	add("new large", from("198.51.100.2"), 5000)
	here := func(name string) bool {
		_, err := f.Preview(ctx, made[name].Token)
		return err == nil
	}
	in := store.Purge{OlderThan: 2 * day, LargerThan: 1000, DryRun: true}
	want := record.Room{Pushes: 1, Bytes: made["old large"].Size}
	if gone, err := f.PurgeAnonymous(ctx, storetest.Operator, in); err != nil || gone != want || !here("old large") {
		t.Errorf("a dry run: %+v, %v", gone, err)
	}
	if e := eventsAfter(t, f, 0); e[len(e)-1].Kind == record.AdminPurge {
		t.Error("a dry run is an event")
	}
	if _, err := f.PurgeAnonymous(ctx, ann, in); !errors.Is(err, record.ErrDenied) {
		t.Errorf("by a client: %v", err)
	}
	in.DryRun = false
	if gone, err := f.PurgeAnonymous(ctx, storetest.Operator, in); err != nil || gone != want {
		t.Errorf("%+v, not %+v, %v", gone, want, err)
	}
	if e := eventsAfter(t, f, 0); e[len(e)-1].Kind != record.AdminPurge || !strings.HasPrefix(e[len(e)-1].Detail, "1 pushes, ") {
		t.Errorf("the event is %+v", e[len(e)-1])
	}
	for name, left := range map[string]bool{"old small": true, "old large": false, "old, of an account": true, "new large": true} {
		if here(name) != left {
			t.Errorf("%s: %t", name, !left)
		}
	}
	if gone, err := f.PurgeAnonymous(ctx, storetest.Operator, store.Purge{OlderThan: -time.Hour}); err != nil || gone.Pushes != 2 {
		t.Errorf("all: %+v, %v", gone, err)
	}
	if !here("old, of an account") {
		t.Error("that of an account is gone")
	}
}

func TestRoomIsBoundedAnewAtOnce(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, bounded(record.RoomLimits{Client: record.Room{Pushes: 1}}))
	one := from("198.51.100.1")
	for i, c := range []struct {
		most record.RoomLimits
		of   record.RoomOf
	}{
		{record.RoomLimits{Client: record.Room{Pushes: 1}}, 0},
		{record.RoomLimits{Client: record.Room{Pushes: 1}}, record.RoomOfClient},
		{record.RoomLimits{Client: record.Room{Pushes: 2}}, 0},
		{record.RoomLimits{Client: record.Room{Bytes: 1}}, record.RoomOfClient},
		{record.RoomLimits{}, 0},
	} {
		f.Configure(store.Options{Terms: storetest.Terms(), Space: record.SpaceLimits{Room: c.most}})
		_, err := sent(f, one, 10)
		wantRoom(t, fmt.Sprint("limits ", i), err, c.of)
	}
}

// To sign up must not lift the bounds of anonymous clients.
func TestAnAccountThatIsNotConfirmedHasNoMoreRoomThanAnAnonymousClient(t *testing.T) {
	t.Parallel()
	storetest.OnEachEngine(t, func(t *testing.T, engine func(*storetest.Setup)) {
		f := storetest.New(t, sendsMail, func(s *storetest.Setup) {
			s.Space.Room.Client, s.Space.Room.Account = record.Room{Pushes: 2, Bytes: 1 << 20}, record.Room{Bytes: 1 << 19}
			s.Engine.Room = s.Space.Room
		}, engine)
		eve := signedUp(t, f, "eve@example.com")
		in := store.NewPush{Kind: record.Text, Payload: secret.New("x")}
		var room *record.RoomError
		for i := range 3 {
			if _, err := f.CreatePush(ctx, eve.by, in); errors.As(err, &room) != (i == 2) || err != nil && i < 2 {
				t.Errorf("push %d: %v", i, err)
			}
		}
		if err := f.HasRoom(ctx, eve.by, 1); !errors.As(err, &room) {
			t.Errorf("an upload: %v", err)
		}
		p, err := f.PolicyOf(ctx, eve.by)
		if want := (record.Room{Pushes: 2, Bytes: 1 << 19}); err != nil || p.Room != want {
			t.Errorf("%+v, %v", p.Room, err)
		}
		if !eve.confirms(eve.mailCode().Reveal()) {
			t.Fatal("the code is wrong")
		}
		for _, by := range []store.Actor{signedUp(t, f, "mallory@example.com").by, {Client: eve.by.Client, IP: eve.by.IP}} {
			if _, err := f.CreatePush(ctx, by, in); !errors.As(err, &room) || room.Of != record.RoomOfClient {
				t.Errorf("the same client, account %d: %v", by.Account, err)
			}
		}
		if _, err := f.CreatePush(ctx, eve.by, in); err != nil {
			t.Errorf("confirmed: %v", err)
		}
		made, err := f.Pushes(ctx, eve.by, true, 1)
		if err != nil || len(made) != 3 {
			t.Fatalf("%d pushes, %v", len(made), err)
		}
		for _, p := range made {
			if _, err := f.DeletePush(ctx, eve.by, p.Token); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 3 {
			if _, err := f.CreatePush(ctx, from(eve.by.Client), in); errors.As(err, &room) != (i == 2) || err != nil && i < 2 {
				t.Errorf("push %d of the client, when the room is free again: %v", i, err)
			}
		}
	})
}
