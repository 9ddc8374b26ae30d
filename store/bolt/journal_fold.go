package bolt

import (
	"errors"
	"slices"

	"pushbox/store/record"
)

var (
	errJournalRow = errors.New("malformed row")
	// errStale makes a reader begin again.
	errStale = errors.New("a commit came between")
)

// cutJournal removes the rows from from to to, exclusive.
func (t *tx) cutJournal(from, to uint64) error {
	for n := from; n < to; n++ {
		if err := t.delete(journalRows, uint64Key(n)); err != nil {
			return err
		}
	}
	return nil
}

// foldEnds folds the whole journal if a push in it has ended, so that a closed file has no secret
// of such a push. If the disk is full, the next process that opens the file does it.
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

// fold writes the state of a push from the journal into its rows in the other buckets. It verifies pages before it reads them:
// a damaged page must not end the store for a push that may never be used.
func (t *tx) fold(id record.ID, p pending) error {
	if len(p.rows) == 0 || t.local[id].gone {
		return nil
	}
	if err := t.verifyPlaces(id, p.delta); err != nil {
		return err
	}
	old, err := t.inPlace(id)
	if errors.Is(err, record.ErrNotFound) {
		return nil // the push was purged
	}
	if err != nil || !p.follows(old.Seq, old.Live()) {
		return err // or folded before
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

// foldEntries moves the audit entries of a push from the journal to its audit log, so that another
// entry can follow them there. p has the state of its record.
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

// foldRows writes the entries of rows to the audit log, the newest first, down to a number. Earlier
// ones are there already, since the record counts them.
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

// forget removes the rows of a push from the journal, after it was purged or folded.
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

// setPending sets the state of a push in the journal once the transaction is committed.
func (t *tx) setPending(id record.ID, p pending) {
	if t.local == nil {
		t.local = make(map[record.ID]pending)
		t.overlay.local = t.local
	}
	t.local[id] = p
}
