package bolt

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"syscall"
	"time"

	"go.etcd.io/bbolt"

	"pushbox/store/record"
)

// errUndo makes bbolt roll back if there is nothing to commit.
var errUndo = errors.New("nothing to commit")

// commit runs a batch until each of its operations is answered. Every round but the
// last removes at least one operation, or halves the batch. It reports false when the DB has failed.
func (db *DB) commit(batch []*op) bool {
	for len(batch) > 0 {
		bad, err := db.attempt(batch)
		switch {
		case bad != nil:
			bad.answer(bad.err)
			batch = slices.DeleteFunc(batch, func(o *op) bool { return o == bad })
		case err == nil:
			answerAll(batch)
			return true
		case errors.Is(err, record.ErrFull):
			rest := refuseWriters(batch)
			if len(rest) == len(batch) { // smaller transactions need less space
				half := len(batch) / 2
				rest = batch[half:]
				if !db.commit(batch[:half:half]) {
					answerWith(rest, db.failure)
					return false
				}
			}
			batch = rest
		default:
			answerWith(batch, err)
			return false
		}
	}
	return true
}

// attempt runs a batch in one transaction. It returns the operation that failed after
// it began to write, if one did: then nothing was committed, and the others have no
// outcome yet. The error is record.ErrFull if nothing was committed because the disk is
// full; after any other error, the DB has failed.
func (db *DB) attempt(batch []*op) (bad *op, err error) {
	asked := time.Now()
	db.writing.Lock()
	defer db.writing.Unlock()
	begun := time.Now()
	select {
	case <-db.failed: // in a compaction, and the file may have a different name by now
		return nil, db.failure
	default:
	}
	h := db.current.Load()
	h.chooseFreeList()
	var txid int
	err = guard(func() error {
		return h.bolt.Update(func(b *bbolt.Tx) error {
			txid = b.ID()
			if err := h.eraser.noteBegun(b); err != nil {
				return err
			}
			db.tx.reset(b)
			db.tx.handle, db.tx.keys, db.tx.changes = h, h.rowKeys(), db.changes
			db.tx.journal, db.tx.nextRow, db.tx.overlay = db.journal, db.journal.next, db.journal.latest(db.tx.local)
			bad = db.runAll(batch)
			if bad != nil || db.tx.writes == 0 {
				return errUndo
			}
			return db.tx.putSums()
		})
	})
	switch {
	case errors.Is(err, errUndo):
		return bad, nil
	case err == nil:
		h.synced.Store(int64(txid))
		h.eraser.noteCommitted()
		db.wakeEraser()
		db.mappingUsed = true
		db.journal.publish(&db.tx)
		h.unlisted = h.bolt.NoFreelistSync
		h.noteWritten(db.tx.writes, db.tx.bytes+db.tx.touched)
		c := record.Commit{Work: db.tx.work, Operations: len(batch), Took: time.Since(asked)}
		if begun.Sub(asked) >= c.Took/2 {
			c.Work = record.WorkWait
		}
		db.observe(c)
		return nil, nil
	case db.undone(err, txid):
		h.eraser.all = true // the failed commit may have written pages that are still free
		db.wakeEraser()
		return nil, record.ErrFull
	default:
		h.noteDamage(err)
		return nil, db.fail(fmt.Errorf("commit: %w", err))
	}
}

// runAll runs the operations of a batch until one fails after it began to write, and
// returns that one.
func (db *DB) runAll(batch []*op) *op {
	for _, o := range batch {
		before := db.tx.writes
		o.err = o.runIn(&db.tx)
		o.wrote = db.tx.writes != before
		if o.err != nil && o.wrote {
			return o
		}
	}
	return nil
}

func (o *op) runIn(t *tx) (err error) {
	defer catchUnreadable(&err)
	return o.run(t)
}

// undone reports whether a commit failed because the disk is full and provably left no
// trace, so that the file is as it was before.
func (db *DB) undone(err error, txid int) bool {
	if !diskFull(err) {
		return false
	}
	last := txid
	viewErr := guard(func() error {
		return db.current.Load().bolt.View(func(b *bbolt.Tx) error {
			last = b.ID()
			return nil
		})
	})
	return viewErr == nil && last < txid
}

func diskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG) || errors.Is(err, io.ErrShortWrite)
}

// refuseWriters answers record.ErrFull to the creates that made the batch too large, or to the only
// operation that wrote. It returns the other operations, which must run again: they may depend on
// changes that are now undone.
func refuseWriters(batch []*op) []*op {
	writers := 0
	for _, o := range batch {
		if o.wrote {
			writers++
		}
	}
	return slices.DeleteFunc(batch, func(o *op) bool {
		refuse := o.wrote && (o.bytes > 0 || writers == 1) || len(batch) == 1
		if refuse {
			o.answer(record.ErrFull)
		}
		return refuse
	})
}

func answerAll(batch []*op) {
	for _, o := range batch {
		o.answer(o.err)
	}
}

// answerWith answers all operations of a batch whose outcome is unknown.
func answerWith(batch []*op, err error) {
	for _, o := range batch {
		o.answer(err)
	}
}
