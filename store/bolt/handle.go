package bolt

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"pushbox/internal/durable"

	"go.etcd.io/bbolt"

	"pushbox/store/bolt/page"
	"pushbox/store/record"
)

// maxListedPages is how many free pages there may be for a commit to write the list of
// them. bbolt always writes all of that list: for that many, 128 KiB, half as much
// again as a small commit.
const maxListedPages = 16_384

// A handle is an opened file. A compaction replaces the DB's handle by one of another file, whose
// transactions have other numbers.
type handle struct {
	bolt     *bbolt.DB
	file     *os.File                        // bbolt's own
	keys     *atomic.Pointer[record.RowKeys] // the DB's; nil for a file that is read without keys
	synced   atomic.Int64                    // the last transaction that is on the disk
	mapped   atomic.Int64                    // bytes of long values read since the mapping was released
	verified page.Set                        // pages that were verified; nil: the file is new
	leaves   [mostBuckets]page.Leaves        // that were verified last; the committer's
	unlisted bool                            // the last commit left out the list of free pages; the committer's
	eraser   eraser                          // of free pages
	touched  int                             // approximate bytes of the mapping that commits have read; used by the committer alone

	users   atomic.Int64  // readers, and one for the DB; at 0 the handle is closing
	idle    chan struct{} // closed when there are no users
	damaged chan struct{} // closed when a panic may have left bbolt's locks held
	damage  sync.Once
}

// openHandle opens an existing file with bbolt, after check has accepted it.
func openHandle(path string, o bbolt.Options, check func(*os.File) error) (*handle, error) {
	h := &handle{idle: make(chan struct{}), damaged: make(chan struct{})}
	h.users.Store(1)
	o.FreelistType = bbolt.FreelistMapType
	o.InitialMmapSize = initialMap()
	o.NoFreelistSync = true // otherwise opening would write a missing list
	o.OpenFile = existing(func(f *os.File) error {
		h.file = f
		return check(f)
	})
	err := guard(func() (err error) {
		h.bolt, err = bbolt.Open(path, 0o600, &o)
		return err
	})
	if h.noteDamage(err) { // bbolt has released nothing
		return nil, errors.Join(err, h.close())
	}
	if err != nil {
		return nil, err
	}
	if o.ReadOnly {
		return h, nil
	}
	h.eraser.all = true
	if h.eraser.list, err = newFreeList(h.bolt); err != nil {
		return nil, errors.Join(err, h.close())
	}
	return h, nil
}

// existing returns an OpenFile for bbolt that makes no file, and closes one that check refuses.
func existing(check func(*os.File) error) func(name string, flag int, mode os.FileMode) (*os.File, error) {
	return func(name string, flag int, _ os.FileMode) (*os.File, error) {
		f, err := durable.OpenRegular(name, flag)
		if err != nil {
			return nil, err
		}
		if err := check(f); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		return f, nil
	}
}

// anyFile accepts each file.
func anyFile(*os.File) error { return nil }

// enter begins a use of the file; leave ends it. It reports false when the handle is closing.
func (h *handle) enter() bool {
	for {
		n := h.users.Load()
		if n == 0 {
			return false
		}
		if h.users.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

func (h *handle) leave() {
	if h.users.Add(-1) == 0 {
		close(h.idle)
	}
}

// read runs fn in a read transaction, which does not see the journal. Its keys are those
// that were in force when it began: later ones may lack a key of rows that it sees.
func (h *handle) read(fn func(*tx) error) (err error) {
	for again := true; again; {
		keys := h.rowKeys()
		again = false // remains set if the transaction does not begin
		err = guard(func() error {
			return h.bolt.View(func(b *bbolt.Tx) error {
				if again = h.rowKeys() != keys; again {
					return nil
				}
				return fn(&tx{bolt: b, handle: h, keys: keys})
			})
		})
	}
	return err
}

// rowKeys returns the keys of the rows; nil before Unlock.
func (h *handle) rowKeys() record.RowKeys {
	if h.keys == nil {
		return nil
	}
	if keys := h.keys.Load(); keys != nil {
		return *keys
	}
	return nil
}

// chooseFreeList decides whether the next commit writes the list of free pages.
func (h *handle) chooseFreeList() {
	s := h.bolt.Stats()
	h.bolt.NoFreelistSync = s.FreePageN+s.PendingPageN > maxListedPages
}

// writeFreeList writes the list of free pages if the last commit left it out: without
// it, the next process to open the file reads all of it.
func (h *handle) writeFreeList() error {
	if !h.unlisted {
		return nil
	}
	h.bolt.NoFreelistSync = false
	err := h.commitNothing()
	if diskFull(err) {
		h.eraser.all = true
		return nil // the next process to open it looks for them
	}
	h.noteDamage(err)
	return err
}

const (
	maxTouched  = 16 << 20 // bytes of the mapping that commits may read before it is released
	pageCluster = 64 << 10 // bytes of the mapping that Linux reads along with a page
	rowTouches  = 512      // approximate bytes of the mapping for a short row: most rows share pages
)

// noteWritten releases the mapping now and then: to write a row, bbolt reads the neighbouring rows,
// which may be as long.
func (h *handle) noteWritten(rows, bytes int) {
	h.touched += bytes + rows*rowTouches
	if h.touched < maxTouched {
		return
	}
	h.releaseMapping()
}

// releaseMapping releases the memory of the mapping.
func (h *handle) releaseMapping() {
	h.touched = 0
	_ = h.read(func(t *tx) error { // after a failure, a later call does it
		t.dropMapped()
		return nil
	})
}

// noteDamage reports whether err comes from a panic, and then marks the handle as damaged.
func (h *handle) noteDamage(err error) bool {
	var d *damageError
	if !errors.As(err, &d) {
		return false
	}
	h.damage.Do(func() { close(h.damaged) })
	return true
}

// close closes the file when its last user has left. The DB must not call bbolt's Close earlier:
// while that waits, readers can neither begin nor end. After a panic bbolt might wait forever for
// its own locks; then the mapping stays until the process ends soon after.
func (h *handle) close() error { return h.closeAfter(func(*handle) error { return nil }) }

// closeAfter is close, but calls last after the last user has left.
func (h *handle) closeAfter(last func(*handle) error) error {
	h.leave()
	select {
	case <-h.idle:
	case <-h.damaged:
	}
	select {
	case <-h.damaged:
		return errors.Join(unlock(h.file), h.file.Close())
	default:
		return errors.Join(last(h), h.bolt.Close())
	}
}

const (
	longValue = 8 << 10  // least length of a value that is read from the file
	mappedMax = 16 << 20 // bytes of long values to read before the mapping is released
)

// file returns the file of a transaction. Offsets from page.Offset are valid as long as the
// transaction lasts.
func (t *tx) file() *os.File { return t.handle.file }

// copyValue copies a value of a read transaction to dst, which has its length. Long
// values are not read through the mapping: the kernel would read them page by page, and
// count them as memory of the process.
func (t *tx) copyValue(dst, v []byte) error {
	at, ok := page.Offset(t.bolt, v)
	if !ok || len(v) < longValue {
		copy(dst, v)
		return nil
	}
	_, err := io.ReadFull(io.NewSectionReader(t.file(), at, int64(len(v))), dst)
	return err
}

// noteRead records that a long value of n bytes was read, and releases the mapping from
// time to time: reading touched the pages around it.
func (t *tx) noteRead(n int) {
	if t.handle.mapped.Add(int64(n)) >= mappedMax {
		t.handle.mapped.Store(0)
		t.dropMapped()
	}
}

// dropMapped releases the memory of the file's mapping: while the file is mapped, each page that
// was read counts as memory of the process, with some pages around it. Goroutines that read at the
// same time notice nothing.
func (t *tx) dropMapped() { dontNeed(page.Mapping(t.bolt)) }

// scrub overwrites all of a file that is about to be closed, if it no longer has a name. Then its
// blocks hold no data when the file system frees them.
func (h *handle) scrub() error { return durable.Overwrite(h.file) }
