package store

import (
	"time"

	"pushbox/store/clock"
	"pushbox/store/record"
)

// longestGrant is how long downloads can extend a grant.
const longestGrant = 24 * time.Hour

// newGrant makes a grant for the files of p that lasts for window.
func newGrant(p record.Push, at clock.Instant, window time.Duration) *record.NewGrant {
	g := record.Grant{Push: p.ID, Until: record.Earlier(at.Now.Add(longestGrant), p.ExpiresAt)}
	g.ExpiresAt = record.Earlier(at.Now.Add(window), g.Until)
	return &record.NewGrant{Grant: g, Ended: at.Ends}
}

// checkGrant returns nil while the grant is good, ErrNotFound once it has ended, and
// ErrClock while that depends on whether to believe the clock.
func checkGrant(g record.Grant, at clock.Instant) error {
	switch {
	case !at.Ends.Before(g.ExpiresAt):
		return record.ErrNotFound
	case !at.Denies.Before(g.ExpiresAt):
		return record.ErrClock
	default:
		return nil
	}
}

// grantWithin returns the grant with no time after end, the end of its push, which an edit
// may have brought forward.
func grantWithin(g record.Grant, end time.Time) record.Grant {
	g.ExpiresAt, g.Until = record.Earlier(g.ExpiresAt, end), record.Earlier(g.Until, end)
	return g
}

// grantSlides reports whether a running download should extend the grant. It need not at
// each chunk, since each extension costs a commit.
func grantSlides(g record.Grant, at clock.Instant, window time.Duration) bool {
	to := record.Earlier(at.Now.Add(window), g.Until)
	return to.Sub(g.ExpiresAt) >= window/8
}

// slideRule extends a grant to where a new one would end, unless it has ended.
func slideRule(at clock.Instant, window time.Duration) record.GrantRule {
	return func(p record.Push, g record.Grant) (record.Push, record.Grant, bool) {
		now := grantWithin(g, p.ExpiresAt)
		if checkGrant(now, at) != nil {
			return p, g, true
		}
		g.ExpiresAt = record.Later(g.ExpiresAt, record.Earlier(at.Now.Add(window), now.Until))
		p.GrantsEnd = record.Later(p.GrantsEnd, g.ExpiresAt)
		return p, g, true
	}
}

// endGrantRule removes a grant whose time is over.
func endGrantRule(at clock.Instant) record.GrantRule {
	return func(p record.Push, g record.Grant) (record.Push, record.Grant, bool) {
		return p, g, at.Ends.Before(grantWithin(g, p.ExpiresAt).ExpiresAt)
	}
}
