package store

import (
	"time"

	"pushbox/store/clock"
)

// longestGrant is how long downloads can extend a grant.
const longestGrant = day

// A GrantDigest is the SHA-256 digest of a grant's token, by which the grant is kept
// and found.
type GrantDigest [32]byte

// A Grant lets a client with its token download the files of a push: for a while after
// a retrieval, and longer while a download runs, but never beyond the time limit of the
// push.
type Grant struct {
	Digest    GrantDigest
	Push      ID
	ExpiresAt time.Time // unless a download extends it
	Until     time.Time // the most that it can be extended to
	Sealed    []byte    // the key of the files
}

// A NewGrant is a grant that begins. The engine removes others of the same push that
// ended by Ended.
type NewGrant struct {
	Grant
	Ended time.Time
}

// A GrantRule decides one change of a grant and of its push. It is pure, like a Rule.
// Where keep is false, the engine removes the grant.
type GrantRule func(p Push, g Grant) (nextPush Push, nextGrant Grant, keep bool)

// newGrant makes a grant for the files of p that lasts for window.
func newGrant(p Push, at clock.Instant, window time.Duration) *NewGrant {
	g := Grant{Push: p.ID, Until: earlier(at.Now.Add(longestGrant), p.ExpiresAt)}
	g.ExpiresAt = earlier(at.Now.Add(window), g.Until)
	return &NewGrant{Grant: g, Ended: at.Ends}
}

// check returns nil while the grant is good, ErrNotFound once it has ended, and
// ErrClock while that depends on whether to believe the clock.
func (g Grant) check(at clock.Instant) error {
	switch {
	case !at.Ends.Before(g.ExpiresAt):
		return ErrNotFound
	case !at.Denies.Before(g.ExpiresAt):
		return ErrClock
	default:
		return nil
	}
}

// within returns the grant with no time after end, the end of its push, which an edit
// may have brought forward.
func (g Grant) within(end time.Time) Grant {
	g.ExpiresAt, g.Until = earlier(g.ExpiresAt, end), earlier(g.Until, end)
	return g
}

// slides reports whether a running download should extend the grant. It need not at
// each chunk, since each extension costs a commit.
func (g Grant) slides(at clock.Instant, window time.Duration) bool {
	to := earlier(at.Now.Add(window), g.Until)
	return to.Sub(g.ExpiresAt) >= window/8
}

// slideRule extends a grant to where a new one would end, unless it has ended.
func slideRule(at clock.Instant, window time.Duration) GrantRule {
	return func(p Push, g Grant) (Push, Grant, bool) {
		now := g.within(p.ExpiresAt)
		if now.check(at) != nil {
			return p, g, true
		}
		g.ExpiresAt = later(g.ExpiresAt, earlier(at.Now.Add(window), now.Until))
		p.GrantsEnd = later(p.GrantsEnd, g.ExpiresAt)
		return p, g, true
	}
}

// endGrantRule removes a grant whose time is over.
func endGrantRule(at clock.Instant) GrantRule {
	return func(p Push, g Grant) (Push, Grant, bool) {
		return p, g, at.Ends.Before(g.within(p.ExpiresAt).ExpiresAt)
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
