package store_test

import "time"

// A clockOracle bounds the time that a store may go by, from what its clock showed each
// time it was read. It follows the promise, not the program: a clock is believed if it
// is at most a day ahead of the believed time plus the time that has passed, or if it
// has run steadily for ten minutes, to within a minute.
type clockOracle struct {
	certain  time.Time // the store goes by this time or a later one
	possible time.Time // and by no later one
	kept     time.Time // of certain, what is left after a crash
	seen     []reading // in this process
}

// A reading is what a clock showed.
type reading struct {
	wall time.Time
	mono time.Duration
}

const (
	grace   = 10 * time.Minute // until a doubtful jump is believed
	wobble  = time.Minute      // by which times that agree may differ
	slack   = 10 * time.Minute // how far the time that a sweep keeps may lag
	trusted = day              // a jump of at most this is believed at once
)

// read takes a reading of the clock.
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

// agreed reports whether all readings of the last ten minutes come from one clock that
// runs steadily, to within that much.
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

// swept is called after a sweep that could keep the time.
func (o *clockOracle) swept() { o.kept = latest(o.kept, o.certain.Add(-slack)) }

// restart is called when another process begins: with the same time, or after a crash
// with the kept one.
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
