package store

import (
	"errors"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
	"pushbox/store/clock"
	"pushbox/store/record"
)

// A push that opens later is closed to all until the time is certain, and says how long that is.
func TestAPushOpensAtItsTime(t *testing.T) {
	t.Parallel()
	opens := newYear.Add(record.Day)
	before := opens.Add(-time.Millisecond)
	for name, test := range map[string]struct {
		by      Actor
		at      clock.Instant
		wait    time.Duration // of the *EarlyError; 0: there is none
		refused error
	}{
		"long before":               {anonymous, sureAt(newYear), record.Day, record.ErrEarly},
		"in the last moment":        {anonymous, sureAt(before), time.Millisecond, record.ErrEarly},
		"in that moment by its own": {owner, sureAt(before), time.Millisecond, record.ErrEarly},
		"when it opens":             {anonymous, sureAt(opens), 0, nil},
		"in doubt about that":       {anonymous, clock.Instant{Now: before, Denies: opens, Ends: before, Jumped: true}, 0, record.ErrClock},
		"in doubt after a start":    {anonymous, clock.Instant{Now: opens, Denies: opens, Ends: before}, 0, record.ErrClock},
		"in a doubt that is not its": {
			anonymous,
			clock.Instant{Now: newYear, Denies: before, Ends: newYear, Jumped: true},
			record.Day, record.ErrEarly,
		},
		"in a doubt after it opened": {anonymous, clock.Instant{Now: opens, Denies: opens.Add(record.Day), Ends: opens, Jumped: true}, 0, nil},
		"in doubt whether it ended":  {anonymous, clock.Instant{Now: newYear, Denies: newYear.Add(7 * record.Day), Ends: newYear, Jumped: true}, 0, record.ErrClock},
	} {
		p := livePush()
		p.OpensAt = opens
		next, _, err := retrieveRule(test.by, test.at, nil, nil)(p)
		var early *record.EarlyError
		if !errors.Is(err, test.refused) || errors.As(err, &early) != (test.wait > 0) || early != nil && (early.Wait != test.wait || !early.OpensAt.Equal(opens)) {
			t.Errorf("%s: %+v", name, err)
		}
		if err == nil && next.Seq != 2 {
			t.Errorf("%s: it has %d entries", name, next.Seq)
		}
	}
	late := livePush()
	late.OpensAt = opens
	if next, e, err := retrieveRule(anonymous, sureAt(newYear.Add(8*record.Day)), nil, nil)(late); err != nil || e.Kind != record.EntryFailedView || next.Live() {
		t.Errorf("after its end: %v, %v", e.Kind, err)
	}
}

// The first view of another than the owner brings the end forward, and no other view moves it.
func TestTheFirstViewBringsTheEndForward(t *testing.T) {
	t.Parallel()
	end := newYear.Add(7 * record.Day)
	jumped := clock.Instant{Now: newYear, Denies: newYear.Add(2 * record.Day), Ends: newYear, Jumped: true}
	for name, test := range map[string]struct {
		views   int
		after   time.Duration
		by      Actor
		at      clock.Instant
		ends    time.Time
		refused error
	}{
		"an hour":                        {0, time.Hour, anonymous, sureAt(newYear), newYear.Add(time.Hour), nil},
		"an hour after a day":            {0, time.Hour, anonymous, sureAt(newYear.Add(record.Day)), newYear.Add(25 * time.Hour), nil},
		"the longest that moves it":      {0, 7*record.Day - 1, anonymous, sureAt(newYear), end.Add(-1), nil},
		"as long as it has":              {0, 7 * record.Day, anonymous, sureAt(newYear), end, nil},
		"never later":                    {0, 7 * record.Day, anonymous, sureAt(newYear.Add(record.Day)), end, nil},
		"not by the second view":         {1, time.Hour, anonymous, sureAt(newYear), end, nil},
		"not by its owner":               {0, time.Hour, owner, sureAt(newYear), end, nil},
		"not if it closes after none":    {0, 0, anonymous, sureAt(newYear), end, nil},
		"not while the clock is a guess": {0, time.Hour, anonymous, jumped, end, record.ErrClock},
		"a guess is nothing to another":  {1, time.Hour, anonymous, jumped, end, nil},
	} {
		p := livePush()
		p.Views, p.CloseAfter = test.views, test.after
		next, _, err := retrieveRule(test.by, test.at, nil, nil)(p)
		if !errors.Is(err, test.refused) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil {
			continue
		}
		if queue, due := next.ExpiryQueue(); !next.ExpiresAt.Equal(test.ends) || queue != record.Expiring || !due.Equal(test.ends) || next.Days != record.WholeDays(test.ends.Sub(newYear)) {
			t.Errorf("%s: it ends at %v, after %d days", name, next.ExpiresAt, next.Days)
		}
		if after, _, err := expireRule(sureAt(test.ends))(next); err != nil || after.Live() {
			t.Errorf("%s: it lives on, %v", name, err)
		}
	}
}

// An edit cannot end a push before it opens.
func TestTheDaysOfAPushThatOpensLaterReachThatTime(t *testing.T) {
	t.Parallel()
	p := livePush()
	p.OpensAt = newYear.Add(3 * record.Day)
	for days, ok := range map[int]bool{3: false, 4: true} {
		next, _, err := editRule(owner, sureAt(newYear), nil, map[record.Kind]Terms{record.Text: terms}, PushEdit{Days: &days}, func(record.Push, PushEdit) ([]byte, bool, error) {
			return nil, false, nil
		})(p)
		if ok {
			env.OK(t, err)
		}
		if (err == nil) != ok || ok && !next.ExpiresAt.After(p.OpensAt) {
			t.Errorf("%d days: ends %v, %v", days, next.ExpiresAt, err)
		}
	}
}
