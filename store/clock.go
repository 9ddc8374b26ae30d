package store

import (
	"sync"
	"time"
)

// A Clock tells the time. Tests bring one that they set.
type Clock interface {
	// Now is the wall clock. It may jump.
	Now() time.Time
	// Elapsed is the time since some fixed moment of this process. It never
	// runs backwards and never jumps.
	Elapsed() time.Duration
}

// SystemClock is the clock of the machine.
type SystemClock struct{ start time.Time }

// NewSystemClock returns the clock of the machine.
func NewSystemClock() SystemClock { return SystemClock{time.Now()} }

// Now is time.Now.
func (SystemClock) Now() time.Time { return time.Now() }

// Elapsed is the time since NewSystemClock, by the monotonic clock.
func (c SystemClock) Elapsed() time.Duration { return time.Since(c.start) }

const (
	believedJump = day              // a jump ahead of more is in doubt
	doubtLasts   = 10 * time.Minute // until the clock agreed with itself for so long
	agreement    = time.Minute      // how far it may stray meanwhile
)

// An instant is the one time of an operation. Its three times are the same
// unless the clock is in doubt.
type instant struct {
	now    time.Time // what happens is stamped with it
	denies time.Time // a push due by it is not delivered
	ends   time.Time // a push due by it may be ended, which nothing undoes
	jumped bool      // the clock jumped under a running store: now is a guess
}

// A timekeeper makes a time that never runs backwards out of a clock that may.
// It follows the clock, but a jump ahead of more than a day, against the
// monotonic clock or the greatest time kept in the database, is believed only
// after ten minutes: a wrong year from a time server must not wipe a store.
type timekeeper struct {
	clock Clock

	mu      sync.Mutex
	trusted time.Time     // the greatest time believed
	at      time.Duration // what the monotonic clock said then
	doubt   *doubt        // nil: the clock is believed
}

// A doubt is a jump ahead that is not yet believed.
type doubt struct {
	wall    time.Time     // what the clock said when it began
	since   time.Duration // what the monotonic clock said then
	atStart bool          // no time of this process to go on by: the jump is since the last run
}

// newTimekeeper goes on from latest, the greatest time the database has seen;
// zero in a new one.
func newTimekeeper(c Clock, latest time.Time) *timekeeper {
	k := &timekeeper{clock: c, trusted: latest, at: c.Elapsed()}
	wall := milliseconds(c.Now())
	if latest.IsZero() {
		k.trusted = wall
	} else if wall.Sub(latest) > believedJump {
		k.doubt = &doubt{wall: wall, since: k.at, atStart: true}
	}
	return k
}

// read takes the time.
func (k *timekeeper) read() instant {
	k.mu.Lock()
	defer k.mu.Unlock()
	wall, elapsed := milliseconds(k.clock.Now()), k.clock.Elapsed()
	line := milliseconds(k.trusted.Add(elapsed - k.at))
	if wall.Sub(line) <= believedJump {
		k.doubt = nil
		if wall.Before(line) {
			return instant{now: line, denies: line, ends: line}
		}
		return k.believe(wall, elapsed)
	}
	if k.doubt == nil || k.doubt.stray(wall, elapsed) > agreement {
		k.doubt = &doubt{wall: wall, since: elapsed, atStart: k.doubt != nil && k.doubt.atStart}
	}
	if elapsed-k.doubt.since >= doubtLasts {
		k.doubt = nil
		return k.believe(wall, elapsed)
	}
	if k.doubt.atStart {
		return instant{now: wall, denies: wall, ends: line}
	}
	return instant{now: line, denies: wall, ends: line, jumped: true}
}

// latest is the greatest time believed, carried on to this moment.
func (k *timekeeper) latest() time.Time { return k.read().ends }

func (k *timekeeper) believe(wall time.Time, elapsed time.Duration) instant {
	k.trusted, k.at = wall, elapsed
	return instant{now: wall, denies: wall, ends: wall}
}

func (d *doubt) stray(wall time.Time, elapsed time.Duration) time.Duration {
	return wall.Sub(d.wall.Add(elapsed - d.since)).Abs()
}

func milliseconds(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
