package bolt

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"pushbox/store/record"
)

// The journal takes the changes of a push that come most often: views, and the view, the
// delete or the expiry that ends it. They are appended to one bucket,
// side by side, however far apart their pushes lie, with the audit entry of each. An
// index in memory says which rows there are, and readers apply them to what they find.
// Later the rows are folded: written to their places, many at a time, and removed from
// the journal. What an end destroys, the payload and the key, goes with the fold, which
// therefore comes soon after an end.
//
// A row that was folded may still be in the journal, and folding it again changes
// nothing: it says what a push is, not what to add to it. So a crash at any moment leaves
// nothing to repair, and opening only reads the rows.

// journalBounds say when the journal is folded. They are numbers of rows, except idle
// and ends.
type journalBounds struct {
	gather uint64        // rows that make a generation
	most   uint64        // at which changes bypass the journal
	fold   int           // folded in a commit of few operations
	cut    int           // removed in a commit of few operations
	idle   time.Duration // time without an operation after which all rows are folded, however few
	ends   time.Duration // time after the end of a push, after which all rows are folded, however few
}

// usualJournal is small enough that a start reads it at once, and large enough that
// views of the same page of records meet in it.
func usualJournal() journalBounds {
	return journalBounds{gather: 8192, most: 32768, fold: 512, cut: 2048, idle: 5 * time.Second, ends: time.Second}
}

// A delta is what the journal has of a push: its counts after the last row, and whether
// it has ended. Times are in milliseconds since 1970; 0 means none.
type delta struct {
	views      int
	seq, minor uint32
	updated    int64
	state      record.State // 0: that of the record, with all that follows; rows of version 1 do not say more
	grants     int64        // when its last grant ends

	// Zero while the push is live.
	expired int64
	files   bool             // it still holds its files
	owner   record.AccountID // these two never change by the journal: its index rows need them
	expires int64
}

func deltaOf(p record.Push) delta {
	d := delta{
		views: p.Views, seq: p.Seq, minor: p.Minor, updated: stamp(p.UpdatedAt),
		state: p.State, grants: stamp(p.GrantsEnd),
	}
	if !p.Live() {
		d.expired, d.files, d.owner, d.expires = stamp(p.ExpiredAt), p.HoldsFiles(), p.Owner, stamp(p.ExpiresAt)
	}
	return d
}

// ended reports whether the journal says that the push has ended.
func (d delta) ended() bool { return d.state > record.Live }

// endOf returns what d says of the end of the push, and not of its counts.
func (d delta) endOf() delta {
	d.views, d.seq, d.minor, d.updated = 0, 0, 0, 0
	return d
}

// follows reports whether d is a later state of a push than one with seq entries that is
// live, or not. An end need not have an entry.
func (d delta) follows(seq uint32, live bool) bool {
	return d.seq > seq || d.seq == seq && d.ended() && live
}

// applyTo makes p what the journal says it is.
func (d delta) applyTo(p *record.Push) {
	p.Views, p.Seq, p.Minor, p.UpdatedAt = d.views, d.seq, d.minor, timeOf(d.updated)
	if d.state == 0 {
		return
	}
	p.State, p.GrantsEnd = d.state, timeOf(d.grants)
	if !d.ended() {
		return
	}
	p.ExpiredAt, p.Wrap, p.Link, p.WrappedKey = timeOf(d.expired), nil, nil, nil
	if !d.files {
		p.Files, p.Stored = nil, 0
	}
}

// indexed returns a push that has the index rows of the ended push.
func (d delta) indexed(id record.ID) record.Push {
	p := record.Push{ID: id, State: d.state, Owner: d.owner, ExpiresAt: timeOf(d.expires), ExpiredAt: timeOf(d.expired), GrantsEnd: timeOf(d.grants)}
	if d.files {
		p.Files = []byte{}
	}
	return p
}

// stamp is t in milliseconds; 0 for the zero time.
func stamp(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func timeOf(stamp int64) time.Time {
	if stamp == 0 {
		return time.Time{}
	}
	return time.UnixMilli(stamp).UTC()
}

// A pending is the unfolded rows of one push.
type pending struct {
	delta
	commit uint64   // the number of the commit that changed it last
	rows   []uint64 // the numbers of its rows, oldest first; append-only
	gone   bool     // the push was purged, or written to its places, and all rows before with it
}

// firstRow is the number of the oldest row; 0 if there is none.
func (p pending) firstRow() uint64 {
	if len(p.rows) == 0 {
		return 0
	}
	return p.rows[0]
}

// A generation is what the journal has of pushes in rows that are folded together.
type generation struct {
	mu     sync.RWMutex
	pushes map[record.ID]pending
	ends   []endedPush // append-only
}

func newGeneration() *generation { return &generation{pushes: make(map[record.ID]pending)} }

func (g *generation) get(id record.ID) (pending, bool) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	p, ok := g.pushes[id]
	return p, ok
}

// add adds what a commit has of a push: rows behind those that are there, or that they
// are gone. It reports whether the push has ended by it.
func (g *generation) add(id record.ID, p pending) (ended bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	before := g.pushes[id]
	ended = p.ended() && (p.gone || !before.ended())
	if !p.gone {
		p.rows, p.gone = append(before.rows, p.rows...), before.gone
	}
	g.pushes[id] = p
	if ended {
		g.ends = append(g.ends, newEnded(id, p.delta))
	}
	return ended
}

// generations are the two that readers look into. Rows go into the current one. The old
// one, if there is one, is being folded, or its rows are being removed.
type generations struct{ current, old *generation }

// A journal knows what is in the bucket of that name. Readers use gens, commits and
// waiting; DB.writing guards the rest. The numbers of rows are in this order:
//
//	first ≤ sealed ≤ next
//
// From first to sealed are the rows of the old generation that have not been removed
// yet; from sealed to next those of the current one. Sealing moves sealed up to next,
// and only happens when first has reached sealed; removing rows moves first.
type journal struct {
	bounds              journalBounds
	commits             atomic.Uint64               // the number of the last commit, which readers compare
	gens                atomic.Pointer[generations] // for readers
	first, sealed, next uint64
	fold                []record.ID        // pushes of the old generation that still have to be folded, in order
	byRow               bool               // they are in order of their rows, not of their IDs
	aside               map[record.ID]bool // pushes whose places are damaged: their rows stay in the journal until the next start
	paused              time.Time          // until when commits leave it alone, as the disk was full
	part                int                // pushes to fold at a time while it is unknown which one is damaged, or the disk is full; 0: as many as usual
	stuck               bool               // the journal itself is damaged, or too much else: its rows stay, and count
	used                bool               // there was an operation since the file was opened
	endsDue             time.Time          // when rows of a push that has ended must be folded; zero: there are none, or they are

	waiting atomic.Int64 // number of rows, for readers
}

// countWaiting publishes how many rows there are.
func (j *journal) countWaiting() { j.waiting.Store(int64(j.next - j.first)) }

func newJournal() *journal {
	j := &journal{bounds: usualJournal(), aside: make(map[record.ID]bool)}
	j.gens.Store(&generations{current: newGeneration()})
	return j
}

// empty reports whether there is nothing to fold or remove.
func (j *journal) empty() bool { return j.stuck || j.first == j.sealed && j.gathered() == 0 }

// gathered returns how many rows the next generation would have, without those that
// cannot be folded.
func (j *journal) gathered() uint64 {
	n := j.next - j.sealed
	for id := range j.aside {
		if p, ok := j.gens.Load().current.get(id); ok {
			n -= uint64(len(p.rows))
		}
	}
	return n
}

// hurry has rows folded soon, since one of them belongs to a push that has ended.
func (j *journal) hurry() {
	if j.endsDue.IsZero() {
		j.endsDue = time.Now().Add(j.bounds.ends)
	}
}

// publish shows readers a commit, and what it added to the journal.
func (j *journal) publish(t *tx) {
	commit, g := j.commits.Load()+1, j.gens.Load()
	for id, p := range t.local {
		p.commit = commit
		if g.current.add(id, p) && !j.aside[id] {
			j.hurry()
		}
		if p.gone && g.old != nil {
			g.old.add(id, pending{commit: commit, gone: true})
		}
	}
	j.next = t.nextRow
	j.countWaiting()
	j.commits.Store(commit)
}

// An overlay is the journal rows that a reader must add to what its transaction reads.
type overlay struct {
	generations
	local   map[record.ID]pending // what the transaction itself has added
	commits uint64                // every commit up to this one is visible to the transaction
}

// overlay is for a reader. It must be called before the transaction begins.
func (j *journal) overlay() overlay {
	commits := j.commits.Load()
	return overlay{generations: *j.gens.Load(), commits: commits}
}

// latest is for a transaction that sees every commit, as the committer's, or that may see
// less than the overlay.
func (j *journal) latest(local map[record.ID]pending) overlay {
	return overlay{generations: *j.gens.Load(), local: local, commits: math.MaxUint64}
}

// of returns what the journal has of a push, oldest first, in found[:n]. It returns
// errStale if the transaction may or may not see a commit that changed the push.
func (o *overlay) of(id record.ID) (found [3]pending, n int, err error) {
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

// maxNumberGap is more than the numbers of two rows can differ by: beyond it one of
// them is damaged.
const maxNumberGap = 1 << 20

// readJournal reads the rows of the bucket. Their order says which is the latest of a
// push.
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
		if before := g.pushes[r.id]; n < next || n-first > maxNumberGap || !r.follows(before.seq, !before.ended()) {
			return nil, 0, 0, fmt.Errorf("%w: %s: rows are not in order", record.ErrCorrupt, journalRows)
		}
		g.add(r.id, pending{delta: r.delta, rows: []uint64{n}})
		next = n + 1
	}
	return g, first, next, nil
}

// load reads the journal of a file that was just opened. Its rows will be folded first,
// but not before there is an operation, or it is time: opening alone writes nothing.
func (j *journal) load(t *tx) error {
	g, first, next, err := t.readJournal()
	if err != nil {
		return err
	}
	j.gens.Store(&generations{current: g})
	j.first, j.sealed, j.next = first, first, next
	j.countWaiting()
	if first < next {
		j.seal()
	}
	if len(g.ends) > 0 {
		j.hurry()
	}
	return nil
}
