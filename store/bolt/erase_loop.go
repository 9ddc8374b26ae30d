package bolt

import (
	"context"
	"fmt"
	"time"
)

// eraseLoop erases what is freed. It ends with Close, or when the DB has failed.
func (db *DB) eraseLoop() {
	defer close(db.erased)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for db.awaitFreed() && db.pause(timer, eraseDelay) {
		db.eraseRound(timer)
	}
}

// awaitFreed waits until there is something to erase. It reports false when the DB is
// closing or has failed.
func (db *DB) awaitFreed() bool {
	db.writing.Lock()
	done := db.current.Load().eraser.done()
	db.writing.Unlock()
	if !done {
		return true
	}
	select {
	case <-db.freed:
		return true
	case <-db.closing:
		return false
	case <-db.failed:
		return false
	}
}

// wakeEraser tells the eraser that there is something to erase.
func (db *DB) wakeEraser() {
	select {
	case db.freed <- struct{}{}:
	default:
	}
}

// pause waits. It reports false when the DB is closing or has failed.
func (db *DB) pause(timer *time.Timer, wait time.Duration) bool {
	timer.Reset(wait)
	select {
	case <-timer.C:
		return true
	case <-db.closing:
		return false
	case <-db.failed:
		return false
	}
}

// eraseRound erases what was freed before the last round began or, if no commit came for
// long, all that is free.
func (db *DB) eraseRound(timer *time.Timer) {
	h := db.enter()
	if h == nil {
		return
	}
	defer h.leave()
	db.writing.Lock()
	quiet := h.eraser.quiet()
	db.writing.Unlock()
	db.eraseFree(timer, h, quiet, readWindow)
}

// eraseFree is a round, in portions between which commits run, once it has read for as
// long as reading. With all, it first makes a commit if pages wait for one. It ends early
// when the DB is closing or has failed.
func (db *DB) eraseFree(timer *time.Timer, h *handle, all bool, reading time.Duration) {
	db.writing.Lock()
	stale := h.eraser.stale
	db.writing.Unlock()
	if all && stale {
		db.commitOnce()
	}
	end := time.Now().Add(eraseWindow)
	begun := db.whileNoCommit(h, func() error { return h.beginRound(all) })
	if begun && db.readSome(timer, h, reading) && db.eraseAll(timer, h, end) {
		db.whileNoCommit(h, func() error { return h.settle(0) })
	}
}

// commitOnce makes a commit that changes no row. Where the disk is too full for it, the
// round continues: what was freed before the last commit waits for no other. After another
// error the DB refuses the round.
func (db *DB) commitOnce() {
	_ = db.do(context.Background(), 1, func(t *tx) error { // on a full disk it gives way first, as creates do
		t.writes++ // or it would not be committed
		return nil
	})
}

// eraseAll erases the pages of the round, at leisure until end. It reports false where it
// could not continue.
func (db *DB) eraseAll(timer *time.Timer, h *handle, end time.Time) bool {
	for {
		more, left := false, 0
		ok := db.whileNoCommit(h, func() (err error) {
			if more, err = h.erasePortion(); err != nil {
				return err
			}
			left = h.eraser.round.count
			return h.settle(unsyncedMost)
		})
		if !ok || !more {
			return ok
		}
		wait := time.Until(end) / time.Duration(1+left/portionPages)
		if !db.pause(timer, min(max(wait, 0), erasePause)) {
			return false
		}
	}
}

// whileNoCommit runs fn while no commit runs, and reports whether that succeeded. It
// does not where the DB is closing or has failed, where a compaction has replaced h, and
// where the disk is full. After another error it is unknown what is on the disk.
func (db *DB) whileNoCommit(h *handle, fn func() error) bool {
	db.writing.Lock()
	defer db.writing.Unlock()
	if db.refusal() != nil || db.current.Load() != h {
		return false
	}
	err := fn()
	if err != nil && !diskFull(err) {
		h.noteDamage(err)
		_ = db.fail(fmt.Errorf("erase: %w", err))
	}
	return err == nil
}
