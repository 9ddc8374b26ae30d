package bolt

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"

	"go.etcd.io/bbolt"
)

// maxListed is how many free pages there may be for a commit to write the list
// of them, which bbolt always writes as a whole: 128 KiB for that many, which
// makes a small commit half as long again.
const maxListed = 16_384

// A handle is one opened file. A compaction replaces the DB's handle by that of
// another file, whose transactions have other numbers.
type handle struct {
	bolt     *bbolt.DB
	file     *os.File          // bbolt's own
	synced   atomic.Int64      // the last transaction that is on the disk
	mapped   atomic.Int64      // bytes of long values read since the mapping was let go of
	looked   pageSet           // pages that were looked at; empty: the file is new
	sound    [bucketCount]span // where the leaf that was looked at last begins and ends; the committer's
	unlisted bool              // the last commit left out the list of free pages; the committer's
	touched  int               // about how much of the mapping commits have read; the committer's

	users   atomic.Int64  // readers, and one for the DB; at none, nobody enters any more
	idle    chan struct{} // closed when there are no users
	damaged chan struct{} // closed when a panic may have left bbolt's locks held
	damage  sync.Once
}

// openHandle has bbolt open a file that exists, after prepare has looked at it.
func openHandle(path string, o bbolt.Options, prepare func(*os.File) error) (*handle, error) {
	h := &handle{idle: make(chan struct{}), damaged: make(chan struct{})}
	h.users.Store(1)
	o.FreelistType = bbolt.FreelistMapType
	o.InitialMmapSize = initialMap()
	o.NoFreelistSync = true // else opening would write a list that is missing
	o.OpenFile = func(name string, flag int, mode os.FileMode) (*os.File, error) {
		f, err := os.OpenFile(name, flag&^os.O_CREATE, mode)
		if err != nil {
			return nil, err
		}
		if err := prepare(f); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		h.file = f
		return f, nil
	}
	err := guard(func() (err error) {
		h.bolt, err = bbolt.Open(path, 0o600, &o)
		return err
	})
	if h.noteDamage(err) { // and bbolt let go of nothing
		return nil, errors.Join(err, h.close())
	}
	if err != nil {
		return nil, err
	}
	return h, nil
}

// enter takes part in the use of the file. It reports false when the handle is
// closing; else leave ends the use.
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

// read runs fn in a read transaction. Of the journal it sees nothing.
func (h *handle) read(fn func(*tx) error) error {
	return guard(func() error {
		return h.bolt.View(func(b *bbolt.Tx) error { return fn(&tx{bolt: b, handle: h}) })
	})
}

// chooseList says whether the next commit writes the list of free pages.
func (h *handle) chooseList() {
	s := h.bolt.Stats()
	h.bolt.NoFreelistSync = s.FreePageN+s.PendingPageN > maxListed
}

// writeList writes the list of free pages if the last commit left it out: else
// the next to open the file would have to look for them.
func (h *handle) writeList() error {
	if !h.unlisted {
		return nil
	}
	err := guard(func() error {
		h.bolt.NoFreelistSync = false
		return h.bolt.Update(func(*bbolt.Tx) error { return nil })
	})
	if noRoom(err) {
		return nil // the next to open it looks for them
	}
	h.noteDamage(err)
	return err
}

const (
	maxTouched  = 16 << 20 // bytes of the mapping that commits may read before it is let go of
	pageCluster = 64 << 10 // bytes of it that come in with a page that is read, on Linux
	rowTouches  = 512      // bytes of it that a short row takes, about: most lie in pages that are read anyhow
)

// noteWritten lets go of the mapping from time to time: to write a row, bbolt
// reads those beside it, which may be as long.
func (h *handle) noteWritten(rows, bytes int) {
	h.touched += bytes + rows*rowTouches
	if h.touched < maxTouched {
		return
	}
	h.letGo()
}

// letGo lets go of the mapping.
func (h *handle) letGo() {
	h.touched = 0
	_ = h.read(func(t *tx) error { // else a later time will do
		t.dropMapped()
		return nil
	})
}

// noteDamage reports whether err tells of a panic, and remembers that there was
// one.
func (h *handle) noteDamage(err error) bool {
	var d *damageError
	if !errors.As(err, &d) {
		return false
	}
	h.damage.Do(func() { close(h.damaged) })
	return true
}

// close lets go of the file when nobody uses it any more. bbolt itself must not
// be asked earlier: while it waits, nobody can begin or even end a read. After a
// panic it might wait for its own locks forever: then the mapping stays until
// the process ends, which is soon.
func (h *handle) close() error {
	h.leave()
	select {
	case <-h.idle:
	case <-h.damaged:
	}
	select {
	case <-h.damaged:
		return errors.Join(unlock(h.file), h.file.Close())
	default:
		return h.bolt.Close()
	}
}
