package conformance

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pushbox/store/record"
)

// A model is what an engine should hold.
type model struct {
	pushes  map[record.ID]record.Push
	grants  map[record.GrantDigest]record.Grant
	orphans map[record.ID]bool
	issued  int // grants so far
}

// agreesWithAModel runs random operations, does the same to maps, and compares. A third
// of the pushes hold files.
func agreesWithAModel(t *testing.T, e record.Engine) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	owners := []record.AccountID{0, account(t, e, "a@example.org"), account(t, e, "b@example.org")}
	m := &model{pushes: map[record.ID]record.Push{}, grants: map[record.GrantDigest]record.Grant{}, orphans: map[record.ID]bool{}}
	for i := range 500 {
		if i%20 == 0 {
			m.compareIndexes(t, e, owners[1:])
		}
		n, owner := r.IntN(40), owners[r.IntN(len(owners))]
		switch r.IntN(9) {
		case 0, 1:
			m.create(t, e, n, owner)
		case 2:
			m.upload(t, e, n)
		case 3:
			m.free(t, e, n, 1+r.IntN(files*chunks))
		case 4, 5:
			m.changeGrant(t, e, r.IntN(m.issued+1), []record.GrantRule{slide(time.Hour), slide(0), drop}[r.IntN(3)])
		default:
			m.issued++
			get := retrieve(newGrant(n, m.issued))
			rules := []record.Rule{get, get, get, fail, release, finish(record.Expired), purge}
			m.change(t, e, pushID(n), rules[r.IntN(len(rules))])
		}
	}
	m.compare(t, e, owners[1:])
}

// finish ends a push, and gives up its files unless there are grants for them.
func finish(s record.State) record.Rule {
	return func(p record.Push) (record.Push, record.Entry, error) {
		p, e, err := end(s)(p)
		if p.GrantsEnd.IsZero() {
			p, _, _ = release(p)
		}
		return p, e, err
	}
}

func (m *model) create(t *testing.T, e record.Engine, n int, owner record.AccountID) {
	t.Helper()
	p := livePush(n, owner)
	if n%3 == 0 {
		p = filePush(n, owner)
	}
	err := e.CreatePush(t.Context(), p, payloadOf(n), creation(p))
	_, taken := m.pushes[p.ID]
	switch {
	case taken:
		WantErr(t, err, record.ErrExists)
	case p.HoldsFiles() && !m.orphans[p.ID]:
		WantErr(t, err, record.ErrCorrupt)
	default:
		Must(t, err)
		m.pushes[p.ID] = p
		if p.HoldsFiles() {
			delete(m.orphans, p.ID)
		}
	}
}

// upload keeps all chunks of a push, unless the push exists.
func (m *model) upload(t *testing.T, e record.Engine, n int) {
	t.Helper()
	if _, there := m.pushes[pushID(n)]; there {
		WantErr(t, e.PutChunks(t.Context(), pushID(n), 0, 0, [][]byte{chunkOf(n, 0, 0)}), record.ErrExists)
		return
	}
	if n%3 == 0 {
		upload(t, e, n)
		m.orphans[pushID(n)] = true
	}
}

// free removes the orphans of a push in steps.
func (m *model) free(t *testing.T, e record.Engine, n, limit int) {
	t.Helper()
	steps := 1
	for free(t, e, n, limit) {
		steps++
	}
	if want := (files*chunks + limit - 1) / limit; m.orphans[pushID(n)] {
		Same(t, "steps", steps, want)
	}
	delete(m.orphans, pushID(n))
}

func (m *model) change(t *testing.T, e record.Engine, id record.ID, r record.Rule) {
	t.Helper()
	p, there := m.pushes[id]
	c, err := e.Change(t.Context(), id, r)
	if !there {
		WantErr(t, err, record.ErrNotFound)
		return
	}
	next, entry, wantError := r(p)
	if wantError != nil {
		WantErr(t, err, wantError)
		return
	}
	Must(t, err)
	Same(t, "push", c.Push, next)
	Same(t, "entry", c.Entry, entry)
	Same(t, "payload is there", c.Payload != nil, p.Live())
	m.pushes[id] = next
	if entry.Grant != nil {
		m.grants[entry.Grant.Digest] = entry.Grant.Grant
	}
	if purged := next.State == record.Purged; purged || !next.HoldsFiles() {
		maps.DeleteFunc(m.grants, func(_ record.GrantDigest, g record.Grant) bool { return g.Push == id })
		if p.HoldsFiles() {
			m.orphans[id] = true
		}
		if purged {
			delete(m.pushes, id)
		}
	}
}

func (m *model) changeGrant(t *testing.T, e record.Engine, k int, r record.GrantRule) {
	t.Helper()
	d := newGrant(0, k).Digest
	for n := range 40 {
		if candidate := newGrant(n, k).Digest; m.grants[candidate].Push == pushID(n) {
			d = candidate
		}
	}
	g, there := m.grants[d]
	got, err := e.ChangeGrant(t.Context(), d, r)
	if !there {
		WantErr(t, err, record.ErrNotFound)
		return
	}
	Must(t, err)
	p, g, keep := r(m.pushes[g.Push], g)
	if delete(m.grants, d); keep {
		m.grants[d], m.pushes[p.ID] = g, p
		Same(t, "grant", got, g)
	}
}

// compareIndexes compares what is listed by owner and by time.
func (m *model) compareIndexes(t *testing.T, e record.Engine, owners []record.AccountID) {
	t.Helper()
	for _, owner := range owners {
		compareLists(t, e, m.pushes, owner)
	}
	for _, queue := range []record.ExpiryQueue{record.Expiring, record.ExpiredAnon, record.ExpiredOwned, record.Granted} {
		m.compareDue(t, e, queue)
	}
}

func (m *model) compareDue(t *testing.T, e record.Engine, queue record.ExpiryQueue) {
	t.Helper()
	var want []record.ID
	due := make(map[record.ID]time.Time)
	for id, p := range m.pushes {
		if q, at := p.ExpiryQueue(); q == queue {
			want, due[id] = append(want, id), at
		}
	}
	slices.SortFunc(want, func(a, b record.ID) int {
		if c := due[a].Compare(due[b]); c != 0 {
			return c
		}
		return slices.Compare(a[:], b[:])
	})
	got, next, err := e.Due(t.Context(), queue, epoch.AddDate(9, 0, 0), 100)
	Must(t, err)
	Same(t, "due", got, want)
	Same(t, "next", next, time.Time{})
	if len(want) > 1 {
		got, next, err = e.Due(t.Context(), queue, due[want[0]], 1)
		Must(t, err)
		Same(t, "first due", got, want[:1])
		Same(t, "next", next, due[want[1]])
	}
}

func (m *model) compare(t *testing.T, e record.Engine, owners []record.AccountID) {
	t.Helper()
	m.compareIndexes(t, e, owners)
	for d, want := range m.grants {
		g, p, err := e.Grant(t.Context(), d)
		Must(t, err)
		Same(t, "grant", g, want)
		Same(t, "push of a grant", p, m.pushes[g.Push])
		_, sealed, err := e.Chunk(t.Context(), d, files-1, chunks-1, nil)
		Must(t, err)
		Same(t, "length of a chunk", len(sealed) > 0, true)
	}
	got, err := e.Orphans(t.Context(), record.ID{}, 1000)
	Must(t, err)
	want := slices.SortedFunc(maps.Keys(m.orphans), func(a, b record.ID) int { return slices.Compare(a[:], b[:]) })
	Same(t, "orphans", got, want)
}

func compareLists(t *testing.T, e record.Engine, pushes map[record.ID]record.Push, owner record.AccountID) {
	t.Helper()
	for _, live := range []bool{true, false} {
		var want []record.Push
		for _, p := range pushes {
			if p.Owner == owner && p.Live() == live {
				want = append(want, p)
			}
		}
		slices.SortFunc(want, func(a, b record.Push) int { return slices.Compare(b.ID[:], a.ID[:]) })
		got, err := e.Pushes(t.Context(), owner, live, record.ID{}, 0, 100)
		Must(t, err)
		Same(t, "list", got, want)
	}
}
