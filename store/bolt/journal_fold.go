package bolt

import (
	"bytes"
	"errors"
	"maps"
	"runtime/debug"
	"slices"
	"time"

	"pushbox/store/record"
)

var (
	errJournalRow = errors.New("malformed row")
	// errStale makes a reader begin again.
	errStale = errors.New("a commit came between")
)

// maxAside is how many pushes may be damaged before folding stops.
const maxAside = 1000

// A journalWork is what one commit does for the journal beside its operations: it folds
// some pushes and, once all pushes of a generation are folded, removes rows.
type journalWork struct {
	op
	folds []record.ID
	cuts  uint64 // the first row that stays
}

// nextWork returns the work for a commit with that many operations; nil for none. The
// more operations come in, the more work: else the journal would grow. A commit without
// operations folds whatever has gathered.
func (j *journal) nextWork(operations int) *journalWork {
	gathered := j.gathered()
	due := operations == 0 || gathered >= j.bounds.gather || !j.endsDue.IsZero() && !time.Now().Before(j.endsDue)
	j.used = true
	if j.first == j.sealed && gathered > 0 && due {
		j.seal()
	}
	switch {
	case j.stuck || j.first == j.sealed:
		return nil
	case operations > 0 && j.isPaused():
		return nil
	default:
		return j.nextPart(max(j.bounds.fold, 2*operations), max(j.bounds.cut, 4*operations))
	}
}

func (db *DB) nextJournalWork() *journalWork {
	db.writing.Lock()
	defer db.writing.Unlock()
	return db.journal.nextWork(len(db.batch))
}

func (db *DB) journalWorkDone(w *journalWork) {
	db.writing.Lock()
	defer db.writing.Unlock()
	db.journal.done(w)
}

// idleWait is how long the committer waits for an operation before it works on its own;
// 0 where it has nothing to do.
func (db *DB) idleWait() time.Duration {
	db.writing.Lock()
	defer db.writing.Unlock()
	wait := db.journal.idleWait()
	if wait == 0 && db.mappingUsed {
		return db.journal.bounds.idle
	}
	return wait
}

// releaseMemory gives memory back to the system while no operation comes: that of the
// mapping, whose pages count as memory of the process and come back from the page cache
// at once; and that which Go's collector keeps for later.
func (db *DB) releaseMemory() {
	db.releaseMapping()
	debug.FreeOSMemory()
}

func (db *DB) releaseMapping() {
	db.writing.Lock()
	defer db.writing.Unlock()
	db.mappingUsed = false
	db.current.Load().releaseMapping()
}

// seal makes the current generation the old one, and begins a new one.
func (j *journal) seal() {
	g := j.gens.Load().current
	j.fold = slices.SortedFunc(maps.Keys(g.pushes), func(a, b record.ID) int { return bytes.Compare(a[:], b[:]) })
	j.sealed, j.endsDue = j.next, time.Time{}
	j.gens.Store(&generations{current: newGeneration(), old: g})
}

// nextPart returns the next part of the work on the old generation: about fold rows to
// fold, and cut rows to remove. Pushes go in order of their IDs, since neighbours share
// pages. Where the disk is full, this work is refused before any view is.
func (j *journal) nextPart(fold, cut int) *journalWork {
	g, n := j.gens.Load().old, 0
	if j.part > 0 {
		cut = min(cut, j.part)
	}
	for rows := 0; n < len(j.fold) && rows < fold && (j.part == 0 || n < j.part); n++ {
		rows += len(g.pushes[j.fold[n]].rows)
	}
	w := &journalWork{folds: j.fold[:n], cuts: j.first}
	if n == len(j.fold) {
		w.cuts = min(j.sealed, j.first+uint64(cut))
	}
	w.run = func(t *tx) (err error) {
		for _, id := range w.folds {
			if j.aside[id] {
				err = t.carry(id)
			} else {
				err = t.fold(id, g.pushes[id])
			}
			if err != nil {
				return err
			}
		}
		return t.cutJournal(j.first, w.cuts)
	}
	w.bytes, w.done = 1, make(chan struct{}, 1)
	w.state.Store(opBegun)
	return w
}

// cutJournal removes the rows from from to to, exclusive.
func (t *tx) cutJournal(from, to uint64) error {
	for n := from; n < to; n++ {
		if err := t.delete(journalRows, uint64Key(n)); err != nil {
			return err
		}
	}
	return nil
}

// done takes the outcome of a work whose commit has been answered.
func (j *journal) done(w *journalWork) {
	switch {
	case errors.Is(w.err, record.ErrFull) && j.halve(max(len(w.folds), int(w.cuts-j.first))):
	case errors.Is(w.err, record.ErrFull):
		j.paused = time.Now().Add(j.bounds.idle)
	case errors.Is(w.err, record.ErrCorrupt) && j.narrow(w.folds):
	case w.err != nil:
		j.stuck = true
	default:
		j.fold, j.first, j.part = j.fold[len(w.folds):], w.cuts, j.part*2
		if j.part > j.bounds.cut {
			j.part = 0
		}
		j.countWaiting()
		if j.first == j.sealed {
			j.gens.Store(&generations{current: j.gens.Load().current})
		}
	}
}

// narrow continues after a fold met damage: with half of its pushes, until it is one, which
// is set aside. So one damaged or forged row does not keep what other pushes' ends destroy.
// It reports false where the journal itself is damaged, or too many pushes are.
func (j *journal) narrow(folds []record.ID) bool {
	switch {
	case j.halve(len(folds)):
	case len(folds) == 0 || j.aside[folds[0]] || len(j.aside) == maxAside:
		return false
	default:
		j.aside[folds[0]], j.part = true, 0
	}
	return true
}

// halve has the next works take half of what one took that failed. It reports false where that
// was one push, or one row.
func (j *journal) halve(took int) bool {
	j.part = max(1, took/2)
	return took > 1
}

// isPaused reports whether a work failed only just for lack of space, although it was as small as
// can be.
func (j *journal) isPaused() bool { return time.Now().Before(j.paused) }

// idleWait is how long the committer waits for an operation before it works on the
// journal; 0 where there is no work.
func (j *journal) idleWait() time.Duration {
	switch {
	case j.empty():
		return 0
	case j.used && j.first < j.sealed && !j.isPaused():
		return time.Millisecond
	case !j.endsDue.IsZero() && !j.isPaused():
		return max(time.Millisecond, time.Until(j.endsDue))
	default:
		return j.bounds.idle
	}
}

// hasEnds reports whether a push that has ended may not be folded yet.
func (j *journal) hasEnds() bool {
	old := j.gens.Load().old
	return !j.stuck && (!j.endsDue.IsZero() || old != nil && len(old.ends) > 0)
}

// foldEnds folds all of the journal, if a push in it has ended: a file that was closed
// has nothing of such a push. If the disk is full, the next one to open the file has to.
func (db *DB) foldEnds() {
	for db.journal.hasEnds() {
		w := db.nextJournalWork()
		if w == nil || !db.commit(append(db.batch[:0], &w.op)) {
			return
		}
		<-w.done
		if db.journalWorkDone(w); w.err != nil && !errors.Is(w.err, record.ErrCorrupt) {
			return
		}
	}
}

// fold writes what the journal has of a push to its places. It verifies pages before it
// reads them: a damaged page must not end the store for a push that may never be asked
// for.
func (t *tx) fold(id record.ID, p pending) error {
	if len(p.rows) == 0 || t.local[id].gone {
		return nil
	}
	if err := t.verifyPlaces(id, p.delta); err != nil {
		return err
	}
	old, err := t.inPlace(id)
	if errors.Is(err, record.ErrNotFound) {
		return nil // it was purged
	}
	if err != nil || !p.follows(old.Seq, old.Live()) {
		return err // or it was folded before
	}
	if err := t.foldRows(p.rows, old.Seq); err != nil {
		return err
	}
	next := old
	p.applyTo(&next)
	raw, err := encode(t, next)
	if err != nil {
		return err
	}
	return t.putPush(&old, next, raw)
}

// verifyPlaces verifies the pages that a fold reads.
func (t *tx) verifyPlaces(id record.ID, d delta) error {
	if err := t.verify(pushes, id[:], false); err != nil {
		return err
	}
	if d.ended() {
		if err := t.verify(payloads, id[:], true); err != nil {
			return err
		}
	}
	return t.verify(audit, auditKey(id, d.seq), false)
}

// foldEntries writes the audit entries of a push that are in the journal to its audit
// log, for an entry that follows them there. The push is as its record says.
func (t *tx) foldEntries(stored record.Push) error {
	found, n, err := t.overlay.of(stored.ID)
	if err != nil {
		return err
	}
	for _, p := range found[:n] {
		if err := t.foldRows(p.rows, stored.Seq); err != nil {
			return err
		}
	}
	return nil
}

// foldRows writes the entries of rows to the audit log, the newest first, down to a
// number. Those before it are there: they came with the record that counts them.
func (t *tx) foldRows(rows []uint64, from uint32) error {
	for _, n := range slices.Backward(rows) {
		r, ok, err := t.journalRow(n)
		if err != nil {
			return err
		}
		switch {
		case ok && len(r.entry) == 0:
			continue
		case !ok || r.number() < from:
			return nil
		}
		if err := t.add(audit, auditKey(r.id, r.number()), r.entry); err != nil {
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
	err = decode(&r, journalRows, v)
	return r, true, err
}

// forget removes the rows of a push from the journal: it is purged, or all that they say
// is in its places.
func (t *tx) forget(id record.ID) error {
	found, n, err := t.overlay.of(id)
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
	t.setPending(id, pending{gone: true})
	return nil
}

// carry moves the rows of a push that cannot be folded to the end of the journal, where they
// are out of the way of the generation that ends.
func (t *tx) carry(id record.ID) error {
	found, n, err := t.overlay.of(id)
	if err != nil || n == 0 {
		return err
	}
	moved := pending{delta: found[n-1].delta, gone: true}
	for _, p := range found[:n] {
		for _, number := range p.rows {
			r, ok, err := t.journalRow(number)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			row, err := encode(t, &r)
			if err == nil {
				err = errors.Join(t.add(journalRows, uint64Key(t.nextRow), row), t.delete(journalRows, uint64Key(number)))
			}
			if err != nil {
				return err
			}
			moved.rows = append(moved.rows, t.nextRow)
			t.nextRow++
		}
	}
	t.setPending(id, moved)
	return nil
}

// addToJournal adds a change of a push to the journal, with its audit entry if it has
// one.
func (t *tx) addToJournal(old, next record.Push, e record.Entry) (err error) {
	var entry []byte
	if next.Seq != old.Seq {
		entry, err = encode(t, e)
		if err != nil {
			return err
		}
	}
	row, err := encode(t, &journalRow{id: next.ID, delta: deltaOf(next), entry: entry})
	if err != nil {
		return err
	}
	if err := t.add(journalRows, uint64Key(t.nextRow), row); err != nil {
		return err
	}
	p := t.local[next.ID]
	p.delta, p.rows = deltaOf(next), append(p.rows, t.nextRow)
	t.setPending(next.ID, p)
	t.nextRow++
	return nil
}

// setPending records what the journal has of a push once the transaction is committed.
func (t *tx) setPending(id record.ID, p pending) {
	if t.local == nil {
		t.local = make(map[record.ID]pending)
		t.overlay.local = t.local
	}
	t.local[id] = p
}
