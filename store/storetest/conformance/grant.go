package conformance

import (
	"strings"
	"testing"
	"time"

	"pushbox/store/record"
)

// newGrant is the k-th grant, for the n-th push. It ends k minutes after epoch,
// and at its issue no grant has ended.
func newGrant(n, k int) *record.NewGrant {
	return &record.NewGrant{
		Grant: record.Grant{
			Digest: record.GrantDigest{0: byte(k * 37), 1: byte(n), 30: byte(k >> 8), 31: byte(k)}, Push: pushID(n),
			ExpiresAt: epoch.Add(time.Duration(k) * time.Minute), Until: epoch.Add(24 * time.Hour),
			Sealed: []byte("sealed files key"),
		},
		Ended: epoch.Add(-time.Hour),
	}
}

// retrieve counts a view and issues a grant where the push has files.
func retrieve(i *record.NewGrant) record.Rule {
	return func(p record.Push) (record.Push, record.Entry, error) {
		next, e, err := view(p)
		if err == nil && p.HoldsFiles() {
			e.Grant = i
			next.GrantsEnd = later(p.GrantsEnd, i.ExpiresAt)
		}
		return next, e, err
	}
}

// look issues a grant without an audit entry.
func look(i *record.NewGrant) record.Rule {
	return func(p record.Push) (record.Push, record.Entry, error) {
		p.GrantsEnd = later(p.GrantsEnd, i.ExpiresAt)
		return p, record.Entry{Kind: record.EntryOwnerView, At: p.UpdatedAt, Grant: i}, nil
	}
}

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
	change(t, e, pushID(n), retrieve(i))
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
	got, p, err := e.Grant(t.Context(), g.Digest)
	Must(t, err)
	Same(t, "grant", got, g)
	Same(t, "its push", p, mustPush(t, e, n))
}

func issuesGrants(t *testing.T, e record.Engine) {
	p := createFiles(t, e, 1, account(t, e, "owner@example.org"))
	other := createFiles(t, e, 2, 0)
	i := newGrant(1, 5)
	want, entry, _ := retrieve(i)(p)
	c := change(t, e, p.ID, retrieve(i))
	Same(t, "change", c, record.Change{Push: want, Entry: entry, Payload: payloadOf(1)})
	got := mustPush(t, e, 1)
	Same(t, "push", got, want)
	Same(t, "end of its grants", got.GrantsEnd, i.ExpiresAt)
	wantGrant(t, e, 1, i.Grant)
	entry.Grant = nil
	entries, err := e.Entries(t.Context(), p.ID, 0, 10)
	Must(t, err)
	Same(t, "entries", entries, []record.Entry{creation(p), entry})

	second, others := issue(t, e, 1, 6), issue(t, e, 2, 6)
	wantGrant(t, e, 1, i.Grant)
	wantGrant(t, e, 1, second)
	wantGrant(t, e, 2, others)
	Same(t, "end of the grants of another", mustPush(t, e, 2).GrantsEnd, others.ExpiresAt)
	Same(t, "entries of another", mustPush(t, e, 2).Seq, other.Seq+1)
}

func issuesSilently(t *testing.T, e record.Engine) {
	p := createFiles(t, e, 1, 0)
	// The second says nothing new of the push but that there is a grant.
	for _, k := range []int{5, 4} {
		i := newGrant(1, k)
		c := change(t, e, p.ID, look(i))
		Same(t, "number of entries", c.Push.Seq, p.Seq)
		wantGrant(t, e, 1, i.Grant)
		Same(t, "end of the grants", mustPush(t, e, 1).GrantsEnd, newGrant(1, 5).ExpiresAt)
	}
	entries, err := e.Entries(t.Context(), p.ID, 0, 10)
	Must(t, err)
	Same(t, "entries", entries, []record.Entry{creation(p)})
}

func readsUnderAGrant(t *testing.T, e record.Engine) {
	createFiles(t, e, 1, 0)
	createFiles(t, e, 2, 0)
	unknown := newGrant(1, 9).Grant
	g, p, err := e.Grant(t.Context(), unknown.Digest)
	WantErr(t, err, record.ErrNotFound)
	Same(t, "grant that is not there", g, record.Grant{})
	Same(t, "its push", p, record.Push{})
	_, _, err = e.Chunk(t.Context(), unknown.Digest, 0, 0, nil)
	WantErr(t, err, record.ErrNotFound)
	_, err = e.ChangeGrant(t.Context(), unknown.Digest, func(p record.Push, g record.Grant) (record.Push, record.Grant, bool) {
		t.Error("a rule was asked about a grant that does not exist")
		return p, g, true
	})
	WantErr(t, err, record.ErrNotFound)

	first, second := issue(t, e, 1, 1), issue(t, e, 2, 2)
	wantChunks(t, e, 1, first)
	wantChunks(t, e, 2, second)
	for _, at := range [][2]int{{0, chunks}, {files, 0}, {files + 1, chunks + 1}} {
		_, _, err = e.Chunk(t.Context(), first.Digest, at[0], at[1], nil)
		WantErr(t, err, record.ErrCorrupt)
	}
}

func issuesNothingForNoFiles(t *testing.T, e record.Engine) {
	create(t, e, 1, 0)
	createFiles(t, e, 2, 0)
	for n, i := range map[int]*record.NewGrant{1: newGrant(1, 1), 2: newGrant(2, 2)} {
		change(t, e, pushID(n), func(p record.Push) (record.Push, record.Entry, error) {
			next, _, err := release(p)
			return next, record.Entry{Kind: record.EntryView, Grant: i}, err
		})
		_, _, err := e.Grant(t.Context(), i.Digest)
		WantErr(t, err, record.ErrNotFound)
	}
	wantOrphans(t, e, 2)
}

func closesWithGrants(t *testing.T, e record.Engine) {
	p := createFiles(t, e, 1, 0)
	var last record.Grant
	for k := range p.ViewLimit {
		last = issue(t, e, 1, k+1)
	}
	closed := mustPush(t, e, 1)
	Same(t, "live", closed.Live(), false)
	Same(t, "files", string(closed.Files), string(p.Files))
	wantChunks(t, e, 1, last)
	wantOrphans(t, e)
	wantDue(t, e, record.Granted, last.ExpiresAt, 1)
	wantDue(t, e, record.Expiring, time.Time{})
	Same(t, "payload is there", change(t, e, p.ID, leave).Payload != nil, false)

	change(t, e, p.ID, release)
	wantDue(t, e, record.Granted, time.Time{})
	wantDue(t, e, record.ExpiredAnon, closed.ExpiredAt, 1)
	wantOrphans(t, e, 1)
}

// wantDue fails the test unless these pushes are in an expiry queue, the first of them
// with that time.
func wantDue(t *testing.T, e record.Engine, s record.ExpiryQueue, first time.Time, numbers ...int) {
	t.Helper()
	due, _, err := e.Due(t.Context(), s, epoch.AddDate(1, 0, 0), 10)
	Must(t, err)
	Same(t, "due", due, pushIDs(numbers...))
	_, next, err := e.Due(t.Context(), s, epoch.AddDate(-1, 0, 0), 10)
	Must(t, err)
	Same(t, "the first time", next, first)
}

func slidesGrants(t *testing.T, e record.Engine) {
	p := createFiles(t, e, 1, 0)
	var g []record.Grant
	for k := range p.ViewLimit {
		g = append(g, issue(t, e, 1, k+1))
	}
	before := mustPush(t, e, 1)
	steps := []struct {
		grant  int
		by     time.Duration
		pushes time.Duration // the end of the push's grants, by how much
	}{
		{0, time.Minute, 0},                             // to before where the last one ends
		{4, time.Hour, time.Hour},                       // the last one itself
		{0, 2 * time.Hour, time.Hour*2 - 3*time.Minute}, // the first beyond it
		{1, 0, time.Hour*2 - 3*time.Minute},
	}
	for _, c := range steps {
		want := g[c.grant]
		want.ExpiresAt = want.ExpiresAt.Add(c.by)
		got, err := e.ChangeGrant(t.Context(), want.Digest, slide(c.by))
		Must(t, err)
		Same(t, "grant", got, want)
		wantGrant(t, e, 1, want)
		g[c.grant] = want
		moved := before
		moved.GrantsEnd = before.GrantsEnd.Add(c.pushes)
		Same(t, "push", mustPush(t, e, 1), moved)
		wantDue(t, e, record.Granted, moved.GrantsEnd, 1)
	}
	for _, grant := range g {
		wantChunks(t, e, 1, grant)
	}
}

func slidesGrantsOfALivePush(t *testing.T, e record.Engine) {
	owner := account(t, e, "owner@example.org")
	p := createFiles(t, e, 1, owner)
	g := issue(t, e, 1, 1)
	_, err := e.ChangeGrant(t.Context(), g.Digest, slide(time.Hour))
	Must(t, err)
	got := mustPush(t, e, 1)
	Same(t, "end of the grants", got.GrantsEnd, g.ExpiresAt.Add(time.Hour))
	wantDue(t, e, record.Expiring, p.ExpiresAt, 1)
	wantDue(t, e, record.Granted, time.Time{})
	Same(t, "payload", change(t, e, p.ID, leave).Payload, payloadOf(1))
	list, err := e.Pushes(t.Context(), owner, true, record.ID{}, 0, 10)
	Must(t, err)
	Same(t, "pushes of the owner", list, []record.Push{got})
}

func dropsGrants(t *testing.T, e record.Engine) {
	createFiles(t, e, 1, 0)
	first, second := issue(t, e, 1, 1), issue(t, e, 1, 2)
	before := mustPush(t, e, 1)
	_, err := e.ChangeGrant(t.Context(), second.Digest, drop)
	Must(t, err)
	_, _, err = e.Grant(t.Context(), second.Digest)
	WantErr(t, err, record.ErrNotFound)
	_, _, err = e.Chunk(t.Context(), second.Digest, 0, 0, nil)
	WantErr(t, err, record.ErrNotFound)
	_, err = e.ChangeGrant(t.Context(), second.Digest, drop)
	WantErr(t, err, record.ErrNotFound)
	Same(t, "push", mustPush(t, e, 1), before)
	wantChunks(t, e, 1, first)
}

func survivesAGrantPanic(t *testing.T, e record.Engine) {
	createFiles(t, e, 1, 0)
	g := issue(t, e, 1, 1)
	before := mustPush(t, e, 1)
	_, err := e.ChangeGrant(t.Context(), g.Digest, func(record.Push, record.Grant) (record.Push, record.Grant, bool) {
		panic("a secret marker")
	})
	if err == nil || strings.Contains(err.Error(), "secret marker") {
		t.Errorf("got error %v, want one that does not reveal the panic's value", err)
	}
	Same(t, "push", mustPush(t, e, 1), before)
	wantGrant(t, e, 1, g)
	_, err = e.ChangeGrant(t.Context(), g.Digest, slide(time.Minute))
	Must(t, err)
}

// A push with many live grants, and others that end all the time.
func forgetsEndedGrants(t *testing.T, e record.Engine) {
	const alive, rounds, bound = 24, 200, 40
	p := filePush(1, 0)
	upload(t, e, 1)
	Must(t, e.CreatePush(t.Context(), p, payloadOf(1), creation(p)))
	var stay []record.Grant
	for k := range alive { // they have the lowest digests
		i := newGrant(1, 1)
		i.Digest, i.ExpiresAt = record.GrantDigest{2: 1, 3: byte(k)}, i.Until
		stay = append(stay, i.Grant)
		change(t, e, p.ID, look(i))
	}
	there := 0
	for k := range rounds {
		i := newGrant(1, k+1)
		i.Digest[0] |= 1
		i.Ended = newGrant(1, k).ExpiresAt // the one before
		change(t, e, p.ID, look(i))
	}
	for k := range rounds {
		i := newGrant(1, k+1)
		i.Digest[0] |= 1
		if _, _, err := e.Grant(t.Context(), i.Digest); err == nil {
			there++
		}
	}
	if there == 0 || there > bound {
		t.Errorf("%d of %d grants are there, and one of them is live", there, rounds)
	}
	for _, g := range stay {
		wantGrant(t, e, 1, g)
	}
	i := newGrant(1, rounds)
	i.Digest[0] |= 1
	wantGrant(t, e, 1, i.Grant)
}

func forgetsNoOtherGrants(t *testing.T, e record.Engine) {
	createFiles(t, e, 1, 0)
	createFiles(t, e, 2, 0)
	createFiles(t, e, 3, 0)
	others := []record.Grant{issue(t, e, 1, 1), issue(t, e, 3, 1)}
	ended, ends, lasts := issue(t, e, 2, 1), issue(t, e, 2, 2), issue(t, e, 2, 3)
	i := newGrant(2, 4)
	i.Ended = ends.ExpiresAt
	change(t, e, pushID(2), retrieve(i))
	for _, g := range []record.Grant{ended, ends} {
		_, _, err := e.Grant(t.Context(), g.Digest)
		WantErr(t, err, record.ErrNotFound)
	}
	wantGrant(t, e, 2, lasts)
	wantGrant(t, e, 2, i.Grant)
	wantGrant(t, e, 1, others[0])
	wantGrant(t, e, 3, others[1])
}
