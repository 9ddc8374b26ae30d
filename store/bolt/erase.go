package bolt

import (
	"bytes"
	"os"
	"time"

	"go.etcd.io/bbolt"

	"pushbox/store/bolt/page"
)

// Erasure: bbolt never clears a page that it frees, so what was deleted would stay in
// the file until the page is used again. A goroutine of the DB overwrites such pages.
//
// The rule is that by which bbolt itself uses a page again, in DB.beginRWTx,
// freelist.ReleasePendingPages and DB.allocate (db.go and internal/freelist/shared.go of
// bbolt 1.5.0), and one step stricter. The file has two headers: transaction N writes
// its own in the place of that of N-2, so that a power cut leaves the header of N or,
// where that is torn, of N-1. A page that N freed is part of what N-1 leads to. Once N is
// committed, which includes the sync of its header, and no reader of a transaction
// before N is left, bbolt may use the page for N+1. The eraser waits for the commit of
// N+1: then neither header leads to what it erases, and a file in which either one
// spoils opens with the other, as it did before. Where no commit follows by itself, the
// eraser asks for one that changes no row.
//
// Each portion is erased in a transaction that writes, like an allocation, and is
// rolled back: beginning one releases what readers can no longer see, and no commit can
// run beside it. What is erased must be free by bbolt's own word (Tx.Page), and not held
// for a reader by its list. Pages behind the last one in use are part of no transaction;
// a commit that failed may have written them.
const (
	// eraseDelay is how long it takes from one round to the next. Under load, a page
	// waits for a second round: by then commits have used most pages again.
	eraseDelay = 500 * time.Millisecond
	// eraseWindow is how long a round may take. Until a page is erased, three delays
	// and three rounds pass at most, and a commit.
	eraseWindow = time.Second
	erasePause  = 25 * time.Millisecond // the longest between two portions
	// readWindow is how much of that reading may take, in which it pauses as long as it
	// reads: after a start there may be gigabytes to read, and what ends meanwhile must
	// be erased in time.
	readWindow = eraseWindow / 2
	readTurn   = 10 * time.Millisecond // how long to read before a pause, at least one run of pages
	// restWindow is how long closing a file may take for what is not erased yet: a service
	// manager kills a server that does not end soon. The next start erases the rest.
	restWindow = 10 * time.Second

	portionPages = 64      // to overwrite at a time, while commits wait
	portionLook  = 2048    // to look at, at a time
	unsyncedMost = 4 << 20 // bytes overwritten before a sync, where no commit does it
	readMost     = 1 << 20 // bytes read at a time to find out what is erased already
	longPages    = 16      // of a value that no wrap, link or name has
	punchPages   = 64      // fewest pages whose blocks are given back to the file system
)

// zeros are what a page is overwritten with.
var zeros [256 << 10]byte

// An eraser knows which free pages of a file may still hold what they held. DB.writing
// guards it, or that nothing else uses the file.
type eraser struct {
	list  *freeList
	last  []uint64 // freed by the last commit, or found: the older header may lead to them
	fresh pageSet  // freed before it, and since the round began, or put off
	aged  pageSet  // freed before the round began, and left for the next one
	round pageSet  // for this round to erase
	all   bool     // any free page may hold something

	unknown pageSet // free pages to read: only that tells whether they are erased
	reader  uint64  // the page to continue with

	txid      int       // of the commit that runs
	listed    page.Run  // the list of free pages that it replaces, which holds numbers alone
	stale     bool      // there is more in last than that list
	committed time.Time // when the last commit ended

	unsynced  int64 // bytes overwritten since a sync
	synced    int64 // the last transaction on the disk when that was done
	keepHoles bool  // the file system does not take blocks back
}

// noteBegun notes the transaction that a commit is made of.
func (e *eraser) noteBegun(b *bbolt.Tx) (err error) {
	e.txid = b.ID()
	e.listed, _, err = page.FreeLists(bytes.NewReader(page.Mapping(b)))
	return err
}

// noteCommitted notes the pages that the transaction freed, once it is committed. A page
// of an earlier one that the round had to erase was used again meanwhile.
func (e *eraser) noteCommitted() {
	for _, id := range e.last {
		e.fresh.add(id)
	}
	e.last, e.stale, e.committed = e.last[:0], false, time.Now()
	e.list.freedBy(e.txid, func(id uint64) {
		e.fresh.remove(id)
		e.aged.remove(id)
		e.round.remove(id)
		e.unknown.remove(id)
		e.last = append(e.last, id)
		e.stale = e.stale || !e.listed.Has(id)
	})
}

func (e *eraser) done() bool {
	return !e.all && !e.stale && e.fresh.count+e.aged.count+e.round.count+e.unknown.count == 0
}

// quiet reports whether no commit came for long.
func (e *eraser) quiet() bool { return time.Since(e.committed) >= eraseDelay/2 }

// beginRound begins a round, which takes what was freed before the last one began, or,
// with all, everything.
func (h *handle) beginRound(all bool) error {
	e := &h.eraser
	e.round.addAll(&e.aged)
	e.aged.addAll(&e.fresh)
	if all {
		e.round.addAll(&e.aged)
	}
	if !e.all {
		return nil
	}
	return h.listUnknown()
}

// free runs fn in a transaction that writes nothing. What no reader can see is released
// by then.
func (h *handle) free(fn func(*bbolt.Tx) error) error {
	return guard(func() error {
		b, err := h.bolt.Begin(true)
		if err != nil {
			return err
		}
		defer func() { _ = b.Rollback() }() // which fails only where it has ended
		return fn(b)
	})
}

// A run is pages one behind the other.
type run struct {
	first, count uint64
	long         bool // of long values alone
}

// erasePortion erases some pages of the round. It reports whether there are more.
func (h *handle) erasePortion() (more bool, err error) {
	e := &h.eraser
	err = h.free(func(b *bbolt.Tx) error {
		runs := e.portion(b)
		size := int64(b.DB().Info().PageSize)
		for _, r := range runs {
			if err := h.overwrite(r, size); err != nil {
				return err
			}
			for i := range r.count {
				e.round.remove(r.first + i)
			}
		}
		return nil
	})
	return e.round.count > 0, err
}

// portion returns what to erase next. Pages of the round that are in use again are
// taken out of it; what a reader may still read is put off.
func (e *eraser) portion(b *bbolt.Tx) (runs []run) {
	held := e.list.held()
	zero, looked := 0, 0
	for id, ok := e.round.next(0); ok && zero < portionPages && looked < portionLook; id, ok = e.round.next(id) {
		n := uint64(1)
		switch info, err := b.Page(int(id)); {
		case err != nil || info != nil && info.Type != "free":
			e.round.remove(id)
		case held[id]:
			e.round.remove(id)
			e.fresh.add(id)
		default:
			long := false
			if n = e.value(b, id, held); n >= longPages && !e.keepHoles {
				long = true
			} else {
				n = 1
				zero++
			}
			runs = appendRun(runs, run{id, n, long})
		}
		looked += int(n)
		id += n
	}
	return runs
}

// value returns how many pages the value at a free page takes, if all of them are to be
// erased; else 1.
func (e *eraser) value(b *bbolt.Tx, first uint64, held map[uint64]bool) uint64 {
	n := page.Extent(b, first)
	if n > portionLook {
		return 1
	}
	for id := first + 1; id < first+n; id++ {
		if info, err := b.Page(int(id)); !e.round.has(id) || held[id] || err != nil || info == nil || info.Type != "free" {
			return 1
		}
	}
	return n
}

func appendRun(runs []run, r run) []run {
	if len(runs) > 0 {
		if last := &runs[len(runs)-1]; last.first+last.count == r.first && last.long == r.long {
			last.count += r.count
			return runs
		}
	}
	return append(runs, r)
}

// overwrite erases pages. Those of long values, which are useless without their wrap,
// are given back to the file system where they are many. A file system may refuse that with
// any error, for this file or for now; zeros do as well, and only their error counts.
func (h *handle) overwrite(r run, size int64) error {
	e := &h.eraser
	e.synced = h.synced.Load()
	at, n := int64(r.first)*size, int64(r.count)*size
	if r.long && r.count >= punchPages && !e.keepHoles {
		if punch(h.file, at, n) == nil {
			e.unsynced += size
			return nil
		}
		e.keepHoles = true
	}
	e.unsynced += n
	return overwrite(h.file, at, n)
}

// overwrite writes n zeros to a file.
func overwrite(f *os.File, at, n int64) error {
	for end := at + n; at < end; {
		written, err := f.WriteAt(zeros[:min(end-at, int64(len(zeros)))], at)
		if err != nil {
			return err
		}
		at += int64(written)
	}
	return nil
}

// settle brings to the disk what was overwritten, if it is more than most bytes and no
// commit has done so since.
func (h *handle) settle(most int64) error {
	e := &h.eraser
	if h.synced.Load() > e.synced {
		e.unsynced = 0
	}
	if e.unsynced <= most {
		return nil
	}
	e.unsynced = 0
	return guard(h.bolt.Sync)
}

// commitNothing makes a commit that changes no row, where no committer runs.
func (h *handle) commitNothing() error {
	err := guard(func() error { return h.bolt.Update(h.eraser.noteBegun) })
	if err == nil {
		h.synced.Store(int64(h.eraser.txid))
		h.eraser.noteCommitted()
	}
	return err
}

// eraseRest erases what is free, of a file that is about to be closed and that nothing
// else uses. What the time is too short for, the next process to open it does.
func (h *handle) eraseRest(most time.Duration) error {
	err := h.eraseUntil(time.Now().Add(most))
	if err == nil {
		err = h.settle(0)
	}
	if diskFull(err) {
		return nil // the next process to open it does it
	}
	h.noteDamage(err)
	return err
}

// eraseUntil erases what is free, what is known to be deleted first.
func (h *handle) eraseUntil(end time.Time) error {
	e := &h.eraser
	var buffer []byte
	for !e.done() {
		if err := h.beginRound(true); err != nil {
			return err
		}
		for more := e.round.count > 0; more; {
			if !time.Now().Before(end) {
				return nil
			}
			var err error
			if more, err = h.erasePortion(); err == nil {
				err = h.settle(unsyncedMost)
			}
			if err != nil {
				return err
			}
		}
		if e.unknown.count > 0 && buffer == nil {
			buffer = make([]byte, readMost)
		}
		for begun := time.Now(); e.unknown.count > 0 && time.Since(begun) < readWindow; {
			if !time.Now().Before(end) {
				return nil
			}
			e.noteRead(h.readTurn(e.nextUnknown(h.readPages()), buffer))
		}
		if e.stale {
			if err := h.commitNothing(); err != nil {
				return err
			}
		}
	}
	return nil
}
