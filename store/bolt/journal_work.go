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

// A journalWork is the part of a commit that folds some pushes of the journal and, once all pushes
// of a generation are folded, removes rows.
type journalWork struct {
	op
	folds []record.ID
	cuts  uint64 // the first row to keep
}

// quietOperations has a commit without operations do as much as one with that many. An operation that
// arrives meanwhile has to wait for it.
const quietOperations = 64

// nextWork returns the work for a commit with that many operations; nil for none. The work grows
// with the number of operations: so the journal does not grow, and no commit takes twice as long
// for it. Commits without operations fold all rows that have gathered.
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
		if operations == 0 {
			operations = quietOperations
		}
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

// idleWait is how long the committer waits for an operation before it does other work; 0: it has
// none.
func (db *DB) idleWait() time.Duration {
	db.writing.Lock()
	defer db.writing.Unlock()
	wait := db.journal.idleWait()
	if wait == 0 && db.mappingUsed {
		return db.journal.bounds.idle
	}
	return wait
}

// releaseMemory gives memory back to the system while there are no operations: that of the mapping,
// whose pages count as memory of the process although the page cache has them too, and free memory
// that Go's collector keeps.
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

// nextPart returns the next part of the work on the old generation: about fold rows to fold, and
// cut rows to remove. Pushes go in order of their IDs, since neighbours share pages. On a full disk
// this work fails before any view does. Then pushes are folded in order of their rows, which are
// removed at once: otherwise all rows would need space twice.
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
		t.work = record.WorkCut
		if len(w.folds) > 0 {
			t.work = record.WorkFold
		}
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

// done handles the outcome of a work whose commit has been answered.
func (j *journal) done(w *journalWork) {
	switch {
	case errors.Is(w.err, record.ErrFull) && j.halve(max(len(w.folds), int(w.cuts-j.first))):
	case errors.Is(w.err, record.ErrFull):
		j.paused = time.Now().Add(min(j.bounds.idle, j.bounds.ends)) // ended pushes are destroyed soon after there is space
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

// narrow handles damage in a fold: it halves the number of pushes until one is left, and sets that
// one aside. So a damaged or forged row does not stop the erasure of other ended pushes. It reports
// false if the journal itself or too many pushes are damaged.
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

// halve makes the next works half as large as the failed one. It reports false if that had one push
// or one row.
func (j *journal) halve(took int) bool {
	j.part = max(1, took/2)
	return took > 1
}

// isPaused reports whether a work of the smallest size has recently failed for lack of space.
func (j *journal) isPaused() bool { return time.Now().Before(j.paused) }

// idleWait is how long the committer waits for an operation before it works on the journal; 0:
// there is no work.
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

// hasEnds reports whether a push has ended that may not be folded yet.
func (j *journal) hasEnds() bool {
	old := j.gens.Load().old
	return !j.stuck && (!j.endsDue.IsZero() || old != nil && len(old.ends) > 0)
}
