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
	"a tally is full until its first try is past": fillsTallies,
	"one key can be asked about different spans":  keepsTries,
	"tries at once do not get past the limit":     countsTriesAtOnce,
	"tallies agree with a naive model":            agreesOnTries,
}

// tallyOf is a tally of the first sort that bounds tries to n within a minute.
func tallyOf(key byte, n int) limit.Tally {
	return limit.Tally{Of: 1, Key: [16]byte{15: key}, Most: n, Span: time.Minute}
}

// counts counts a try for tallies, whose standings must be as wanted before.
func counts(t *testing.T, e record.Engine, at time.Time, want []limit.Standing, ts ...limit.Tally) {
	t.Helper()
	Same(t, "standing", got(e.Tries(t.Context(), limit.Look, at, ts)).of(t), want)
	Same(t, "standing before the try", got(e.Tries(t.Context(), limit.Count, at, ts)).of(t), want)
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
			stood, err := e.Tries(t.Context(), limit.Count, epoch, ts)
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
}

// agreesOnTries compares random tries with a model that keeps all of them. Two tallies at a
// time have the same key and differ by their sort, and one has no bound.
func agreesOnTries(t *testing.T, e record.Engine) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	tries, now := make([][]time.Time, 4), epoch
	for range 200 {
		now = now.Add(time.Duration(r.IntN(20)) * time.Second)
		var ts []limit.Tally
		var want []limit.Standing
		of := r.Perm(len(tries))[:1+r.IntN(3)]
		for _, n := range of {
			one := tallyOf(byte(n/2), n)
			one.Of += uint8(n % 2)
			ts, want = append(ts, one), append(want, modelStanding(one, tries[n], now))
		}
		if r.IntN(8) == 0 {
			got(e.Tries(t.Context(), limit.Uncount, now, ts)).of(t)
			for _, n := range of {
				if had := tries[n]; len(had) > 0 && had[len(had)-1].Add(time.Minute).After(now) {
					tries[n] = had[:len(had)-1]
				}
			}
			continue
		}
		counts(t, e, now, want, ts...)
		for _, n := range of {
			if limit.AllLeft(want) {
				tries[n] = append(tries[n], now)
			}
		}
	}
}

// modelStanding counts the tries of a tally that are not past.
func modelStanding(of limit.Tally, tries []time.Time, now time.Time) (s limit.Standing) {
	if of.Most == 0 {
		return limit.Standing{Left: math.MaxInt}
	}
	recent := slices.DeleteFunc(slices.Clone(tries), func(try time.Time) bool { return now.Sub(try) >= of.Span })
	if s.Left = of.Most - len(recent); s.Left == 0 {
		s.Wait = recent[0].Add(of.Span).Sub(now)
	}
	return s
}
