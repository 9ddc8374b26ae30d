package bolt

import (
	"errors"
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
// it is for.
type journalWork struct {
	op
	folds []store.ID // that it folds; or
	cuts  uint64     // rows before this one that it cuts off
}

// work is what the next commit is to do; nil for nothing. Where nobody waits, a
// short journal is folded, too.
func (j *journal) work(idle bool) *journalWork {
	g := j.gens.Load()
	if g.old == nil && g.current.rows > 0 && (idle || g.current.rows >= j.bounds.rows) && !j.stuck {
		j.seal()
		g = j.gens.Load()
	}
	if j.pause > 0 {
		j.pause--
		return nil
	}
	switch {
	case j.stuck:
		return nil
	case g.old != nil:
		return j.foldWork(g.old)
	case j.first < j.folded:
		return j.cutWork()
	default:
		return nil
	}
}

// foldWork folds the next pushes. Those that lie side by side share pages, so they
// go by their order.
func (j *journal) foldWork(g *generation) *journalWork {
	rows, n := 0, 0
	for n < len(j.fold) && rows < j.bounds.fold {
		rows += len(g.pushes[j.fold[n]].rows)
		n++
	}
	w := &journalWork{folds: j.fold[:n]}
	w.run = func(t *tx) error {
		for _, id := range w.folds {
			if err := t.fold(id, g.pushes[id]); err != nil {
				return err
			}
		}
		return nil
	}
	return w.begun()
}

// cutWork cuts rows off that were folded.
func (j *journal) cutWork() *journalWork {
	w := &journalWork{cuts: min(j.folded, j.first+uint64(j.bounds.cut))}
	w.run = func(t *tx) error {
		for n := j.first; n < w.cuts; n++ {
			if err := t.delete(journalRows, uint64Key(n)); err != nil {
				return err
			}
		}
		return nil
	}
	return w.begun()
}

// begun makes an operation of it that no caller waits for. Where there is no room,
// it is given up before any view is.
func (w *journalWork) begun() *journalWork {
	w.bytes, w.done = 1, make(chan struct{}, 1)
	w.state.Store(opBegun)
	return w
}

// worked takes note of what became of a work whose commit has been answered.
func (j *journal) worked(w *journalWork) {
	switch {
	case errors.Is(w.err, store.ErrFull):
		j.pause = pausedCommits
	case w.err != nil:
		j.stuck = true
	case w.cuts > 0:
		j.first = w.cuts
	default:
		j.fold = j.fold[len(w.folds):]
		if len(j.fold) == 0 {
			j.gens.Store(&generations{current: j.gens.Load().current})
			j.folded, j.fold = j.sealed, nil
		}
	}
}

// wait is how long the committer waits for an operation before it works on the
// journal; 0 where there is nothing to work on.
func (j *journal) wait() time.Duration {
	begun := j.gens.Load().old != nil || j.first < j.folded
	switch {
	case j.idle():
		return 0
	case begun && j.pause == 0:
		return time.Millisecond
	default:
		return j.bounds.lull
	}
}

// idle reports whether there is nothing to work on.
func (j *journal) idle() bool {
	g := j.gens.Load()
	return j.stuck || g.old == nil && g.current.rows == 0 && j.first == j.folded
}

// fold puts what the journal has of a push where it belongs.
func (t *tx) fold(id store.ID, p pending) error {
	stored := t.get(pushes, id[:])
	if stored == nil {
		return nil // it was purged
	}
	old := store.Push{ID: id}
	if err := decode(&old, pushes, stored); err != nil {
		return err
	}
	if err := t.settleRows(p.rows); err != nil || p.seq <= old.Seq {
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

// settle puts the audit entries of a push that are in the journal into its audit
// log, for an entry that follows them there.
func (t *tx) settle(id store.ID) error {
	found, n, err := t.over.of(id)
	for _, p := range found[:n] {
		err = errors.Join(err, t.settleRows(p.rows))
	}
	return err
}

func (t *tx) settleRows(rows []uint64) error {
	for _, n := range rows {
		r, ok, err := t.journalRow(n)
		if err != nil {
			return err
		}
		if !ok {
			continue // it was cut off
		}
		key := auditKey(r.id, r.number())
		if t.has(audit, key) {
			continue
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
func (t *tx) note(next store.Push, entry []byte) error {
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
