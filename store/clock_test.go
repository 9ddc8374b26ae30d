package store

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// handClock is a Clock that tests move. (storetest has the like for other
// packages, but imports this one.)
type handClock struct {
	wall    time.Time
	elapsed time.Duration
}

func (c *handClock) Now() time.Time         { return c.wall }
func (c *handClock) Elapsed() time.Duration { return c.elapsed }

func (c *handClock) advance(d time.Duration) { c.wall, c.elapsed = c.wall.Add(d), c.elapsed+d }
func (c *handClock) jump(d time.Duration)    { c.wall = c.wall.Add(d) }

var newYear = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func (at instant) sure() bool { return at.now == at.denies && at.now == at.ends && !at.jumped }

func TestTimeFollowsTheClock(t *testing.T) {
	t.Parallel()
	c := &handClock{wall: newYear}
	k := newTimekeeper(c, time.Time{})
	for _, d := range []time.Duration{0, time.Millisecond, time.Hour, 100 * day} {
		c.advance(d)
		if at := k.read(); !at.sure() || at.now != c.wall {
			t.Errorf("after %v it is %+v", d, at)
		}
	}
}

func TestAJumpAheadOfADayIsBelievedAndOfMoreIsNot(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		jump     time.Duration
		believed bool
	}{{believedJump, true}, {believedJump + time.Millisecond, false}} {
		c := &handClock{wall: newYear}
		k := newTimekeeper(c, time.Time{})
		k.read()
		c.jump(test.jump)
		at := k.read()
		if at.sure() != test.believed {
			t.Errorf("a jump of %v: %+v", test.jump, at)
		}
		if !test.believed && (at.denies != c.wall || at.ends != newYear || at.now != newYear || !at.jumped) {
			t.Errorf("in doubt it is %+v", at)
		}
	}
}

func TestADoubtedJumpIsBelievedAfterTenMinutes(t *testing.T) {
	t.Parallel()
	c := &handClock{wall: newYear}
	k := newTimekeeper(c, time.Time{})
	k.read()
	c.jump(365 * day)
	k.read()
	c.advance(doubtLasts - time.Millisecond)
	if at := k.read(); at.sure() {
		t.Errorf("a moment before it is %+v", at)
	}
	c.advance(time.Millisecond)
	if at := k.read(); !at.sure() || at.now != c.wall {
		t.Errorf("then it is %+v, the clock says %v", at, c.wall)
	}
}

func TestAJumpTakenBackLeavesNothing(t *testing.T) {
	t.Parallel()
	c := &handClock{wall: newYear}
	k := newTimekeeper(c, time.Time{})
	k.read()
	c.jump(1000 * day)
	k.read()
	c.advance(5 * time.Minute)
	k.read()
	c.jump(-1000 * day)
	if at := k.read(); !at.sure() || at.now != c.wall {
		t.Errorf("it is %+v", at)
	}
}

func TestAClockThatKeepsJumpingIsNotBelieved(t *testing.T) {
	t.Parallel()
	c := &handClock{wall: newYear}
	k := newTimekeeper(c, time.Time{})
	k.read()
	for range 10 {
		c.jump(2 * day)
		k.read()
		c.advance(9 * time.Minute)
		if k.read().sure() {
			t.Fatal("believed")
		}
	}
}

func TestTimeGoesOnWhenTheClockGoesBack(t *testing.T) {
	t.Parallel()
	c := &handClock{wall: newYear}
	k := newTimekeeper(c, time.Time{})
	k.read()
	c.jump(-400 * day)
	c.advance(time.Hour)
	if at := k.read(); !at.sure() || at.now != newYear.Add(time.Hour) {
		t.Errorf("an hour after it is %+v", at)
	}
}

func TestAfterALongStopThePresentCountsButEndsNothingAtOnce(t *testing.T) {
	t.Parallel()
	c := &handClock{wall: newYear}
	k := newTimekeeper(c, newYear.Add(-30*day))
	at := k.read()
	if at.now != newYear || at.denies != newYear || at.ends != newYear.Add(-30*day) || at.jumped {
		t.Errorf("at start it is %+v", at)
	}
	c.advance(doubtLasts)
	if at := k.read(); !at.sure() || at.now != c.wall {
		t.Errorf("ten minutes after it is %+v", at)
	}
}

func TestAfterAShortStopThePresentIsBelieved(t *testing.T) {
	t.Parallel()
	for _, ago := range []time.Duration{0, time.Hour, believedJump} {
		k := newTimekeeper(&handClock{wall: newYear}, newYear.Add(-ago))
		if at := k.read(); !at.sure() || at.now != newYear {
			t.Errorf("after a stop of %v it is %+v", ago, at)
		}
	}
}

func TestAClockBehindTheDatabaseIsNotBelieved(t *testing.T) {
	t.Parallel()
	k := newTimekeeper(&handClock{wall: newYear}, newYear.Add(50*day))
	if at := k.read(); !at.sure() || at.now != newYear.Add(50*day) {
		t.Errorf("it is %+v", at)
	}
}

// What may be ended never depends on a jump ahead of more than a day that has
// not lasted ten minutes, and never runs backwards, over any trace of the clock
// with restarts in between.
func TestNoTraceOfTheClockEndsThingsTooSoon(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := &handClock{wall: newYear}
		k := newTimekeeper(c, time.Time{})
		last := k.read().ends
		agreed := time.Duration(0) // at least for how long the clock has agreed with itself
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			d := time.Duration(rapid.Int64Range(1, int64(10*365*day)).Draw(t, "d"))
			before := k.latest()
			passed := time.Duration(0)
			switch rapid.SampledFrom([]string{"advance", "ahead", "back", "restart"}).Draw(t, "step") {
			case "advance":
				passed = 1 + d%(30*time.Minute)
				c.advance(passed)
				agreed += passed
			case "ahead":
				c.jump(d)
			case "back":
				c.jump(-d)
			case "restart":
				k = newTimekeeper(c, k.latest())
			}
			if passed == 0 && d > 3*agreement { // a shorter one may take back another
				agreed = 0
			}
			at := k.read()
			if at.ends.Before(last) {
				t.Fatalf("it ran backwards from %v to %v", last, at.ends)
			}
			if agreed < doubtLasts && at.ends.Sub(before) > believedJump+passed {
				t.Fatalf("it went from %v to %v within %v", before, at.ends, passed)
			}
			if at.ends.After(at.denies) {
				t.Fatalf("what may be ended is not denied: %+v", at)
			}
			last = at.ends
		}
	})
}
