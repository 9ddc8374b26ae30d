package bolt

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"pushbox/store/record"
)

// The journal has the most frequent changes of a push: views, and the view, delete or expiry that
// ends it. They are appended side by side to one bucket, with their audit entries, however far
// apart their pushes lie. An index in memory says which rows there are, and readers apply them to
// the records that they read. Later the rows are folded: written to their places, many at a time,
// and removed from the journal. The fold also destroys the payload and the key of an ended push,
// and therefore follows an end soon.
//
// A row that was folded may still be in the journal, and folding it again changes nothing: it has
// the state of a push, not a difference. So a crash at any moment leaves nothing to repair, and
// opening only reads the rows.

// journalBounds say when the journal is folded. They are numbers of rows, except idle
// and ends.
type journalBounds struct {
	gather uint64        // rows that make a generation
	most   uint64        // from which on changes bypass the journal
	fold   int           // folded in a commit of few operations
	cut    int           // removed in a commit of few operations
	idle   time.Duration // time without an operation after which all rows are folded
	ends   time.Duration // time after the end of a push after which all rows are folded
}

// usualJournal is small enough that a start can read it fast, and large enough to gather several
// views of the same page of records.
func usualJournal() journalBounds {
	return journalBounds{gather: 8192, most: 32768, fold: 16, cut: 64, idle: 5 * time.Second, ends: time.Second}
}

// A delta is the state of a push in the journal: its counts after the last row, and whether it has
// ended. Times are in milliseconds since 1970; 0 means none.
type delta struct {
	views      int
	seq, minor uint32
	updated    int64
	state      record.State // 0: the state of the record applies, also for the fields below; rows of version 1 have only counts
	grants     int64        // when its last grant ends

	// Zero while the push is live:
	expired int64
	files   bool             // it still holds its files
	owner   record.AccountID // the journal never changes these two; its index rows need them
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

// endOf returns the fields of d about the end of the push, without its counts.
func (d delta) endOf() delta {
	d.views, d.seq, d.minor, d.updated = 0, 0, 0, 0
	return d
}

// follows reports whether d is later than a state of the push with seq entries, live or not. An end
// need not have an entry.
func (d delta) follows(seq uint32, live bool) bool {
	return d.seq > seq || d.seq == seq && d.ended() && live
}

// applyTo applies the journal's state to p.
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

// A pending has the unfolded rows of a push.
type pending struct {
	delta
	commit uint64   // the number of the commit that changed it last
	rows   []uint64 // the numbers of its rows, oldest first; append-only
	gone   bool     // the push was purged or folded, with all rows before
}

// firstRow is the number of the oldest row; 0 if there is none.
func (p pending) firstRow() uint64 {
	if len(p.rows) == 0 {
		return 0
	}
	return p.rows[0]
}

// A generation has the pushes whose rows are folded together.
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

// add adds a commit's change of a push: further rows, or that its rows are gone. It reports whether
// the commit ended the push.
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

// generations are the two generations that readers use. Rows go into the current one. The old one,
// if there is one, is being folded, or its rows are being removed.
type generations struct{ current, old *generation }

// A journal knows the rows in the bucket journal. Readers use gens, commits and waiting; DB.writing
// guards the rest. The numbers of rows are in this order:
//
//	first ≤ sealed ≤ next
//
// From first to sealed are the rows of the old generation that have not been removed yet; from
// sealed to next are those of the current one. Sealing moves sealed to next, and only when first
// has reached sealed; removing rows moves first.
type journal struct {
	bounds              journalBounds
	commits             atomic.Uint64               // the number of the last commit, which readers compare
	gens                atomic.Pointer[generations] // for readers
	first, sealed, next uint64
	fold                []record.ID        // pushes of the old generation that still have to be folded, in order
	byRow               bool               // folding is in the order of rows, not of IDs
	aside               map[record.ID]bool // pushes whose places are damaged: their rows stay in the journal until the next start
	paused              time.Time          // until when commits do no journal work, because the disk was full
	part                int                // pushes to fold at a time while a damaged one is searched, or the disk is full; 0: the usual number
	stuck               bool               // the journal or too many pushes are damaged: its rows stay, and count
	used                bool               // there was an operation since the file was opened
	endsDue             time.Time          // when rows of an ended push must be folded; zero: none wait

	waiting atomic.Int64 // number of rows, for readers
}

// countWaiting publishes the number of rows.
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

// hurry schedules a fold soon, since a push has ended.
func (j *journal) hurry() {
	if j.endsDue.IsZero() {
		j.endsDue = time.Now().Add(j.bounds.ends)
	}
}

// publish shows readers a commit and its additions to the journal.
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
	local   map[record.ID]pending // rows that the transaction itself has added
	commits uint64                // every commit up to this one is visible to the transaction
}

// overlay returns the overlay for a reader, which must call it before the transaction begins.
func (j *journal) overlay() overlay {
	commits := j.commits.Load()
	return overlay{generations: *j.gens.Load(), commits: commits}
}

// latest returns the overlay for a transaction that sees every commit, like the committer's, or
// that may see fewer commits than the overlay.
func (j *journal) latest(local map[record.ID]pending) overlay {
	return overlay{generations: *j.gens.Load(), local: local, commits: math.MaxUint64}
}

// of returns the states of a push in the journal, oldest first, in found[:n]. It returns errStale
// if the transaction may or may not see a commit that changed the push.
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

// maxNumberGap bounds the difference of two row numbers: if it is larger, one of them is damaged.
const maxNumberGap = 1 << 20

// readJournal reads the rows of the bucket. The last row of a push has its latest state.
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

// load reads the journal of a file that was just opened. Its rows will be folded first, but only
// after an operation or when it is time: opening alone writes nothing.
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
