package bolt

import (
	"encoding/binary"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"pushbox/store"
)

// The journal takes those changes of a push that alter no more than its counts:
// views, most of all. They are appended to one bucket, side by side, however far
// apart their pushes lie, with the audit entry that belongs to each; memory knows
// which there are, and readers add them to what they find. Later they are folded:
// written where they belong, many at a time, and cut off the journal.
//
// A row that was folded may still be in the journal, and folding it again changes
// nothing: it says what the counts are, not what is to be added to them. So a crash
// at any moment leaves nothing to mend, and opening only reads the rows.

// journalBounds say when the journal is worked on, in rows where nothing else is said.
type journalBounds struct {
	gather uint64        // that make a generation
	most   uint64        // from which on nothing goes into the journal, until some have left it
	fold   int           // folded in a commit, where it has few operations
	cut    int           // cut off in a commit, the same
	lull   time.Duration // without an operation, after which what has gathered is folded, however little
}

// usualJournal is small enough to be read at a start in no time, and large enough
// that views of the same page of records meet in it.
func usualJournal() journalBounds {
	return journalBounds{gather: 8192, most: 32768, fold: 512, cut: 2048, lull: 5 * time.Second}
}

// A delta is what the journal says of a push: its counts as they are since.
type delta struct {
	views      int
	seq, minor uint32
	updated    int64 // milliseconds since 1970
}

func deltaOf(p store.Push) delta {
	return delta{views: p.Views, seq: p.Seq, minor: p.Minor, updated: p.UpdatedAt.UnixMilli()}
}

func (d delta) applyTo(p *store.Push) {
	p.Views, p.Seq, p.Minor, p.UpdatedAt = d.views, d.seq, d.minor, time.UnixMilli(d.updated).UTC()
}

// A pending is what the journal has of one push.
type pending struct {
	delta
	commit uint64   // that changed it last
	rows   []uint64 // its rows, oldest first; only ever appended to
	gone   bool     // the push was purged: what was there before is of no push any more
}

// A generation is what the journal has of pushes in rows that are folded together.
type generation struct {
	mu     sync.RWMutex
	pushes map[store.ID]pending
}

func newGeneration() *generation { return &generation{pushes: make(map[store.ID]pending)} }

func (g *generation) get(id store.ID) (pending, bool) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	p, ok := g.pushes[id]
	return p, ok
}

// add takes what a commit has of a push: rows behind those that are there, or that
// what is there is of no push any more.
func (g *generation) add(id store.ID, p pending) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !p.gone {
		before := g.pushes[id]
		p.rows, p.gone = append(before.rows, p.rows...), before.gone
	}
	g.pushes[id] = p
}

// generations are those that readers look into: rows go into the current one. The old
// one, if there is one, is being folded, or is folded and its rows are being cut off.
type generations struct{ current, old *generation }

// A journal knows what is in the bucket of that name. What is not for everybody is
// guarded by DB.writing. Its numbers of rows stand in a line:
//
//	first ≤ sealed ≤ next
//
// From first to sealed are the rows of the old generation, less those that were cut
// off already; from sealed to next those of the current one. Sealing moves sealed up
// to next, which it does only when first has come up to sealed; cutting moves first.
type journal struct {
	bounds              journalBounds
	commits             atomic.Uint64               // so far; a number for each, that readers compare
	gens                atomic.Pointer[generations] // for everybody
	first, sealed, next uint64
	fold                []store.ID // of the old generation: what is still to be folded, in order
	pause               int        // commits for which it is left alone, as there was no room
	stuck               bool       // folding met damage: what has gathered stays, and counts
	awake               bool       // there was an operation since the file was opened

	waiting atomic.Int64 // rows, for everybody
}

// tell tells everybody how many rows there are.
func (j *journal) tell() { j.waiting.Store(int64(j.next - j.first)) }

func newJournal() *journal {
	j := &journal{bounds: usualJournal()}
	j.gens.Store(&generations{current: newGeneration()})
	return j
}

// empty reports whether there is nothing to work on.
func (j *journal) empty() bool { return j.stuck || j.first == j.next }

// publish makes a commit known, and what it put into the journal.
func (j *journal) publish(t *tx) {
	commit, g := j.commits.Load()+1, j.gens.Load()
	for id, p := range t.local {
		p.commit = commit
		g.current.add(id, p)
		if p.gone && g.old != nil {
			g.old.add(id, pending{commit: commit, gone: true})
		}
	}
	j.next = t.nextRow
	j.tell()
	j.commits.Store(commit)
}

// An overlay is what the journal says beside the rows that one transaction finds.
type overlay struct {
	generations
	local   map[store.ID]pending // what the transaction itself has put there
	commits uint64               // that the transaction sees for certain
}

// overlay is for a reader, who begins the transaction after it.
func (j *journal) overlay() overlay {
	commits := j.commits.Load()
	return overlay{generations: *j.gens.Load(), commits: commits}
}

// writing is for the committer, whom nothing overtakes.
func (j *journal) writing(local map[store.ID]pending) overlay {
	return overlay{generations: *j.gens.Load(), local: local, commits: math.MaxUint64}
}

// of returns what there is of a push, oldest first, in found. It returns errStale where
// a commit changed that which the transaction may or may not see.
func (o *overlay) of(id store.ID) (found [3]pending, n int, err error) {
	take := func(p pending) {
		if p.gone {
			n = 0
		}
		if len(p.rows) > 0 {
			found[n], n = p, n+1
		}
	}
	for _, g := range [...]*generation{o.old, o.current} {
		if g == nil {
			continue
		}
		p, ok := g.get(id)
		if ok && p.commit > o.commits {
			return found, 0, errStale
		}
		take(p)
	}
	take(o.local[id])
	return found, n, nil
}

// A journalRow is a row of the journal: the counts of a push from then on, and the
// audit entry that made them so.
type journalRow struct {
	id store.ID
	delta
	entry []byte // as it is in the audit log
}

// number is what the entry has in the audit log.
func (r *journalRow) number() uint32 { return r.seq - 1 }

const journalVersion = 1

// AppendBinary appends the row to b.
func (r *journalRow) AppendBinary(b []byte) ([]byte, error) {
	b = append(append(b, journalVersion), r.id[:]...)
	for _, n := range [...]uint64{uint64(r.views), uint64(r.seq), uint64(r.minor)} {
		b = binary.AppendUvarint(b, n)
	}
	return append(binary.AppendVarint(b, r.updated), r.entry...), nil
}

// UnmarshalBinary reads a row, whose entry shares memory with b.
func (r *journalRow) UnmarshalBinary(b []byte) error {
	if len(b) <= 1+idLen || b[0] != journalVersion {
		return errJournalRow
	}
	r.id, b = store.ID(b[1:1+idLen]), b[1+idLen:]
	var counts [3]uint64
	for i := range counts {
		v, n := binary.Uvarint(b)
		if n <= 0 || v > math.MaxUint32 {
			return errJournalRow
		}
		counts[i], b = v, b[n:]
	}
	updated, n := binary.Varint(b)
	if n <= 0 || counts[1] == 0 {
		return errJournalRow
	}
	r.delta = delta{views: int(counts[0]), seq: uint32(counts[1]), minor: uint32(counts[2]), updated: updated}
	r.entry = b[n:]
	return nil
}

// mostNumbers is how far apart the numbers of two rows can be, generously: beyond it
// one of them is damaged.
const mostNumbers = 1 << 20

// readJournal reads the rows of the bucket, whose order says which counts are the last.
func (t *tx) readJournal() (g *generation, first, next uint64, err error) {
	g = newGeneration()
	c := t.cursor(journalRows)
	for k, v := c.First(); k != nil; k, v = c.Next() {
		n, err := number(journalRows, k)
		if err != nil {
			return nil, 0, 0, err
		}
		var r journalRow
		if err := decode(&r, journalRows, v); err != nil {
			return nil, 0, 0, err
		}
		if len(g.pushes) == 0 {
			first, next = n, n
		}
		if n < next || n-first > mostNumbers || r.seq <= g.pushes[r.id].seq {
			return nil, 0, 0, fmt.Errorf("%w: %s: rows are not in order", store.ErrCorrupt, journalRows)
		}
		g.add(r.id, pending{delta: r.delta, rows: []uint64{n}})
		next = n + 1
	}
	return g, first, next, nil
}

// load has the journal know what a file holds that was just opened. It is folded first,
// but not before there is an operation, or a lull: opening alone writes nothing.
func (j *journal) load(t *tx) error {
	g, first, next, err := t.readJournal()
	if err != nil {
		return err
	}
	j.gens.Store(&generations{current: g})
	j.first, j.sealed, j.next = first, first, next
	j.tell()
	if first < next {
		j.seal()
	}
	return nil
}
