package store

import (
	"errors"
	"testing"
	"time"

	"pushbox/store/clock"
	"pushbox/store/record"
)

const window = 15 * time.Minute

// doubted is an instant in which the clock jumped ahead by d, which is not yet
// believed.
func doubted(t time.Time, d time.Duration) clock.Instant {
	return clock.Instant{Now: t, Denies: t.Add(d), Ends: t, Jumped: true}
}

func TestANewGrantLastsForTheWindowAndNeverBeyondTheTimeLimit(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		left           time.Duration // of the push's time
		window         time.Duration
		expires, until time.Duration
	}{
		"much is left":                   {7 * record.Day, window, window, record.Day},
		"a day is left":                  {record.Day, window, window, record.Day},
		"a little less than a day":       {record.Day - time.Millisecond, window, window, record.Day - time.Millisecond},
		"the window is left":             {window, window, window, window},
		"a little more than the window":  {window + time.Millisecond, window, window, window + time.Millisecond},
		"a little less than the window":  {window - time.Millisecond, window, window - time.Millisecond, window - time.Millisecond},
		"a window of a day":              {7 * record.Day, record.Day, record.Day, record.Day},
		"a window of more than a day":    {7 * record.Day, record.Day + time.Millisecond, record.Day, record.Day},
		"a window of more than all time": {time.Hour, 2 * record.Day, time.Hour, time.Hour},
	} {
		p := livePush()
		p.ID, p.ExpiresAt = record.ID{1}, newYear.Add(test.left)
		i := newGrant(p, sureAt(newYear), test.window)
		if i.Push != p.ID || !i.Ended.Equal(newYear) {
			t.Errorf("%s: for push %s, makes room for those that ended at %v", name, i.Push, i.Ended)
		}
		if got := i.ExpiresAt.Sub(newYear); got != test.expires {
			t.Errorf("%s: it ends after %v, want %v", name, got, test.expires)
		}
		if got := i.Until.Sub(newYear); got != test.until {
			t.Errorf("%s: it can be moved until %v, want %v", name, got, test.until)
		}
	}
}

func TestAGrantMakesRoomOnlyForWhatEndedForCertain(t *testing.T) {
	t.Parallel()
	at := clock.Instant{Now: newYear.Add(400 * record.Day), Denies: newYear.Add(400 * record.Day), Ends: newYear}
	p := livePush()
	p.ExpiresAt = newYear.Add(401 * record.Day)
	if i := newGrant(p, at, window); !i.Ended.Equal(newYear) {
		t.Errorf("it forgets grants that ended before %v", i.Ended)
	}
}

func TestAGrantIsGoodUntilItsEnd(t *testing.T) {
	t.Parallel()
	g := record.Grant{ExpiresAt: newYear.Add(window), Until: newYear.Add(record.Day)}
	ms := time.Millisecond
	for name, test := range map[string]struct {
		at   clock.Instant
		want error
	}{
		"at once":                     {sureAt(newYear), nil},
		"in its last moment":          {sureAt(newYear.Add(window - ms)), nil},
		"at its end":                  {sureAt(newYear.Add(window)), record.ErrNotFound},
		"after it":                    {sureAt(newYear.Add(record.Day)), record.ErrNotFound},
		"a doubt that is not its":     {doubted(newYear, window-ms), nil},
		"a doubt that reaches it":     {doubted(newYear, window), record.ErrClock},
		"a doubt far beyond it":       {doubted(newYear, 400*record.Day), record.ErrClock},
		"ended whatever the doubt is": {doubted(newYear.Add(window), 2*record.Day), record.ErrNotFound},
	} {
		if err := checkGrant(g, test.at); !errors.Is(err, test.want) {
			t.Errorf("%s: got error %v, want %v", name, err, test.want)
		}
	}
}

func TestAGrantSlidesNotAtEachChunk(t *testing.T) {
	t.Parallel()
	ms := time.Millisecond
	for name, test := range map[string]struct {
		after time.Duration // since the grant was issued or slid
		until time.Duration // what is left until it cannot be moved
		want  bool
	}{
		"at once":                           {0, record.Day, false},
		"a little less than an eighth":      {window/8 - ms, record.Day, false},
		"an eighth of the window":           {window / 8, record.Day, true},
		"in the last moment":                {window - ms, record.Day, true},
		"where it cannot be moved":          {window - ms, window, false},
		"where it can be moved by little":   {window - ms, window + window/8 - ms, false},
		"where it can be moved by a bit":    {window - ms, window + window/8, true},
		"where the clock said a later time": {-time.Hour, record.Day, false},
	} {
		g := record.Grant{ExpiresAt: newYear.Add(window), Until: newYear.Add(test.until)}
		if got := grantSlides(g, sureAt(newYear.Add(test.after)), window); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestASlideMovesTheEndOfAGrantAndOfItsPush(t *testing.T) {
	t.Parallel()
	ms := time.Millisecond
	for name, test := range map[string]struct {
		at        clock.Instant
		until     time.Duration // since newYear, as all here
		pushEnds  time.Duration
		want      time.Duration
		wantsPush time.Duration
	}{
		"to where a new one would end":     {sureAt(newYear.Add(window / 2)), record.Day, window, window/2 + window, window/2 + window},
		"in its last moment":               {sureAt(newYear.Add(window - ms)), record.Day, window, 2*window - ms, 2*window - ms},
		"not beyond where that has an end": {sureAt(newYear.Add(window / 2)), window + ms, window, window + ms, window + ms},
		"not where another is later":       {sureAt(newYear.Add(window / 2)), record.Day, record.Day, window/2 + window, record.Day},
		"not back":                         {sureAt(newYear.Add(-time.Hour)), record.Day, window, window, window},
		"not once it ended":                {sureAt(newYear.Add(window)), record.Day, window, window, window},
		"not long after it ended":          {sureAt(newYear.Add(record.Day)), record.Day, window, window, window},
		"not where the clock is in doubt":  {doubted(newYear.Add(window/2), 2*record.Day), record.Day, window, window, window},
		"not at the start of such a doubt": {doubted(newYear.Add(window/2), window/2), record.Day, window, window, window},
		"in a doubt that is not its":       {doubted(newYear.Add(window/2), window/2-ms), record.Day, window, window/2 + window, window/2 + window},
	} {
		p, g := livePush(), record.Grant{ExpiresAt: newYear.Add(window), Until: newYear.Add(test.until)}
		p.GrantsEnd = newYear.Add(test.pushEnds)
		next, slid, keep := slideRule(test.at, window)(p, g)
		if got := slid.ExpiresAt.Sub(newYear); got != test.want || !keep || !slid.Until.Equal(g.Until) {
			t.Errorf("%s: the grant ends after %v, want %v; kept: %t", name, got, test.want, keep)
		}
		if got := next.GrantsEnd.Sub(newYear); got != test.wantsPush {
			t.Errorf("%s: the push says %v, want %v", name, got, test.wantsPush)
		}
		next.GrantsEnd = p.GrantsEnd
		if !samePush(next, p) {
			t.Errorf("%s: it changed more of the push: %+v", name, next)
		}
	}
}

// A download that never ends is one that slides again and again.
func TestNoSlideBringsAGrantBeyondADayOrTheTimeLimit(t *testing.T) {
	t.Parallel()
	for _, left := range []time.Duration{7 * record.Day, time.Hour} {
		p := livePush()
		p.ExpiresAt = newYear.Add(left)
		g, now := newGrant(p, sureAt(newYear), window).Grant, newYear
		for checkGrant(g, sureAt(now)) == nil {
			p, g, _ = slideRule(sureAt(now), window)(p, g)
			if g.ExpiresAt.After(p.ExpiresAt) || g.ExpiresAt.Sub(newYear) > longestGrant || p.GrantsEnd.After(g.ExpiresAt) {
				t.Fatalf("at %v it ends at %v", now, g.ExpiresAt)
			}
			now = now.Add(window / 3)
		}
		if want := min(left, longestGrant); g.ExpiresAt.Sub(newYear) != want {
			t.Errorf("it ended after %v, want %v", g.ExpiresAt.Sub(newYear), want)
		}
	}
}

func TestAGrantIsTakenAwayOnlyOnceItEnded(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		at   clock.Instant
		keep bool
	}{
		"before its end":           {sureAt(newYear.Add(window - time.Millisecond)), true},
		"at its end":               {sureAt(newYear.Add(window)), false},
		"where the clock is doubt": {doubted(newYear, 400*record.Day), true},
	} {
		p, g := livePush(), record.Grant{ExpiresAt: newYear.Add(window)}
		next, same, keep := endGrantRule(test.at)(p, g)
		if keep != test.keep || !samePush(next, p) || !same.ExpiresAt.Equal(g.ExpiresAt) {
			t.Errorf("%s: kept: %t, %+v, %+v", name, keep, next, same)
		}
	}
}
