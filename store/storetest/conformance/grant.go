package conformance

import (
	"testing"
	"time"

	"pushbox/store/record"
)

// newGrant is the k-th grant, for the n-th push. It ends k minutes after epoch,
// and at its issue no grant has ended.
func newGrant(n, k int) *record.NewGrant {
	return &record.NewGrant{
		Grant: record.Grant{
			Digest: record.GrantDigest{0: byte(k * 37), 1: byte(n), 30: byte(k >> 8), 31: byte(k)}, Push: PushID(n),
			ExpiresAt: epoch.Add(time.Duration(k) * time.Minute), Until: epoch.Add(24 * time.Hour),
			Sealed: []byte("sealed files key"),
		},
		Ended: epoch.Add(-time.Hour),
	}
}

// retrieve counts a view and issues a grant where the push has files.
func retrieve(i *record.NewGrant) record.Rule {
	return func(p record.Push) (record.Push, record.Entry, error) {
		next, e, err := View(p)
		if err == nil && p.HoldsFiles() {
			e.Grant = i
			next.GrantsEnd = later(p.GrantsEnd, i.ExpiresAt)
		}
		return next, e, err
	}
}

// Retrieve counts a view and issues a new grant of the n-th push.
func Retrieve(n, k int) record.Rule { return retrieve(newGrant(n, k)) }

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// issue counts a view of the n-th push and returns the k-th grant.
func issue(t *testing.T, e record.Engine, n, k int) record.Grant {
	t.Helper()
	i := newGrant(n, k)
	change(t, e, PushID(n), retrieve(i))
	return i.Grant
}

// slide moves the end of a grant by d, and that of its push.
func slide(d time.Duration) record.GrantRule {
	return func(p record.Push, g record.Grant) (record.Push, record.Grant, bool) {
		g.ExpiresAt = g.ExpiresAt.Add(d)
		p.GrantsEnd = later(p.GrantsEnd, g.ExpiresAt)
		return p, g, true
	}
}

func drop(p record.Push, g record.Grant) (record.Push, record.Grant, bool) { return p, g, false }

// wantGrant fails the test unless g is kept as it is, for the n-th push.
func wantGrant(t *testing.T, e record.Engine, n int, g record.Grant) {
	t.Helper()
	kept, p, err := e.Grant(t.Context(), g.Digest)
	Must(t, err)
	Same(t, "grant", kept, g)
	Same(t, "its push", p, mustPush(t, e, n))
}

func issuesNothingForNoFiles(t *testing.T, e record.Engine) {
	create(t, e, 1, 0)
	CreateFiles(t, e, 2, 0)
	for n, i := range map[int]*record.NewGrant{1: newGrant(1, 1), 2: newGrant(2, 2)} {
		change(t, e, PushID(n), func(p record.Push) (record.Push, record.Entry, error) {
			next, _, err := Release(p)
			return next, record.Entry{Kind: record.EntryView, Grant: i}, err
		})
		WantErr(t, third(e.Grant(t.Context(), i.Digest)), record.ErrNotFound)
	}
	wantOrphans(t, e, 2)
}

// A push with many live grants, and others that end all the time.
func forgetsEndedGrants(t *testing.T, e record.Engine) {
	const alive, rounds, bound = 24, 200, 40
	p := CreateFiles(t, e, 1, 0)
	short := func(k int) *record.NewGrant {
		i := newGrant(1, k+1)
		i.Digest[0] |= 1
		return i
	}
	var stay []record.Grant
	for k := range alive { // they have the lowest digests
		i := newGrant(1, 1)
		i.Digest, i.ExpiresAt = record.GrantDigest{2: 1, 3: byte(k)}, i.Until
		stay = append(stay, i.Grant)
		change(t, e, p.ID, look(i))
	}
	there := 0
	for k := range rounds {
		i := short(k)
		i.Ended = newGrant(1, k).ExpiresAt // the one before
		change(t, e, p.ID, look(i))
	}
	for k := range rounds {
		if third(e.Grant(t.Context(), short(k).Digest)) == nil {
			there++
		}
	}
	if there == 0 || there > bound {
		t.Errorf("%d of %d grants are there, and one of them is live", there, rounds)
	}
	for _, g := range stay {
		wantGrant(t, e, 1, g)
	}
	wantGrant(t, e, 1, short(rounds-1).Grant)
}

func forgetsNoOtherGrants(t *testing.T, e record.Engine) {
	for n := range 3 {
		CreateFiles(t, e, n+1, 0)
	}
	others := []record.Grant{issue(t, e, 1, 1), issue(t, e, 3, 1)}
	ended, ends, lasts := issue(t, e, 2, 1), issue(t, e, 2, 2), issue(t, e, 2, 3)
	i := newGrant(2, 4)
	i.Ended = ends.ExpiresAt
	change(t, e, PushID(2), retrieve(i))
	for _, g := range []record.Grant{ended, ends} {
		WantErr(t, third(e.Grant(t.Context(), g.Digest)), record.ErrNotFound)
	}
	wantGrant(t, e, 2, lasts)
	wantGrant(t, e, 2, i.Grant)
	wantGrant(t, e, 1, others[0])
	wantGrant(t, e, 3, others[1])
}
