package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"time"

	"go.etcd.io/bbolt"

	"pushbox/store/bolt/page"
)

// listUnknown lists free pages for the eraser to read, if it is not known yet whether they must be
// erased. The reader resumes where it stopped, so it reaches the end of the file even though the
// list keeps being rebuilt.
func (h *handle) listUnknown() error {
	e := &h.eraser
	info, err := h.file.Stat()
	if err != nil {
		return err
	}
	_, older, err := page.FreeLists(h.file)
	if err != nil {
		return err
	}
	var unknown pageSet
	err = h.free(func(b *bbolt.Tx) error {
		e.list.each(unknown.add)
		size := int64(b.DB().Info().PageSize)
		for id := b.Size() / size; id*size < info.Size(); id++ {
			unknown.add(uint64(id))
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, id := range e.last {
		unknown.remove(id)
	}
	for _, known := range [...]*pageSet{&e.fresh, &e.aged, &e.round} {
		for id, ok := known.next(0); ok; id, ok = known.next(id + 1) {
			unknown.remove(id)
		}
	}
	for id := older.First; older.Has(id); id++ { // the next commit does not use them
		if unknown.has(id) {
			unknown.remove(id)
			e.last = append(e.last, id)
		}
	}
	e.unknown, e.all = unknown, false
	return nil
}

// nextUnknown returns up to most pages to read next. It returns none only if nothing is left to
// read.
func (e *eraser) nextUnknown(most int) (runs []run) {
	id, ok := e.unknown.next(e.reader)
	if !ok {
		id, ok = e.unknown.next(0)
	}
	for ; ok && most > 0; id, ok = e.unknown.next(id + 1) {
		runs = appendRun(runs, run{first: id, count: 1})
		most--
	}
	return runs
}

// noteRead records that pages were read, and which of them are not erased. A commit may have used
// them meanwhile, so each page is checked again before it is erased.
func (e *eraser) noteRead(runs []run, found []uint64) {
	for _, r := range runs {
		e.reader = r.first + r.count
		for id := r.first; id < e.reader; id++ {
			e.unknown.remove(id)
		}
	}
	e.last, e.stale = append(e.last, found...), e.stale || len(found) > 0
}

// readPages is how many pages are read at a time.
func (h *handle) readPages() int { return readMost / h.bolt.Info().PageSize }

// readTurn reads for one turn. It returns the pages that it has read, and those of them that are
// not erased or cannot be read.
func (h *handle) readTurn(runs []run, buffer []byte) (read []run, found []uint64) {
	size := uint64(h.bolt.Info().PageSize)
	begun := time.Now()
	for n, r := range runs {
		b := buffer[:r.count*size]
		got, err := h.file.ReadAt(b, int64(r.first*size))
		if errors.Is(err, io.EOF) { // the file may have been truncated: then the pages no longer exist
			clear(b[got:])
			got = len(b)
		}
		for i := range r.count {
			if end := (i + 1) * size; end > uint64(got) || !isZero(b[i*size:end]) {
				found = append(found, r.first+i)
			}
		}
		if time.Since(begun) >= readTurn {
			return runs[:n+1], found
		}
	}
	return runs, found
}

func isZero(b []byte) bool {
	for ; len(b) > len(zeros); b = b[len(zeros):] {
		if !bytes.Equal(b[:len(zeros)], zeros[:]) {
			return false
		}
	}
	return bytes.Equal(b, zeros[:len(b)])
}

// readSome reads some of the unknown pages, for about as long as window, and records those that are
// not erased for a later round. It reports false when the DB is closing or has failed.
func (db *DB) readSome(timer *time.Timer, h *handle, window time.Duration) bool {
	var buffer []byte
	var found []uint64
	var read []run
	for begun := time.Now(); ; {
		db.writing.Lock()
		h.eraser.noteRead(read, found)
		runs := h.eraser.nextUnknown(h.readPages())
		db.writing.Unlock()
		if len(runs) == 0 || read != nil && time.Since(begun) >= window {
			return true
		}
		if buffer == nil {
			buffer = make([]byte, readMost)
		}
		turn := time.Now()
		read, found = h.readTurn(runs, buffer)
		if !db.pause(timer, time.Since(turn)) { // leave time for other users of the disk
			return false // the last pages are read again
		}
	}
}

// A pageSet is a set of page numbers.
type pageSet struct {
	words []uint64
	count int
}

func (s *pageSet) add(page uint64) {
	for page/64 >= uint64(len(s.words)) {
		s.words = append(s.words, 0)
	}
	if w := &s.words[page/64]; *w&(1<<(page%64)) == 0 {
		*w |= 1 << (page % 64)
		s.count++
	}
}

func (s *pageSet) remove(page uint64) {
	if s.has(page) {
		s.words[page/64] &^= 1 << (page % 64)
		s.count--
	}
}

func (s *pageSet) has(page uint64) bool {
	return page/64 < uint64(len(s.words)) && s.words[page/64]&(1<<(page%64)) != 0
}

// next returns the first page in the set that is not before page; false for none.
func (s *pageSet) next(page uint64) (uint64, bool) {
	for i := page / 64; i < uint64(len(s.words)); i++ {
		w := s.words[i]
		if i == page/64 {
			w &= ^uint64(0) << (page % 64)
		}
		if w != 0 {
			return i*64 + uint64(bits.TrailingZeros64(w)), true
		}
	}
	return 0, false
}

// addAll adds the pages of another set, which is empty afterwards.
func (s *pageSet) addAll(other *pageSet) {
	for page, ok := other.next(0); ok; page, ok = other.next(page + 1) {
		s.add(page)
	}
	clear(other.words)
	other.count = 0
}

// eraseLoop erases freed pages. It ends with Close, or when the DB has failed.
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

// wakeEraser signals the eraser that there is something to erase.
func (db *DB) wakeEraser() {
	select {
	case db.freed <- struct{}{}:
	default:
	}
}

// pause waits for a time. It reports false when the DB is closing or has failed.
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

// eraseRound erases the pages that were freed before the last round began or, if there was no
// commit for long, all free pages.
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

// eraseFree first reads for as long as reading, and then runs a round in portions, between which
// commits run. With all, it first makes a commit if pages wait for one. It ends early when the DB
// is closing or has failed.
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

// commitOnce makes a commit that changes no row. If the disk is too full for it, the round
// continues: pages that were freed before the last commit need no further commit. After another
// error the DB refuses the round.
func (db *DB) commitOnce() {
	_ = db.do(context.Background(), 1, func(t *tx) error { // on a full disk it fails first, as creates do
		t.writes++ // otherwise bbolt would not commit it
		return nil
	})
}

// eraseAll erases the pages of the round, spread over the time until end. It reports false if it
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

// whileNoCommit runs fn while no commit runs, and reports whether that succeeded. It does not
// succeed if the DB is closing or has failed, if a compaction has replaced h, or if the disk is
// full. After another error it is unknown what is on the disk.
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
