// Package limit bounds the actions of clients: how often, and how much at a time.
//
// A Rate limits how often each key may do something, smoothly, and a Window
// how many guesses each key has in any stretch of time. Both keep their counts
// in memory for a bounded number of keys: beyond it, the key that was used least
// recently is forgotten, so the bound should be larger than the number of clients
// that one attacker can pretend to be.
//
// Slots limit how many operations run at the same time, a Pool how many run and how many
// wait in each of its Queues, and a Memory how many bytes they hold together.
//
// What clients do is counted for their addresses and for the networks around these, so
// that an attacker who has a network full of addresses is one client, or a few.
package limit

import (
	"errors"
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// A Rate is a token bucket for each key: it holds a minute's events, and refills
// steadily. It is safe for concurrent use, and takes about 250 bytes a key.
type Rate struct {
	perMinute int
	clock     Clock
	mu        sync.Mutex
	buckets   *table[*rate.Limiter] // one not used for a minute is full again
}

// NewRate returns a Rate that allows perMinute events, or any number if that
// is 0, and remembers at most maxKeys keys.
func NewRate(perMinute, maxKeys int, clock Clock) *Rate {
	return &Rate{perMinute: perMinute, clock: clock, buckets: newTable[*rate.Limiter](maxKeys, time.Minute)}
}

// SetPerMinute changes how many events are allowed from now on. Events that were used
// up stay used up.
func (r *Rate) SetPerMinute(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.perMinute = n
}

// Allow counts an event of the key and reports whether it is allowed. If not,
// it is not counted, and retryAfter is the time until the next one would be.
func (r *Rate) Allow(key string) (ok bool, retryAfter time.Duration) {
	return r.allow([]Step{{key, 1}})
}

// AllowFor is Allow for a client, whose events also count for the networks around it: a
// /24 of IPv4 may have eight times as many, an IPv6 /56 four times and a /48 sixteen
// times.
func (r *Rate) AllowFor(client string) (ok bool, retryAfter time.Duration) {
	return r.allow(Steps(client))
}

// allow takes an event from the bucket of each step, or from none.
func (r *Rate) allow(all []Step) (ok bool, retryAfter time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.perMinute <= 0 {
		return true, 0
	}
	now := r.clock()
	at := time.Unix(0, 0).Add(now)
	var buckets [1 + len(networks6)]*rate.Limiter
	for i, s := range all {
		buckets[i] = r.bucket(s, now, at)
		if missing := 1 - buckets[i].TokensAt(at); missing > 0 {
			retryAfter = max(retryAfter, time.Duration(math.Ceil(missing/float64(buckets[i].Limit())*float64(time.Second))))
		}
	}
	if retryAfter > 0 {
		return false, retryAfter
	}
	for i := range all {
		buckets[i].AllowN(at, 1)
	}
	return true, 0
}

func (r *Rate) bucket(s Step, now time.Duration, at time.Time) *rate.Limiter {
	n := r.perMinute * s.Times
	e := r.buckets.use(s.Key, now)
	if e.value == nil {
		e.value = rate.NewLimiter(perSecond(n), n)
	}
	if e.value.Burst() != n { // it was changed since
		e.value.SetLimitAt(at, perSecond(n))
		e.value.SetBurstAt(at, n)
	}
	return e.value
}

func perSecond(perMinute int) rate.Limit { return rate.Limit(perMinute) / 60 }

// ErrBusy says that other operations use all of a Queue or a Memory.
var ErrBusy = errors.New("too many operations at the same time")

// A Clock returns the time since some fixed moment. It must not run backwards as the
// wall clock can, or a limit would hold for hours.
type Clock func() time.Duration
