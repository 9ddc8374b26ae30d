// Package clock provides a time that never runs backwards, from a clock that may jump.
package clock

import (
	"sync"
	"time"
)

// A Clock has the time. Tests use one that they set.
type Clock interface {
	// Now is the wall clock. It may jump.
	Now() time.Time
	// Elapsed is the time since some fixed moment of this process. It never runs
	// backwards and never jumps.
	Elapsed() time.Duration
}

// System is the clock of the machine.
type System struct{ start time.Time }

// NewSystem returns the clock of the machine.
func NewSystem() System { return System{time.Now()} }

// Now is time.Now.
func (System) Now() time.Time { return time.Now() }

// Elapsed is the time since NewSystem, by the monotonic clock.
func (c System) Elapsed() time.Duration { return time.Since(c.start) }

// BelievedJump is the largest jump ahead of a clock that is trusted at once.
const BelievedJump = 24 * time.Hour

const (
	doubtLasts = 10 * time.Minute // how long a clock must be consistent to be trusted
	agreement  = time.Minute      // how far it may deviate in that time
)

// An Instant is the one time of an operation. Its three times are the same unless the
// clock is in doubt.
type Instant struct {
	Now    time.Time // the time stamp of events
	Denies time.Time // a push due by it is not delivered
	Ends   time.Time // a push due by it may be ended, which cannot be undone
	Jumped bool      // the clock jumped under a running store: now is a guess
}

// A Keeper provides a time that never runs backwards. It follows its clock, but it trusts a jump
// ahead of more than a day only after ten minutes: a wrong year from a time server must not expire
// every push. A jump is measured against the monotonic clock or the greatest time kept in the
// database.
type Keeper struct {
	clock Clock

	mu      sync.Mutex
	trusted time.Time     // the greatest trusted time
	at      time.Duration // by the monotonic clock
	doubt   *doubt        // nil: the clock is trusted
}

// A doubt is a jump ahead that is not trusted yet.
type doubt struct {
	wall    time.Time     // the wall clock when the doubt began
	since   time.Duration // by the monotonic clock
	atStart bool          // the process has no earlier time: the clock jumped after the last run
}

// NewKeeper returns a Keeper that continues from latest, the greatest time that the
// database has seen; zero for a new database.
func NewKeeper(c Clock, latest time.Time) *Keeper {
	k := &Keeper{clock: c, trusted: latest, at: c.Elapsed()}
	wall := milliseconds(c.Now())
	if latest.IsZero() {
		k.trusted = wall
	} else if wall.Sub(latest) > BelievedJump {
		k.doubt = &doubt{wall: wall, since: k.at, atStart: true}
	}
	return k
}

// Read returns the time.
func (k *Keeper) Read() Instant {
	k.mu.Lock()
	defer k.mu.Unlock()
	wall, elapsed := milliseconds(k.clock.Now()), k.clock.Elapsed()
	line := milliseconds(k.trusted.Add(elapsed - k.at))
	if wall.Sub(line) <= BelievedJump {
		k.doubt = nil
		if wall.Before(line) {
			return Instant{Now: line, Denies: line, Ends: line}
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
		return Instant{Now: wall, Denies: wall, Ends: line}
	}
	return Instant{Now: line, Denies: wall, Ends: line, Jumped: true}
}

// Latest returns the greatest trusted time, extended to this moment.
func (k *Keeper) Latest() time.Time { return k.Read().Ends }

func (k *Keeper) believe(wall time.Time, elapsed time.Duration) Instant {
	k.trusted, k.at = wall, elapsed
	return Instant{Now: wall, Denies: wall, Ends: wall}
}

func (d *doubt) stray(wall time.Time, elapsed time.Duration) time.Duration {
	return wall.Sub(d.wall.Add(elapsed - d.since)).Abs()
}

func milliseconds(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
