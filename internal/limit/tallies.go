package limit

import (
	"math"
	"slices"
	"sync"
	"time"
)

// A Tally is a number of tries that is bounded: a try at t counts until t+Span, and at most
// Most count at once. Where Most is 0 there is no bound, and nothing is counted.
//
// Tallies with the same Of and Key have the same tries. Each has to be looked at within
// the Keep of the try that was counted: after that it may be forgotten.
type Tally struct {
	Of   uint8    // a sort of tries; those of one sort are never forgotten for those of another
	Key  [16]byte // who tries what, as an HMAC: it may be kept on a disk
	Most int
	Span time.Duration
	Keep time.Duration // at least Span; 0: Span
}

// A Standing is how many tries a tally has left. If none is left, Wait is the time until
// one is.
type Standing struct {
	Left int // math.MaxInt without a bound
	Wait time.Duration
}

// Standing returns the standing of a tally at a time, for the times of its tries, in order.
func (t Tally) Standing(tries []time.Time, now time.Time) Standing {
	if t.Most <= 0 {
		return Standing{Left: math.MaxInt}
	}
	s := Standing{Left: t.Most}
	for i, try := range tries {
		if ends := try.Add(t.Span); ends.After(now) {
			s.Left--
			if len(tries)-i == t.Most {
				s.Wait = ends.Sub(now)
			}
		}
	}
	s.Left = max(0, s.Left)
	return s
}

// A Turn is an operation on the tries of tallies.
type Turn uint8

// The turns. Each returns how the tallies stood before.
const (
	Look    Turn = iota // counts nothing
	Count               // counts a try for each tally if each has one left; if not, it counts none
	Uncount             // takes back the last try of each tally
)

// On does a turn to tallies. tries returns the times of the tries of one, in order, and put replaces them.
func (what Turn) On(ts []Tally, now time.Time, tries func(Tally) []time.Time, put func(Tally, []time.Time)) []Standing {
	stood := make([]Standing, len(ts))
	for i, t := range ts {
		stood[i] = t.Standing(tries(t), now)
	}
	if what == Look || what == Count && !AllLeft(stood) {
		return stood
	}
	for _, t := range ts {
		switch had := tries(t); {
		case t.Most <= 0:
		case what == Count:
			put(t, t.Add(had, now))
		case len(had) > 0:
			put(t, had[:len(had)-1])
		}
	}
	return stood
}

// KeepFor returns how long a try counts for any tally with this key.
func (t Tally) KeepFor() time.Duration { return max(t.Keep, t.Span) }

// Add returns the times of the tries of a tally with one more: the last t.Most, and none
// that is forgotten.
func (t Tally) Add(tries []time.Time, now time.Time) []time.Time {
	over := max(0, len(tries)-t.Most+1)
	for over < len(tries) && !tries[over].Add(t.KeepFor()).After(now) {
		over++
	}
	return append(slices.Delete(tries, 0, over), now)
}

// Tallies count tries in memory, which is bounded: of each sort those that were counted
// last stay. They are safe for concurrent use.
type Tallies struct {
	max int

	mu         sync.Mutex
	first, now time.Time // that were given; now never runs back
	of         map[uint8]*table[[]time.Time]
}

// NewTallies returns tallies that remember at most that many keys of each sort.
func NewTallies(max int) *Tallies {
	return &Tallies{max: max, of: make(map[uint8]*table[[]time.Time])}
}

// Do applies a Turn to tallies in one step.
func (c *Tallies) Do(turn Turn, at time.Time, ts []Tally) []Standing {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.time(at)
	return turn.On(ts, now, func(t Tally) (tries []time.Time) {
		if e := c.table(t).get(string(t.Key[:]), c.elapsed(now)); e != nil {
			tries = e.value
		}
		return tries
	}, func(t Tally, tries []time.Time) {
		c.table(t).use(string(t.Key[:]), c.elapsed(now)).value = tries
	})
}

// AllLeft reports whether every tally has a try left.
func AllLeft(stood []Standing) bool {
	return !slices.ContainsFunc(stood, func(s Standing) bool { return s.Left == 0 })
}

func (c *Tallies) table(t Tally) *table[[]time.Time] {
	all := c.of[t.Of]
	if all == nil {
		all = newTable[[]time.Time](c.max, t.KeepFor())
		c.of[t.Of] = all
	}
	return all
}

func (c *Tallies) time(at time.Time) time.Time {
	if c.first.IsZero() {
		c.first = at
	}
	if at.After(c.now) {
		c.now = at
	}
	return c.now
}

func (c *Tallies) elapsed(now time.Time) time.Duration { return now.Sub(c.first) }
