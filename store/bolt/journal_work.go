package bolt

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"runtime/debug"
	"slices"
	"time"

	"pushbox/store/record"
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
	j.sealed, j.endsDue, j.byRow = j.next, time.Time{}, false
	j.gens.Store(&generations{current: newGeneration(), old: g})
}

// nextPart returns the next part of the work on the old generation: about fold rows to
// fold, and cut rows to remove. Pushes go in order of their IDs, since neighbours share
// pages. Where the disk is full, this work is refused before any view is; and then pushes go in
// order of their rows, which are removed at once: else all would have to fit twice.
func (j *journal) nextPart(fold, cut int) *journalWork {
	g, n := j.gens.Load().old, 0
	if j.part > 0 {
		j.sortByRow(g)
		cut = min(cut, j.part)
	}
	for rows := 0; n < len(j.fold) && rows < fold && (j.part == 0 || n < j.part); n++ {
		rows += len(g.pushes[j.fold[n]].rows)
	}
	w := &journalWork{folds: j.fold[:n], cuts: j.first}
	switch {
	case n == len(j.fold):
		w.cuts = min(j.sealed, j.first+uint64(cut))
	case j.part > 0:
		w.cuts = max(j.first, min(g.pushes[j.fold[n]].firstRow(), j.first+uint64(cut)))
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

// sortByRow puts the pushes that still have to be folded in order of their first rows.
func (j *journal) sortByRow(g *generation) {
	if !j.byRow {
		slices.SortFunc(j.fold, func(a, b record.ID) int { return cmp.Compare(g.pushes[a].firstRow(), g.pushes[b].firstRow()) })
		j.byRow = true
	}
}

// done takes the outcome of a work whose commit has been answered.
func (j *journal) done(w *journalWork) {
	switch {
	case errors.Is(w.err, record.ErrFull) && j.halve(max(len(w.folds), int(w.cuts-j.first))):
	case errors.Is(w.err, record.ErrFull):
		j.paused = time.Now().Add(min(j.bounds.idle, j.bounds.ends)) // what has ended is destroyed soon after there is space
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
