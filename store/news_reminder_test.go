package store_test

import (
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// longPush creates a push of an account that ends after so long.
func longPush(t *testing.T, f *storetest.Fixture, by store.Actor, lasts time.Duration, change func(*store.NewPush)) store.PushInfo {
	t.Helper()
	in := store.NewPush{Kind: record.Text, Payload: secret.New("payload"), Name: secret.New("the name"), ExpiresAt: f.Clock.Now().Add(lasts)}
	if change != nil {
		change(&in)
	}
	return env.Must(f.CreatePush(ctx, by, in))(t)
}

// sweepAt sweeps so long after the last sweep, and returns how many mails are wanted then.
func sweepAt(t *testing.T, f *storetest.Fixture, after time.Duration) int {
	t.Helper()
	f.Clock.Advance(after)
	_, err := f.Sweep(ctx)
	env.OK(t, err)
	return len(letters(t, f))
}

// A push that lives longer than two days and has no view is told of once, a day before its end.
func TestAnOwnerIsRemindedOnceADayBeforeTheEnd(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		lasts     time.Duration
		reminders int
	}{
		"as long as needed": {2*day + time.Millisecond, 1},
		"not long enough":   {2 * day, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, by, _ := newsreader(t, record.EventReminder)
			p := longPush(t, f, by, test.lasts, nil)
			if n := sweepAt(t, f, test.lasts-day-time.Millisecond); n != 0 {
				t.Errorf("%d mails come early", n)
			}
			for range 2 {
				if n := sweepAt(t, f, time.Millisecond); n != test.reminders {
					t.Errorf("there are %d mails", n)
				}
			}
			f.Reopen()
			if n := sweepAt(t, f, time.Hour); n != test.reminders || f.Waiting() != n {
				t.Errorf("after a restart there are %d mails, and %d wait", n, f.Waiting())
			}
			for _, l := range letters(t, f) {
				if l.About != store.MailReminder || l.To.Reveal() != email || l.Push.ID != p.ID || l.Push.Name.Reveal() != "the name" || !l.Push.Token.IsZero() {
					t.Errorf("the mail is %+v", l)
				}
			}
			if h := env.Must(f.History(ctx, by, p.Token, 1))(t); h.Seq != 1 || h.Reminded != (test.reminders > 0) {
				t.Errorf("it has %d entries, and is reminded: %v", h.Seq, h.Reminded)
			}
			if n := sweepAt(t, f, day); n != 0 {
				t.Errorf("after its end %d mails are wanted", n)
			}
		})
	}
}

func TestWhatIsNotRemindedOf(t *testing.T) {
	t.Parallel()
	open := func(t *testing.T, f *storetest.Fixture, by store.Actor, p store.PushInfo) {
		t.Helper()
		env.Must(f.Retrieve(ctx, by, p.Token, secret.Text{}, nil))(t)
	}
	for name, test := range map[string]struct {
		events []record.Event
		make   func(*storetest.Fixture, store.Actor) store.PushInfo
		want   int
	}{
		"a push without a view": {store.MailedEvents(), nil, 1},
		"one whose owner looked at it": {[]record.Event{record.EventReminder}, func(f *storetest.Fixture, by store.Actor) store.PushInfo {
			p := longPush(t, f, by, 3*day, nil)
			open(t, f, by, p)
			return p
		}, 1},
		"one with a view": {[]record.Event{record.EventReminder}, func(f *storetest.Fixture, by store.Actor) store.PushInfo {
			p := longPush(t, f, by, 3*day, nil)
			open(t, f, anonymous, p)
			return p
		}, 0},
		"one without an account": {[]record.Event{record.EventReminder}, func(f *storetest.Fixture, _ store.Actor) store.PushInfo { return longPush(t, f, anonymous, 3*day, nil) }, 0},
		"one that opens later": {[]record.Event{record.EventReminder}, func(f *storetest.Fixture, by store.Actor) store.PushInfo {
			return longPush(t, f, by, 3*day, func(in *store.NewPush) { in.OpensAt = f.Clock.Now().Add(3*day - time.Hour) })
		}, 0},
		"one of an account that did not ask": {[]record.Event{record.EventExpire}, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, by, _ := newsreader(t, test.events...)
			var p store.PushInfo
			if test.make == nil {
				p = longPush(t, f, by, 3*day, nil)
			} else {
				p = test.make(f, by)
			}
			n := sweepAt(t, f, 2*day)
			kept, _, err := f.Engine().Push(ctx, p.ID)
			if env.OK(t, err); n != test.want || f.Waiting() != n || kept.Reminded != (n > 0) {
				t.Errorf("%d mails are wanted, %d wait, and it is reminded: %v", n, f.Waiting(), kept.Reminded)
			}
		})
	}
}

func TestAnUnconfirmedAccountIsNotReminded(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, sendsMail)
	n := signedUp(t, f, "eve@example.com")
	longPush(t, f, n.by, 3*day, nil)
	if sent := sweepAt(t, f, 2*day); sent != 0 {
		t.Errorf("there are %d mails", sent)
	}
}

// In doubt of the time, nothing is told, and nothing is noted as told.
func TestNothingIsRemindedOfWhileTheClockIsInDoubt(t *testing.T) {
	t.Parallel()
	f, by, _ := newsreader(t, record.EventReminder)
	p := longPush(t, f, by, 5*day, nil)
	f.Clock.Jump(4*day + time.Hour)
	n := sweepAt(t, f, 0)
	if kept, _, err := f.Engine().Push(ctx, p.ID); err != nil || n != 0 || f.Waiting() != 0 || kept.Reminded {
		t.Errorf("there are %d mails, it is reminded: %v, %v", n, kept.Reminded, err)
	}
}

func TestAnEditThatMovesTheEndAwayRemindsAgain(t *testing.T) {
	t.Parallel()
	f, by, _ := newsreader(t, record.EventReminder)
	p := longPush(t, f, by, 3*day, nil)
	if n := sweepAt(t, f, 2*day); n != 1 {
		t.Fatalf("there are %d mails", n)
	}
	env.Must(f.EditPush(ctx, by, p.Token, store.PushEdit{Views: ptr(9)}))(t)
	if n := sweepAt(t, f, time.Minute); n != 1 || f.Waiting() != 1 {
		t.Errorf("after an edit that leaves the end there are %d mails", n)
	}
	env.Must(f.EditPush(ctx, by, p.Token, store.PushEdit{Days: ptr(6)}))(t)
	if n := sweepAt(t, f, time.Minute); n != 0 {
		t.Errorf("before its new last day %d mails are wanted", n)
	}
	if n := sweepAt(t, f, 3*day); n != 2 {
		t.Errorf("there are %d mails", n)
	}
}

// More pushes than a page of the index has end in the same moment, and none is left out.
func TestEachOfManyPushesIsRemindedOf(t *testing.T) {
	t.Parallel()
	f, by, _ := newsreader(t, record.EventReminder)
	const many = 600
	for range many {
		longPush(t, f, by, 3*day, nil)
	}
	env.Must(f.Sweep(ctx))(t)
	f.Clock.Advance(2 * day)
	env.Must(f.Sweep(ctx))(t)
	var marked int
	for after := (record.ID{}); ; {
		ps := env.Must(f.Engine().Scan(ctx, after, 100))(t)
		if len(ps) == 0 {
			break
		}
		for _, p := range ps {
			if after = p.ID; p.Reminded {
				marked++
			}
		}
	}
	if marked != many {
		t.Errorf("%d of %d are marked", marked, many)
	}
}
