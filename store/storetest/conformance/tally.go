package conformance

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pushbox/internal/limit"
	"pushbox/store/record"
)

var tallySuite = suite{
	"a tally is full until its first try is past":     fillsTallies,
	"a try counts for all of its tallies or for none": countsAllOrNone,
	"a try can be taken back":                         uncountsTries,
	"one key can be asked about different spans":      keepsTries,
	"tries at once do not get past the limit":         countsTriesAtOnce,
	"tallies agree with a naive model":                agreesOnTries,
}

// tallyOf is a tally of the first sort that bounds tries to n within a minute.
func tallyOf(key byte, n int) limit.Tally {
	return limit.Tally{Of: 1, Key: [16]byte{15: key}, Most: n, Span: time.Minute}
}

// counts counts a try for tallies, whose standings must be as wanted before.
func counts(t *testing.T, e record.Engine, at time.Time, want []limit.Standing, ts ...limit.Tally) {
	t.Helper()
	looked, err := e.Tries(t.Context(), at, ts)
	Must(t, err)
	Same(t, "standing", looked, want)
	stood, err := e.CountTry(t.Context(), at, ts)
	Must(t, err)
	Same(t, "standing before the try", stood, want)
}

func fillsTallies(t *testing.T, e record.Engine) {
	a := tallyOf('a', 2)
	for _, c := range []struct {
		after time.Duration
		want  limit.Standing
	}{
		{0, limit.Standing{Left: 2}},
		{10 * time.Second, limit.Standing{Left: 1}},
		{20 * time.Second, limit.Standing{Wait: 40 * time.Second}}, // not counted
		{time.Minute - time.Millisecond, limit.Standing{Wait: time.Millisecond}},
		{time.Minute, limit.Standing{Left: 1}},
		{time.Minute, limit.Standing{Wait: 10 * time.Second}},
		{3 * time.Minute, limit.Standing{Left: 2}},
	} {
		counts(t, e, epoch.Add(c.after), []limit.Standing{c.want}, a)
	}
	other, sort, unbound := tallyOf('b', 2), tallyOf('a', 2), tallyOf('c', 0)
	sort.Of = 2
	late := epoch.Add(3 * time.Minute)
	counts(t, e, late, []limit.Standing{{Left: 2}, {Left: 2}}, other, sort)
	for range 3 {
		counts(t, e, late, []limit.Standing{{Left: math.MaxInt}}, unbound)
	}
}

func countsAllOrNone(t *testing.T, e record.Engine) {
	narrow, wide := tallyOf('a', 1), tallyOf('b', 3)
	counts(t, e, epoch, []limit.Standing{{Left: 3}, {Left: 1}}, wide, narrow)
	full := limit.Standing{Wait: time.Minute}
	for range 5 {
		counts(t, e, epoch, []limit.Standing{{Left: 2}, full}, wide, narrow)
		counts(t, e, epoch, []limit.Standing{full, {Left: 2}}, narrow, wide)
	}
}

func uncountsTries(t *testing.T, e record.Engine) {
	a, b := tallyOf('a', 2), tallyOf('b', 2)
	Must(t, e.UncountTry(t.Context(), epoch, []limit.Tally{a}))
	counts(t, e, epoch, []limit.Standing{{Left: 2}, {Left: 2}}, a, b)
	counts(t, e, epoch.Add(time.Second), []limit.Standing{{Left: 1}, {Left: 1}}, a, b)
	Must(t, e.UncountTry(t.Context(), epoch.Add(2*time.Second), []limit.Tally{a}))
	late := epoch.Add(3 * time.Second)
	counts(t, e, late, []limit.Standing{{Wait: 57 * time.Second}}, b)
	counts(t, e, late, []limit.Standing{{Left: 1}}, a)
}

func keepsTries(t *testing.T, e record.Engine) {
	long := tallyOf('a', 2)
	long.Keep = time.Hour
	counts(t, e, epoch, []limit.Standing{{Left: 2}}, long)
	counts(t, e, epoch, []limit.Standing{{Left: 1}}, long)
	late := epoch.Add(10 * time.Minute)
	counts(t, e, late, []limit.Standing{{Left: 2}}, long)
	long.Span = 30 * time.Minute
	counts(t, e, late, []limit.Standing{{Wait: 20 * time.Minute}}, long)
}

func countsTriesAtOnce(t *testing.T, e record.Engine) {
	a, b := tallyOf('a', 7), tallyOf('b', 100)
	var wg sync.WaitGroup
	var counted atomic.Int64
	for i := range 40 {
		wg.Go(func() {
			ts := []limit.Tally{a, b}
			if i%2 == 0 {
				slices.Reverse(ts)
			}
			stood, err := e.CountTry(t.Context(), epoch, ts)
			if err != nil {
				t.Errorf("a try: %v", err)
			} else if limit.AllLeft(stood) {
				counted.Add(1)
			}
		})
	}
	wg.Wait()
	Same(t, "tries that were counted", int(counted.Load()), 7)
	counts(t, e, epoch, []limit.Standing{{Left: 93}, {Wait: time.Minute}}, b, a)
}

// agreesOnTries compares random tries with a model that keeps all of them.
func agreesOnTries(t *testing.T, e record.Engine) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	tries, now := make(map[[16]byte][]time.Time), epoch
	for range 200 {
		now = now.Add(time.Duration(r.IntN(20)) * time.Second)
		var ts []limit.Tally
		var want []limit.Standing
		for _, key := range r.Perm(3)[:1+r.IntN(3)] {
			one := tallyOf(byte(key), 1+key)
			ts = append(ts, one)
			want = append(want, modelStanding(one, tries[one.Key], now))
		}
		if r.IntN(8) == 0 {
			Must(t, e.UncountTry(t.Context(), now, ts))
			for _, one := range ts {
				if had := tries[one.Key]; len(had) > 0 && had[len(had)-1].Add(one.Span).After(now) {
					tries[one.Key] = had[:len(had)-1]
				}
			}
			continue
		}
		counts(t, e, now, want, ts...)
		for _, one := range ts {
			if limit.AllLeft(want) {
				tries[one.Key] = append(tries[one.Key], now)
			}
		}
	}
}

// modelStanding counts the tries of a tally, and looks for the time at which one is left.
func modelStanding(of limit.Tally, tries []time.Time, now time.Time) (s limit.Standing) {
	left := func(at time.Time) (left int) {
		left = of.Most
		for _, try := range tries {
			if at.Sub(try) < of.Span {
				left--
			}
		}
		return left
	}
	for s.Left = left(now); s.Left == 0 && left(now.Add(s.Wait)) == 0; s.Wait += time.Second {
	}
	return s
}
