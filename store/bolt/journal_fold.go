package bolt

import (
	"bytes"
	"errors"
	"maps"
	"runtime/debug"
	"slices"
	"time"

	"pushbox/store"
)

var (
	errJournalRow = errors.New("malformed row")
	// errStale has a reader begin again.
	errStale = errors.New("a commit came between")
)

// pausedCommits is how long the journal is left alone after there was no room for
// its work.
const pausedCommits = 64

// journalWork is what one commit does for the journal beside the operations that
// it is for: it folds some pushes, and where those are the last of their generation, or
// none is left, cuts off rows.
type journalWork struct {
	op
	folds []store.ID
	cuts  uint64 // the first row that stays
}

// work is what a commit with so many operations is to do, which is more where more
// comes in. Nil stands for nothing. A commit without any has time to fold what has
// gathered, however little that is.
func (j *journal) work(operations int) *journalWork {
	gathered := j.next - j.sealed
	j.awake = true
	if j.first == j.sealed && gathered > 0 && (operations == 0 || gathered >= j.bounds.gather) {
		j.seal()
	}
	switch {
	case j.stuck || j.first == j.sealed:
		return nil
	case j.pause > 0:
		j.pause--
		return nil
	default:
		return j.part(max(j.bounds.fold, 2*operations), max(j.bounds.cut, 4*operations))
	}
}

func (db *DB) workOnJournal() *journalWork {
	db.writing.Lock()
	defer db.writing.Unlock()
	return db.journal.work(len(db.batch))
}

func (db *DB) workedOnJournal(w *journalWork) {
	db.writing.Lock()
	defer db.writing.Unlock()
	db.journal.worked(w)
}

// patience is how long the committer waits for an operation before it does what there
// is to do without one; 0 where there is nothing.
func (db *DB) patience() time.Duration {
	db.writing.Lock()
	defer db.writing.Unlock()
	wait := db.journal.wait()
	if wait == 0 && db.stirred {
		return db.journal.bounds.lull
	}
	return wait
}

// rest lets go of memory when nobody asks for anything: of the mapping, as what was read
// of it counts as memory of the process and is there again at once where it is wanted,
// and of what the collector keeps for allocations to come.
func (db *DB) rest() {
	db.letGo()
	debug.FreeOSMemory()
}

func (db *DB) letGo() {
	db.writing.Lock()
	defer db.writing.Unlock()
	db.stirred = false
	db.current.Load().letGo()
}

// seal has the rows so far folded, and others gather anew.
func (j *journal) seal() {
	g := j.gens.Load().current
	j.fold = slices.SortedFunc(maps.Keys(g.pushes), func(a, b store.ID) int { return bytes.Compare(a[:], b[:]) })
	j.sealed = j.next
	j.gens.Store(&generations{current: newGeneration(), old: g})
}

// part is the next part of the work on the old generation: so many rows or a few more
// to fold, and so many to cut off. What lies side by side shares pages, so pushes go by
// their order. Where there is no room, it is given up before any view is.
func (j *journal) part(fold, cut int) *journalWork {
	g, n := j.gens.Load().old, 0
	for rows := 0; n < len(j.fold) && rows < fold; n++ {
		rows += len(g.pushes[j.fold[n]].rows)
	}
	w := &journalWork{folds: j.fold[:n], cuts: j.first}
	if n == len(j.fold) {
		w.cuts = min(j.sealed, j.first+uint64(cut))
	}
	w.run = func(t *tx) error {
		for _, id := range w.folds {
			if err := t.fold(id, g.pushes[id]); err != nil {
				return err
			}
		}
		return t.cutJournal(j.first, w.cuts)
	}
	w.bytes, w.done = 1, make(chan struct{}, 1)
	w.state.Store(opBegun)
	return w
}

// cutJournal cuts rows off the journal, up to one that stays.
func (t *tx) cutJournal(from, to uint64) error {
	for n := from; n < to; n++ {
		if err := t.delete(journalRows, uint64Key(n)); err != nil {
			return err
		}
	}
	return nil
}

// worked takes note of what became of a work whose commit has been answered.
func (j *journal) worked(w *journalWork) {
	switch {
	case errors.Is(w.err, store.ErrFull):
		j.pause = pausedCommits
	case w.err != nil:
		j.stuck = true
	default:
		j.fold, j.first = j.fold[len(w.folds):], w.cuts
		j.tell()
		if j.first == j.sealed {
			j.gens.Store(&generations{current: j.gens.Load().current})
		}
	}
}

// wait is how long the committer waits for an operation before it works on the
// journal; 0 where there is nothing to work on.
func (j *journal) wait() time.Duration {
	switch {
	case j.empty():
		return 0
	case j.awake && j.first < j.sealed && j.pause == 0:
		return time.Millisecond
	default:
		return j.bounds.lull
	}
}

// fold puts what the journal has of a push where it belongs. It looks at pages before
// it reads them: one that is damaged must not end the store for a push that nobody
// asks for.
func (t *tx) fold(id store.ID, p pending) error {
	if err := errors.Join(t.inspect(pushes, id[:], false), t.inspect(audit, auditKey(id, p.seq), false)); err != nil {
		return err
	}
	record := t.get(pushes, id[:])
	if record == nil || len(p.rows) == 0 {
		return nil // it was purged
	}
	old := store.Push{ID: id}
	if err := decode(&old, pushes, record); err != nil {
		return err
	}
	if err := t.bringEntries(p.rows); err != nil || p.seq <= old.Seq {
		return err
	}
	next := old
	p.applyTo(&next)
	record, err := encode(t, next)
	if err != nil {
		return err
	}
	return t.putPush(&old, next, record)
}

// bring puts the audit entries of a push that are in the journal into its audit log,
// for an entry that follows them there.
func (t *tx) bring(id store.ID) error {
	found, n, err := t.over.of(id)
	if err != nil {
		return err
	}
	for _, p := range found[:n] {
		if err := t.bringEntries(p.rows); err != nil {
			return err
		}
	}
	return nil
}

// bringEntries puts the entries of rows into the audit log, the newest first, until it
// meets one that is there: then all before it are.
func (t *tx) bringEntries(rows []uint64) error {
	for _, n := range slices.Backward(rows) {
		r, ok, err := t.journalRow(n)
		if err != nil {
			return err
		}
		key := auditKey(r.id, r.number())
		if !ok || t.has(audit, key) {
			return nil
		}
		start := len(t.arena)
		t.arena = append(t.arena, r.entry...) // which is in a page that may change
		if err := t.put(audit, key, t.arena[start:len(t.arena):len(t.arena)]); err != nil {
			return err
		}
	}
	return nil
}

// journalRow returns a row of the journal, or false. Its entry belongs to the
// transaction.
func (t *tx) journalRow(n uint64) (r journalRow, ok bool, err error) {
	v := t.get(journalRows, uint64Key(n))
	if v == nil {
		return r, false, nil
	}
	return r, true, decode(&r, journalRows, v)
}

// forget takes what there is of a push that is purged out of the journal.
func (t *tx) forget(id store.ID) error {
	found, n, err := t.over.of(id)
	if err != nil || n == 0 {
		return err
	}
	for _, p := range found[:n] {
		for _, row := range p.rows {
			if err := t.delete(journalRows, uint64Key(row)); err != nil {
				return err
			}
		}
	}
	t.keep(id, pending{gone: true})
	return nil
}

// note puts a change of a push into the journal.
func (t *tx) note(next store.Push, e store.Entry) error {
	entry, err := encode(t, e)
	if err != nil {
		return err
	}
	row, err := encode(t, &journalRow{id: next.ID, delta: deltaOf(next), entry: entry})
	if err != nil {
		return err
	}
	if err := t.put(journalRows, uint64Key(t.nextRow), row); err != nil {
		return err
	}
	p := t.local[next.ID]
	p.delta, p.rows = deltaOf(next), append(p.rows, t.nextRow)
	t.keep(next.ID, p)
	t.nextRow++
	return nil
}

// keep remembers what the journal has of a push once the transaction is committed.
func (t *tx) keep(id store.ID, p pending) {
	if t.local == nil {
		t.local = make(map[store.ID]pending)
		t.over.local = t.local
	}
	t.local[id] = p
}
