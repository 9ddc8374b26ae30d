package clock

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// handClock is a Clock that tests move. storetest has one for other packages, but it
// imports this one.
type handClock struct {
	wall    time.Time
	elapsed time.Duration
}

func (c *handClock) Now() time.Time         { return c.wall }
func (c *handClock) Elapsed() time.Duration { return c.elapsed }

func (c *handClock) advance(d time.Duration) { c.wall, c.elapsed = c.wall.Add(d), c.elapsed+d }
func (c *handClock) jump(d time.Duration)    { c.wall = c.wall.Add(d) }

const day = 24 * time.Hour

var newYear = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func (at Instant) sure() bool { return at.Now == at.Denies && at.Now == at.Ends && !at.Jumped }

func TestTimeFollowsTheClock(t *testing.T) {
	t.Parallel()
	c := &handClock{wall: newYear}
	k := NewKeeper(c, time.Time{})
	for _, d := range []time.Duration{0, time.Millisecond, time.Hour, 100 * day} {
		c.advance(d)
		if at := k.Read(); !at.sure() || at.Now != c.wall {
			t.Errorf("after %v it is %+v", d, at)
		}
	}
}

func TestAJumpAheadOfADayIsBelievedAndOfMoreIsNot(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		jump     time.Duration
		believed bool
	}{{BelievedJump, true}, {BelievedJump + time.Millisecond, false}} {
		c := &handClock{wall: newYear}
		k := NewKeeper(c, time.Time{})
		k.Read()
		c.jump(test.jump)
		at := k.Read()
		if at.sure() != test.believed {
			t.Errorf("a jump of %v: %+v", test.jump, at)
		}
		if !test.believed && (at.Denies != c.wall || at.Ends != newYear || at.Now != newYear || !at.Jumped) {
			t.Errorf("in doubt it is %+v", at)
		}
	}
}

func TestADoubtedJumpIsBelievedAfterTenMinutes(t *testing.T) {
	t.Parallel()
	c := &handClock{wall: newYear}
	k := NewKeeper(c, time.Time{})
	k.Read()
	c.jump(365 * day)
	k.Read()
	c.advance(doubtLasts - time.Millisecond)
	if at := k.Read(); at.sure() {
		t.Errorf("a moment before it is %+v", at)
	}
	c.advance(time.Millisecond)
	if at := k.Read(); !at.sure() || at.Now != c.wall {
		t.Errorf("then it is %+v, the clock shows %v", at, c.wall)
	}
}

func TestAJumpTakenBackLeavesNothing(t *testing.T) {
	t.Parallel()
	c := &handClock{wall: newYear}
	k := NewKeeper(c, time.Time{})
	k.Read()
	c.jump(1000 * day)
	k.Read()
	c.advance(5 * time.Minute)
	k.Read()
	c.jump(-1000 * day)
	if at := k.Read(); !at.sure() || at.Now != c.wall {
		t.Errorf("it is %+v", at)
	}
}

func TestAClockThatKeepsJumpingIsNotBelieved(t *testing.T) {
	t.Parallel()
	c := &handClock{wall: newYear}
	k := NewKeeper(c, time.Time{})
	k.Read()
	for range 10 {
		c.jump(2 * day)
		k.Read()
		c.advance(9 * time.Minute)
		if k.Read().sure() {
			t.Fatal("believed")
		}
	}
}

func TestTimeGoesOnWhenTheClockGoesBack(t *testing.T) {
	t.Parallel()
	c := &handClock{wall: newYear}
	k := NewKeeper(c, time.Time{})
	k.Read()
	c.jump(-400 * day)
	c.advance(time.Hour)
	if at := k.Read(); !at.sure() || at.Now != newYear.Add(time.Hour) {
		t.Errorf("an hour after it is %+v", at)
	}
}

func TestAfterALongStopTheClockCountsButEndsNothingAtOnce(t *testing.T) {
	t.Parallel()
	c := &handClock{wall: newYear}
	k := NewKeeper(c, newYear.Add(-30*day))
	at := k.Read()
	if at.Now != newYear || at.Denies != newYear || at.Ends != newYear.Add(-30*day) || at.Jumped {
		t.Errorf("at start it is %+v", at)
	}
	c.advance(doubtLasts)
	if at := k.Read(); !at.sure() || at.Now != c.wall {
		t.Errorf("ten minutes after it is %+v", at)
	}
}

func TestAfterAShortStopTheClockIsBelieved(t *testing.T) {
	t.Parallel()
	for _, ago := range []time.Duration{0, time.Hour, BelievedJump} {
		k := NewKeeper(&handClock{wall: newYear}, newYear.Add(-ago))
		if at := k.Read(); !at.sure() || at.Now != newYear {
			t.Errorf("after a stop of %v it is %+v", ago, at)
		}
	}
}

func TestAClockBehindTheDatabaseIsNotBelieved(t *testing.T) {
	t.Parallel()
	k := NewKeeper(&handClock{wall: newYear}, newYear.Add(50*day))
	if at := k.Read(); !at.sure() || at.Now != newYear.Add(50*day) {
		t.Errorf("it is %+v", at)
	}
}

// The time by which pushes may be ended never follows a jump ahead of more than a day
// that has not lasted ten minutes, and never runs backwards, over any trace of the
// clock with restarts in between.
func TestNoTraceOfTheClockEndsPushesTooSoon(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := &handClock{wall: newYear}
		k := NewKeeper(c, time.Time{})
		last := k.Read().Ends
		agreed := time.Duration(0) // at least for how long the clock has agreed with itself
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			d := time.Duration(rapid.Int64Range(1, int64(10*365*day)).Draw(t, "d"))
			before := k.Latest()
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
				k = NewKeeper(c, k.Latest())
			}
			if passed == 0 && d > 3*agreement { // a shorter jump may take back another
				agreed = 0
			}
			at := k.Read()
			if at.Ends.Before(last) {
				t.Fatalf("it ran backwards from %v to %v", last, at.Ends)
			}
			if agreed < doubtLasts && at.Ends.Sub(before) > BelievedJump+passed {
				t.Fatalf("it went from %v to %v within %v", before, at.Ends, passed)
			}
			if at.Ends.After(at.Denies) {
				t.Fatalf("a push that may be ended may still be delivered: %+v", at)
			}
			last = at.Ends
		}
	})
}
