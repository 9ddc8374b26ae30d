package store_test

import "time"

// A clockOracle bounds what time a store may go by, from what its clock showed
// whenever it was asked. It reads the promise, not the program: a clock is
// believed if it is no more than a day ahead of the time that was believed and
// has passed since, or if it has gone on for ten minutes as a clock does, give
// or take a minute.
type clockOracle struct {
	certain  time.Time // the store goes by this at least
	possible time.Time // and by this at most
	kept     time.Time // of certain, what a crash leaves
	seen     []reading // of this process
}

// A reading is what a clock showed.
type reading struct {
	wall time.Time
	mono time.Duration
}

const (
	grace   = 10 * time.Minute // that a doubtful jump has
	wobble  = time.Minute      // that may be between times that agree
	slack   = 10 * time.Minute // how old the time is that a sweep leaves kept
	trusted = day              // a jump of no more is believed at once
)

// read takes note of what the clock shows.
func (o *clockOracle) read(r reading) {
	if n := len(o.seen); n > 0 {
		passed := r.mono - o.seen[n-1].mono
		o.certain, o.possible = o.certain.Add(passed), o.possible.Add(passed)
	}
	o.seen = append(o.seen, r)
	if o.certain.IsZero() || !r.wall.After(o.certain.Add(trusted)) || o.agreed(0) {
		o.certain = latest(o.certain, r.wall)
	}
	if !r.wall.After(o.possible.Add(trusted)) || o.agreed(wobble) {
		o.possible = latest(o.possible, r.wall)
	}
	o.possible = latest(o.possible, o.certain)
}

// agreed reports whether for ten minutes all readings were those of one clock, to
// within so much from the first of them.
func (o *clockOracle) agreed(within time.Duration) bool {
	last := o.seen[len(o.seen)-1]
	for k, first := range o.seen {
		if last.mono-first.mono < grace {
			return false
		}
		agree := true
		for _, r := range o.seen[k:] {
			agree = agree && r.wall.Sub(first.wall.Add(r.mono-first.mono)).Abs() <= within
		}
		if agree {
			return true
		}
	}
	return false
}

// swept says that a sweep had the chance to keep the time.
func (o *clockOracle) swept() { o.kept = latest(o.kept, o.certain.Add(-slack)) }

// restart says that another process goes on: with the time as it was, or after a
// crash with what was kept of it.
func (o *clockOracle) restart(crashed bool) {
	if crashed {
		o.certain = o.kept
	}
	o.kept, o.seen = o.certain, nil
}

func latest(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
