package conformance

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pushbox/store/record"
)

// modelPushes is how many pushes the model has. A third of them hold files.
const modelPushes = 20

// A model is what an engine should hold. Pushes are by their numbers, grants by theirs.
type model struct {
	*testing.T
	*rand.Rand
	e       record.Engine
	owners  []record.AccountID // 0, two that own pushes, and two that are no accounts
	pushes  map[int]record.Push
	entries map[int][]record.Entry
	orphans map[int]bool
	grants  map[int]*modelGrant // all that there ever were
	waiting int                 // messages
}

type modelGrant struct {
	record.Grant
	push  int
	there bool
}

// agreesWithAModel runs random operations, does the same to maps, and compares. What goes
// to the engine and what comes from it is overwritten after use, since all are copies.
func agreesWithAModel(t *testing.T, e record.Engine) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	a, b := account(t, e, "a@example.org"), account(t, e, "b@example.org")
	m := &model{
		T: t, Rand: rand.New(rand.NewPCG(seed, 0)), e: e, owners: []record.AccountID{0, a, b, b + 1, 1<<64 - 1},
		pushes: map[int]record.Push{}, entries: map[int][]record.Entry{}, orphans: map[int]bool{}, grants: map[int]*modelGrant{},
	}
	for i := range 600 {
		n := m.IntN(modelPushes)
		m.step(n)
		m.want(n)
		if i%20 == 19 {
			m.compareLists()
			m.compareQueues()
			m.compareGrants()
			wantWaiting(t, e, m.waiting)
		}
		if t.Failed() {
			return // all that follows would differ
		}
	}
	for n := range modelPushes {
		m.want(n)
	}
}

// step does one thing to the n-th push.
func (m *model) step(n int) {
	k := len(m.grants) + 1
	i := newGrant(n, k)
	rules := map[string]record.Rule{
		"view": tidy(View), "fail": fail, "end": tidy(end(record.Expired)), "release": Release, "purge": Purge, "leave": Leave, "refuse": refuse,
		"end grants": endGrants, "freeze": freeze, "edit": edit(k), "change silently": silently, "overwrite": overwrite, "look": look(i),
		"retrieve": retrieve(i), "retrieve again": retrieve(i), "view and tell": tidy(withMessages(messageAt(k), messageAt(1))),
	}
	switch m.IntN(9) {
	case 0, 1:
		m.create(n, m.owners[m.IntN(4)])
	case 2:
		m.upload(n)
	case 3:
		m.free(n, 1+m.IntN(files*chunks+1))
	case 4:
		m.changeGrant(n, m.IntN(k), []record.GrantRule{slide(time.Hour), slide(time.Minute), slide(0), drop}[m.IntN(4)])
	default:
		what := slices.Sorted(maps.Keys(rules))[m.IntN(len(rules))]
		m.Logf("%s push %d, with grant %d", what, n, k)
		m.change(n, k, rules[what])
		scribble(i.Sealed)
	}
}

// tidy gives up the files of a push that has ended, unless there are grants for them.
func tidy(r record.Rule) record.Rule {
	return func(p record.Push) (record.Push, record.Entry, error) {
		p, e, err := r(p)
		if !p.Live() && p.GrantsEnd.IsZero() {
			p, _, _ = Release(p)
		}
		return p, e, err
	}
}

// refuse fails after it has counted a view.
func refuse(p record.Push) (record.Push, record.Entry, error) {
	p, e, _ := View(p)
	return p, e, ErrLimit
}

// freeze counts a wrong passphrase that freezes a live push.
func freeze(p record.Push) (record.Push, record.Entry, error) {
	if !p.Live() {
		return Leave(p)
	}
	p.Seq, p.Failed, p.Frozen = p.Seq+1, p.Failed+1, true
	return p, record.Entry{Kind: record.EntryFreeze, At: p.UpdatedAt}, nil
}

// endGrants ends the grants of a live push, which keeps its files.
func endGrants(p record.Push) (record.Push, record.Entry, error) {
	if p.Live() {
		p.GrantsEnd = time.Time{}
	}
	return p, record.Entry{}, nil
}

// edit gives a push other details, of a length by k; none for some.
func edit(k int) record.Rule {
	return func(p record.Push) (record.Push, record.Entry, error) {
		p, e, err := fail(p)
		p.Details, e.Kind = nil, record.EntryEdit
		if k%3 > 0 {
			p.Details = bytes.Repeat([]byte("sealed"), k%10+1)
		}
		return p, e, err
	}
}

// silently changes a push, and appends no entry.
func silently(p record.Push) (record.Push, record.Entry, error) {
	p.Details = []byte("other details")
	return p, record.Entry{Kind: record.EntryView, At: epoch}, nil
}

// overwrite changes nothing but the memory that the rule got.
func overwrite(p record.Push) (record.Push, record.Entry, error) {
	wrap := bytes.Clone(p.Wrap)
	scribble(p.Wrap)
	p.Wrap = wrap
	return p, record.Entry{}, nil
}

// look issues a grant without an audit entry, where the push has files.
func look(i *record.NewGrant) record.Rule {
	return func(p record.Push) (record.Push, record.Entry, error) {
		if !p.HoldsFiles() {
			return Leave(p)
		}
		p.GrantsEnd = later(p.GrantsEnd, i.ExpiresAt)
		return p, record.Entry{Kind: record.EntryOwnerView, At: p.UpdatedAt, Grant: i}, nil
	}
}

// push is the n-th push of the model, which its fourth view ends at the latest.
func (m *model) push(n int, owner record.AccountID) record.Push {
	p := LivePush(n, owner)
	if n%3 == 0 {
		p = filePush(n, owner)
	}
	p.ViewLimit = 1 + n%4
	return p
}

func (m *model) create(n int, owner record.AccountID) {
	m.Helper()
	m.Logf("create push %d of account %d", n, owner)
	p, payload := m.push(n, owner), Payload(n)
	entry := Creation(p)
	entry.Messages = []record.Message{messageAt(n)}
	err := Made(m.e.CreatePush(m.Context(), p, payload, entry))
	scribble(p.Wrap, p.Link, p.Details, p.Files, payload, entry.Sealed)
	_, taken := m.pushes[n]
	lacks := p.HoldsFiles() && !m.orphans[n]
	switch owns := slices.Index(m.owners, owner) < 3; {
	case !owns && !taken && !lacks:
		WantErr(m.T, err, record.ErrToken)
	case !owns:
		Same(m.T, "it is refused", err != nil, true)
	case taken:
		WantErr(m.T, err, record.ErrExists)
	case lacks:
		WantErr(m.T, err, record.ErrCorrupt)
	default:
		Must(m.T, err)
		m.pushes[n] = m.push(n, owner)
		m.entries[n] = []record.Entry{Creation(p)}
		delete(m.orphans, n)
		m.waiting++
	}
}

// upload keeps all chunks of a push, unless the push exists.
func (m *model) upload(n int) {
	m.Helper()
	m.Logf("upload chunks of push %d", n)
	if _, there := m.pushes[n]; there {
		WantErr(m.T, m.e.PutChunks(m.Context(), PushID(n), 0, 0, [][]byte{chunkOf(n, 0, 0)}), record.ErrExists)
	} else if n%3 == 0 {
		upload(m.T, m.e, n)
		m.orphans[n] = true
	}
}

// free removes the orphans of a push in steps.
func (m *model) free(n, limit int) {
	m.Helper()
	m.Logf("free %d chunks of push %d in each step", limit, n)
	steps, want := 1, 1
	for ; free(m.T, m.e, n, limit); steps++ {
		Same(m.T, "there are orphans", m.orphans[n], true)
		m.wantOrphans(record.ID{}, modelPushes)
	}
	if m.orphans[n] {
		want = (files*chunks + limit - 1) / limit
	}
	Same(m.T, "steps", steps, want)
	delete(m.orphans, n)
}

func (m *model) change(n, k int, r record.Rule) {
	m.Helper()
	p, there := m.pushes[n]
	if !there {
		r = func(p record.Push) (record.Push, record.Entry, error) {
			m.Error("a rule was asked about a push that does not exist")
			return p, record.Entry{}, nil
		}
	}
	c, err := m.e.Change(m.Context(), PushID(n), r)
	next, entry, wantError := p, record.Entry{}, record.ErrNotFound
	if there {
		next, entry, wantError = r(p)
	}
	if wantError != nil {
		WantErr(m.T, err, wantError)
		Same(m.T, "the error is as the rule returned it", !there || err == wantError, true) //nolint:errorlint // it must be the same error
		Same(m.T, "change", c, record.Change{})
		return
	}
	Must(m.T, err)
	var payload []byte
	if p.Live() {
		payload = Payload(n)
	}
	Same(m.T, "messages kept", len(c.Entry.Messages), len(entry.Messages))
	m.waiting += len(entry.Messages)
	c.Entry.Messages, entry.Messages = nil, nil
	Same(m.T, "change", c, record.Change{Push: next, Entry: entry, Payload: payload})
	scribble(c.Payload, c.Push.Wrap, c.Push.Link, c.Push.Details, c.Push.Files, c.Entry.Sealed)
	m.keep(n, k, p, next, entry)
}

// keep does what an engine does after a rule.
func (m *model) keep(n, k int, p, next record.Push, entry record.Entry) {
	m.pushes[n] = next
	if entry.Grant != nil {
		m.grants[k] = &modelGrant{newGrant(n, k).Grant, n, true}
	}
	if entry.Grant = nil; next.Seq > p.Seq {
		m.entries[n] = append(m.entries[n], entry)
	}
	over := next.State == record.Purged || !next.HoldsFiles()
	if over || next.GrantsEnd.IsZero() { // if it was zero before, there are none
		for _, g := range m.grants {
			g.there = g.there && g.push != n
		}
	}
	m.orphans[n] = m.orphans[n] || over && p.HoldsFiles()
	if next.State == record.Purged {
		delete(m.pushes, n)
		delete(m.entries, n)
	}
}

func (m *model) changeGrant(n, k int, r record.GrantRule) {
	m.Helper()
	m.Logf("change grant %d", k)
	g := m.grants[k]
	if g == nil {
		g = &modelGrant{newGrant(n, k).Grant, n, false}
	}
	if !g.there {
		r = func(p record.Push, g record.Grant) (record.Push, record.Grant, bool) {
			m.Error("a rule was asked about a grant that does not exist")
			return p, g, true
		}
	}
	got, err := m.e.ChangeGrant(m.Context(), g.Digest, r)
	if !g.there {
		WantErr(m.T, err, record.ErrNotFound)
		return
	}
	Must(m.T, err)
	p, next, there := r(m.pushes[g.push], g.Grant)
	if g.there = there; there {
		m.pushes[g.push] = p
		Same(m.T, "grant", got, next)
		scribble(got.Sealed)
		g.Grant = next
	}
}
