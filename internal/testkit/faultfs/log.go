package faultfs

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
)

// SectorSize is the number of bytes that a disk writes atomically.
const SectorSize = 512

// A Kind is the kind of an entry of a log, or of an operation that a fault hits.
type Kind uint8

// The kinds. Those up to Link change something.
const (
	Write  Kind = 1 + iota // of bytes
	Resize                 // by truncating or extending
	Create                 // of a file under a name
	Remove                 // of a name
	Rename
	Link
	Sync // of a file
	SyncDir
	Mark // put in by a test
	Open
	Read
	kinds
)

var kindNames = [kinds]string{
	Write: "write", Resize: "resize", Create: "create", Remove: "remove", Rename: "rename", Link: "link",
	Sync: "sync", SyncDir: "syncdir", Mark: "mark", Open: "open", Read: "read",
}

// String is the kind in a word.
func (k Kind) String() string { return kindNames[k] }

// An Entry is a change, a sync or a mark. Failed changes are not recorded, except the
// part of a write that was done.
type Entry struct {
	Kind   Kind
	Node   uint64 // the file; of a mark, what the test calls it
	Offset int64  // where a write begins; the new size of a resize
	Data   []byte // that was written
	Name   string // in the directory
	To     string // the new name of a rename
}

// String describes the entry without its bytes.
func (e Entry) String() string {
	switch e.Kind {
	case Write:
		return fmt.Sprintf("write %d bytes at %d of file %d", len(e.Data), e.Offset, e.Node)
	case Resize:
		return fmt.Sprintf("resize file %d to %d", e.Node, e.Offset)
	case Rename:
		return fmt.Sprintf("rename %s to %s", e.Name, e.To)
	case Create, Remove, Link:
		return fmt.Sprintf("%s %s (file %d)", e.Kind, e.Name, e.Node)
	default:
		return fmt.Sprintf("%s %d", e.Kind, e.Node)
	}
}

// Sectors is the number of sectors that a write touches; 0 of other entries.
func (e Entry) Sectors() int {
	if e.Kind != Write || len(e.Data) == 0 {
		return 0
	}
	first, last := e.Offset/SectorSize, (e.Offset+int64(len(e.Data))-1)/SectorSize
	return int(last - first + 1)
}

// sector is the part of a write in its n-th sector.
func (e Entry) sector(n int) (offset int64, data []byte) {
	first := e.Offset / SectorSize
	from := max(e.Offset, (first+int64(n))*SectorSize)
	to := min(e.Offset+int64(len(e.Data)), (first+int64(n)+1)*SectorSize)
	return from, e.Data[from-e.Offset : to-e.Offset]
}

// A Fault hits one operation: the N-th of its kinds, from 1, after it was set. Times is
// the number of operations in a row that it hits, if not one: the kernel repeats a read
// ahead that failed.
type Fault struct {
	Kinds []Kind
	N     int
	Times int // 0: once
	Err   syscall.Errno
	// Half makes a write of several sectors write the first half of them and return
	// that length; the call that continues with the rest returns Err. Without an Err it
	// is only a short write.
	Half bool
}

// SetFault replaces the fault, and counts operations from here.
func (d *Disk) SetFault(f Fault, _ *None) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.setFault(f)
	return nil
}

func (d *Disk) setFault(f Fault) { d.fault, d.count, d.met, d.torn = f, [kinds]int{}, false, false }

// Met reports whether an operation was hit by the fault.
func (d *Disk) Met(_ None, met *bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	*met = d.met
	return nil
}

// hit counts an operation and reports whether the fault is for it.
func (d *Disk) hit(k Kind) bool {
	d.count[k]++
	n, ours := 0, false
	for _, of := range d.fault.Kinds {
		n += d.count[of]
		ours = ours || of == k
	}
	if !ours || n < d.fault.N || n >= d.fault.N+max(1, d.fault.Times) {
		return false
	}
	d.met = true
	return true
}

// meet counts an operation and returns the error that it must return.
func (d *Disk) meet(k Kind) syscall.Errno {
	if d.hit(k) {
		return d.fault.Err
	}
	return 0
}

// meetWrite is meet for a write of n bytes. It returns the number of bytes to write,
// too.
func (d *Disk) meetWrite(n int) (int, syscall.Errno) {
	if d.torn {
		d.torn = false
		return 0, d.fault.Err
	}
	switch half := n / SectorSize / 2 * SectorSize; {
	case !d.hit(Write) || d.fault.Err == 0 && half == 0:
		return n, 0
	case !d.fault.Half || half == 0:
		return 0, d.fault.Err
	default:
		d.torn = d.fault.Err != 0
		return half, 0
	}
}

// Chance returns a random Keep for pending changes: all or nothing, all except one or
// one alone, whole changes or sectors, few or many. It returns the choice in a word,
// too.
func Chance(r *rand.Rand, pending []Entry) (how string, keep Keep) {
	share := r.Float64()
	switch n := len(pending); {
	case n == 0:
		return "all synced", func(int, int) bool { return true }
	case n > 1 && r.IntN(5) == 0:
		only := r.IntN(n)
		return "one kept", func(change, _ int) bool { return change == only }
	case n > 1 && r.IntN(4) == 0:
		lost := r.IntN(n)
		return "one lost", func(change, _ int) bool { return change != lost }
	}
	switch r.IntN(8) {
	case 0:
		return "all lost", func(int, int) bool { return false }
	case 1:
		return "all kept", func(int, int) bool { return true }
	case 2, 3:
		kept := make([]bool, len(pending))
		for i := range kept {
			kept[i] = r.Float64() < share
		}
		return "some kept", func(change, _ int) bool { return kept[change] }
	case 4:
		last := len(pending) - 1
		return "the last torn", func(change, _ int) bool { return change < last || r.Float64() < share }
	default:
		return "torn", func(int, int) bool { return r.Float64() < share }
	}
}

// A content is the bytes of a file: data, then zeros up to size.
type content struct {
	data []byte
	size int64
}

// write writes bytes, and grows the file as needed.
func (c *content) write(offset int64, b []byte) {
	end := offset + int64(len(b))
	if n := int64(len(c.data)); end > n {
		c.data = slices.Grow(c.data, int(end-n))[:end]
		clear(c.data[n:])
	}
	copy(c.data[offset:], b)
	c.size = max(c.size, end)
}

// resize truncates the file, or grows it by zeros.
func (c *content) resize(size int64) {
	if size < int64(len(c.data)) {
		c.data = c.data[:size]
	}
	c.size = size
}

// read copies bytes from offset on, and returns their number.
func (c *content) read(offset int64, b []byte) int {
	n := int(max(0, min(int64(len(b)), c.size-offset)))
	had := 0
	if offset < int64(len(c.data)) {
		had = copy(b[:n], c.data[offset:])
	}
	clear(b[had:n])
	return n
}

// apply applies a recorded change.
func (c *content) apply(e Entry) {
	if e.Kind == Resize {
		c.resize(e.Offset)
	} else {
		c.write(e.Offset, e.Data)
	}
}

func (c *content) clone() *content { return &content{slices.Clone(c.data), c.size} }
