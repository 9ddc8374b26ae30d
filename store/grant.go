package store

import (
	"time"
)

// longestGrant is how long a grant may be kept alive by downloads.
const longestGrant = day

// GrantDigest is the digest by which a grant is kept and found.
type GrantDigest [32]byte

// A Grant lets whoever has its token download the files of a push: for a while
// after the push was retrieved, and longer while a download runs, but never
// beyond the time limit of the push.
type Grant struct {
	Digest    GrantDigest
	Push      ID
	ExpiresAt time.Time // unless a download moves it
	Until     time.Time // where that has an end
	Sealed    []byte    // the key of the files
}

// An Issue is a grant that is new. Others of the same push that ended before
// make room for it.
type Issue struct {
	Grant
	Ended time.Time
}

// A GrantRule decides one change of a grant and of the push that it is for. It
// is as pure as a Rule. A grant that is not kept is gone.
type GrantRule func(p Push, g Grant) (nextPush Push, nextGrant Grant, keep bool)

// newIssue makes a grant for the files of p that lasts for window.
func newIssue(p Push, at instant, window time.Duration) *Issue {
	g := Grant{Push: p.ID, Until: earlier(at.now.Add(longestGrant), p.ExpiresAt)}
	g.ExpiresAt = earlier(at.now.Add(window), g.Until)
	return &Issue{Grant: g, Ended: at.ends}
}

// check returns nil while the grant is good: ErrNotFound once it has ended,
// ErrClock where that depends on whether to believe the clock.
func (g Grant) check(at instant) error {
	switch {
	case !at.ends.Before(g.ExpiresAt):
		return ErrNotFound
	case !at.denies.Before(g.ExpiresAt):
		return ErrClock
	default:
		return nil
	}
}

// within is the grant as it is where its push ends at that time: an edit may have
// brought that forward since the grant was issued.
func (g Grant) within(end time.Time) Grant {
	g.ExpiresAt, g.Until = earlier(g.ExpiresAt, end), earlier(g.Until, end)
	return g
}

// slides reports whether a download that runs should move the end of the grant:
// not at each chunk, since it costs a commit.
func (g Grant) slides(at instant, window time.Duration) bool {
	to := earlier(at.now.Add(window), g.Until)
	return to.Sub(g.ExpiresAt) >= window/8
}

// slideRule moves the end of a grant to where a new one would end. One that has
// ended stays so.
func slideRule(at instant, window time.Duration) GrantRule {
	return func(p Push, g Grant) (Push, Grant, bool) {
		now := g.within(p.ExpiresAt)
		if now.check(at) != nil {
			return p, g, true
		}
		g.ExpiresAt = later(g.ExpiresAt, earlier(at.now.Add(window), now.Until))
		p.GrantsEnd = later(p.GrantsEnd, g.ExpiresAt)
		return p, g, true
	}
}

// endGrantRule takes a grant away whose time is over.
func endGrantRule(at instant) GrantRule {
	return func(p Push, g Grant) (Push, Grant, bool) {
		return p, g, at.ends.Before(g.within(p.ExpiresAt).ExpiresAt)
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
