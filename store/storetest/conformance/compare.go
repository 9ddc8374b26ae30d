package conformance

import (
	"errors"
	"maps"
	"slices"
	"time"

	"pushbox/store/record"
)

// window is what a list returns of all.
func window[T any](all []T, skip, limit int) []T {
	all = all[min(skip, len(all)):]
	return all[:min(limit, len(all))]
}

// sameList fails the test unless the two lists have the same.
func sameList[T any](m *model, what string, got, want []T) {
	m.Helper()
	if len(got)+len(want) > 0 {
		Same(m.T, what, got, want)
	}
}

// want compares what the engine has of one push, in all methods that read one.
func (m *model) want(n int) {
	m.Helper()
	id, skip, limit := PushID(n), m.IntN(3), m.IntN(6)
	p, there := m.pushes[n]
	got, err := Push(m.Context(), m.e, id)
	sized, size, sizeErr := m.e.Push(m.Context(), id)
	entries, entriesErr := m.e.Entries(m.Context(), id, 0, 1000)
	some, someErr := m.e.Entries(m.Context(), id, skip, limit)
	Must(m.T, errors.Join(entriesErr, someErr))
	sameList(m, "entries", entries, m.entries[n])
	sameList(m, "some entries", some, window(m.entries[n], skip, limit))
	for _, e := range slices.Concat(entries, some) {
		scribble(e.Sealed)
	}
	if !there {
		WantErr(m.T, err, record.ErrNotFound)
		WantErr(m.T, sizeErr, record.ErrNotFound)
		return
	}
	Must(m.T, errors.Join(err, sizeErr))
	Same(m.T, "push", got, p)
	Same(m.T, "push with its size", sized, p)
	wantSize := 0
	if p.Live() {
		wantSize = len(Payload(n))
	}
	Same(m.T, "size of the payload", size, wantSize)
	scribble(got.Wrap, got.Link, got.Details, got.Files, sized.Wrap, sized.Details)
}

// compareLists compares parts of all lists of pushes.
func (m *model) compareLists() {
	m.Helper()
	all := slices.Sorted(maps.Keys(m.pushes))
	for _, owner := range m.owners[1:] {
		for _, live := range []bool{true, false} {
			m.compareOwned(owner, live, all)
		}
	}
	after, limit := m.IntN(modelPushes), m.IntN(modelPushes+2)
	var behind, found []record.Push
	for _, n := range all {
		if n > after {
			behind = append(behind, m.pushes[n])
		}
	}
	got, err := m.e.Scan(m.Context(), PushID(after), limit)
	Must(m.T, err)
	sameList(m, "scan", got, window(behind, 0, limit))
	some := m.Perm(modelPushes)[:m.IntN(8)]
	for _, n := range some {
		if p, there := m.pushes[n]; there {
			found = append(found, p)
		}
	}
	got, err = m.e.PushesByID(m.Context(), pushIDs(some...))
	Must(m.T, err)
	sameList(m, "pushes by ID", got, found)
	m.wantOrphans(PushID(after), limit)
	m.wantOrphans(record.ID{}, modelPushes)
}

func (m *model) compareOwned(owner record.AccountID, live bool, all []int) {
	m.Helper()
	before, skip, limit := m.IntN(modelPushes), m.IntN(3), m.IntN(6)
	var owned, older []record.Push
	for _, n := range slices.Backward(all) {
		if p := m.pushes[n]; p.Owner == owner && p.Live() == live {
			owned = append(owned, p)
			if n < before {
				older = append(older, p)
			}
		}
	}
	list := func(before record.ID, skip, limit int, want []record.Push) {
		m.Helper()
		got, err := m.e.Pushes(m.Context(), owner, live, before, skip, limit)
		Must(m.T, err)
		sameList(m, "pushes of an owner", got, window(want, skip, limit))
	}
	list(record.ID{}, 0, modelPushes, owned)
	list(record.ID{}, skip, limit, owned)
	list(PushID(before), skip, limit, older)
	count, err := m.e.CountPushes(m.Context(), owner, live, limit)
	Must(m.T, err)
	Same(m.T, "count", count, min(limit, len(owned)))
}

// compareQueues compares the expiry queues, up to a random time of each.
func (m *model) compareQueues() {
	m.Helper()
	for _, queue := range []record.ExpiryQueue{record.Expiring, record.ExpiredAnon, record.ExpiredOwned, record.Granted} {
		var want []int
		due := make(map[int]time.Time)
		for n, p := range m.pushes {
			if q, at := p.ExpiryQueue(); q == queue {
				want, due[n] = append(want, n), at
			}
		}
		slices.SortFunc(want, func(a, b int) int {
			if c := due[a].Compare(due[b]); c != 0 {
				return c
			}
			return a - b
		})
		untils := []time.Time{{}, epoch.AddDate(9, 0, 0)}
		if len(want) > 0 {
			at := due[want[m.IntN(len(want))]]
			untils = append(untils, at, at.Add(-time.Millisecond))
		}
		for _, until := range untils {
			want, behind := want, record.ExpiryPlace{}
			if skip := m.IntN(len(want) + 1); skip > 0 {
				last := want[skip-1]
				want, behind = want[skip:], record.ExpiryPlace{At: due[last], ID: PushID(last)}
			}
			limit := m.IntN(len(want) + 2)
			n := 0
			for n < min(limit, len(want)) && !due[want[n]].After(until) {
				n++
			}
			var after time.Time
			if n < len(want) {
				after = due[want[n]]
			}
			got, next, err := m.e.Due(m.Context(), queue, behind, until, limit)
			Must(m.T, err)
			sameList(m, "due", got, pushIDs(want[:n]...))
			Same(m.T, "next", next, after)
		}
	}
}

// compareGrants reads one random chunk under each grant, and under some of those that have
// gone.
func (m *model) compareGrants() {
	m.Helper()
	for k := 1; k <= len(m.grants); k++ {
		want := m.grants[k]
		if !want.there && m.IntN(8) > 0 {
			continue
		}
		g, p, err := m.e.Grant(m.Context(), want.Digest)
		file, n := m.IntN(files+1), m.IntN(chunks+1)
		of, sealed, chunkErr := m.e.Chunk(m.Context(), want.Digest, file, n, nil)
		if !want.there {
			WantErr(m.T, err, record.ErrNotFound)
			WantErr(m.T, chunkErr, record.ErrNotFound)
			Same(m.T, "grant that is not there", g, record.Grant{})
			Same(m.T, "its push", p, record.Push{})
			continue
		}
		Must(m.T, err)
		Same(m.T, "grant", g, want.Grant)
		Same(m.T, "push of a grant", p, m.pushes[want.push])
		if file == files || n == chunks {
			WantErr(m.T, chunkErr, record.ErrCorrupt)
		} else {
			Must(m.T, chunkErr)
			Same(m.T, "grant of a chunk", of, want.Grant)
			Same(m.T, "chunk", string(sealed), string(chunkOf(want.push, file, n)))
		}
		scribble(g.Sealed, p.Wrap, sealed)
	}
}

func (m *model) wantOrphans(after record.ID, limit int) {
	m.Helper()
	var want []record.ID
	for _, n := range slices.Sorted(maps.Keys(m.orphans)) {
		if id := PushID(n); m.orphans[n] && slices.Compare(id[:], after[:]) > 0 {
			want = append(want, id)
		}
	}
	got, err := m.e.Orphans(m.Context(), after, limit)
	Must(m.T, err)
	sameList(m, "orphans", got, window(want, 0, limit))
}
