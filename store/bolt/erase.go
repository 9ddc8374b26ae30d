package bolt

import (
	"bytes"
	"os"
	"time"

	"go.etcd.io/bbolt"

	"pushbox/store/bolt/page"
)

// Erasure: bbolt never clears a page that it frees, so deleted data would stay in the file until
// bbolt uses the page again. A goroutine of the DB overwrites such pages.
//
// The rule is that of bbolt for using a page again, in DB.beginRWTx, freelist.ReleasePendingPages
// and DB.allocate (db.go and internal/freelist/shared.go of bbolt 1.5.0), and one step stricter.
// The file has two headers: transaction N writes its own in the place of that of N-2, so that a
// power cut leaves the header of N or, if that is torn, of N-1. Header N-1 still leads to a page
// that N freed. Once N is committed, which includes the sync of its header, and no reader of a
// transaction before N is left, bbolt may use the page for N+1. The eraser waits for the commit of
// N+1: then neither header leads to an erased page, and if one header is damaged, the file still
// opens with the other. If no commit follows by itself, the eraser asks for one that changes no
// row.
//
// Each portion is erased in a transaction that writes, like an allocation, and is rolled back: to
// begin one releases pages that readers can no longer see, and no commit can run beside it. A page
// to erase must be free according to bbolt (Tx.Page), and its list must not hold it for a reader.
// Pages after the last one in use belong to no transaction; a failed commit may have written them.
const (
	// eraseDelay is the time from one round to the next. Under load, a page waits for a second
	// round, because by then commits have used most pages again.
	eraseDelay = 500 * time.Millisecond
	// eraseWindow is how long a round may take. Until a page is erased, three delays
	// and three rounds pass at most, and a commit.
	eraseWindow = time.Second
	erasePause  = 25 * time.Millisecond // the longest pause between two portions
	// readWindow is how much of eraseWindow reading may take; it pauses as long as it reads. After a start there may be gigabytes to read, and pushes that end meanwhile must be erased in time.
	readWindow = eraseWindow / 2
	readTurn   = 10 * time.Millisecond // how long to read before a pause, at least one run of pages
	// restWindow is how long closing a file may take to erase the rest: a service manager kills a server that does not end soon. The next start erases what remains.
	restWindow = 10 * time.Second

	portionPages = 64      // to overwrite at a time, while commits wait
	portionLook  = 2048    // to look at, at a time
	unsyncedMost = 4 << 20 // bytes overwritten before a sync, if no commit syncs
	readMost     = 1 << 20 // bytes read at a time to find pages that are erased already
	longPages    = 16      // length of a value that is longer than any wrap, link or name
	punchPages   = 64      // fewest pages whose blocks are given back to the file system
)

// zeros overwrite a page.
var zeros [256 << 10]byte

// An eraser knows which free pages of a file may still hold old data. DB.writing guards it, unless
// nothing else uses the file.
type eraser struct {
	list  *freeList
	last  []uint64 // freed by the last commit, or found by reading: the older header may lead to them
	fresh pageSet  // freed since the round began but before the last commit, or postponed
	aged  pageSet  // freed before the round began, for the next round
	round pageSet  // for this round to erase
	all   bool     // any free page may hold old data

	unknown pageSet // free pages to read, to find out whether they are erased
	reader  uint64  // the page to continue with

	txid      int       // of the commit that runs
	listed    page.Run  // the list of free pages that it replaces, which holds only numbers
	stale     bool      // last has more pages than that list
	committed time.Time // when the last commit ended

	unsynced  int64 // bytes overwritten since a sync
	synced    int64 // the last transaction on the disk at that time
	keepHoles bool  // the file system does not free blocks
}

// noteBegun records the transaction of a commit.
func (e *eraser) noteBegun(b *bbolt.Tx) (err error) {
	e.txid = b.ID()
	e.listed, _, err = page.FreeLists(bytes.NewReader(page.Mapping(b)))
	return err
}

// noteCommitted records the pages that the committed transaction freed. If such a page is in the
// round, a commit has used it again meanwhile.
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

// quiet reports whether there was no commit for long.
func (e *eraser) quiet() bool { return time.Since(e.committed) >= eraseDelay/2 }

// beginRound begins a round with the pages that were freed before the last round began or, with
// all, with every free page.
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

// free runs fn in a transaction that writes nothing. By then bbolt has released pages that no
// reader can see.
func (h *handle) free(fn func(*bbolt.Tx) error) error {
	return guard(func() error {
		b, err := h.bolt.Begin(true)
		if err != nil {
			return err
		}
		defer func() { _ = b.Rollback() }() // which fails only if it has ended
		return fn(b)
	})
}

// A run is a sequence of consecutive pages.
type run struct {
	first, count uint64
	long         bool // only pages of long values
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

// portion returns what to erase next. It removes pages from the round that are in use again, and
// postpones pages that a reader may still read.
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

// value returns the number of pages of the value at a free page if all of them are to be erased;
// else 1.
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

// overwrite erases pages. Those of long values, which are useless without their wrap, are given
// back to the file system if there are many. A file system may refuse that with any error, for this
// file or for now. Then overwrite writes zeros, and only their error counts.
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

// settle syncs the overwritten bytes if they are more than most and no commit has synced them
// since.
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

// commitNothing makes a commit that changes no row, when no committer runs.
func (h *handle) commitNothing() error {
	err := guard(func() error { return h.bolt.Update(h.eraser.noteBegun) })
	if err == nil {
		h.synced.Store(int64(h.eraser.txid))
		h.eraser.noteCommitted()
	}
	return err
}

// eraseRest erases the free pages of a file that is about to be closed and that nothing else uses.
// If the time is too short, the next process that opens the file erases the rest.
func (h *handle) eraseRest(most time.Duration) error {
	err := h.eraseUntil(time.Now().Add(most))
	if err == nil {
		err = h.settle(0)
	}
	if diskFull(err) {
		return nil // the next process that opens the file does it
	}
	h.noteDamage(err)
	return err
}

// eraseUntil erases free pages, those with deleted data first.
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
