package bolt

import (
	"io"
	"os"
	"unsafe"
)

const (
	longValue = 8 << 10  // bytes that a value has, at least, to be read from the file
	mappedMax = 16 << 20 // bytes of long values read between two times of letting go of the mapping
)

// file is the file that a transaction reads. What is read from it is what the
// transaction sees as long as that lasts, and where place says that it lies.
func (t *tx) file() *os.File { return t.handle.file }

// place is where in the file a value lies that a read transaction returned.
func (t *tx) place(v []byte) (offset int64, ok bool) {
	if len(v) == 0 {
		return 0, false
	}
	start := uintptr(unsafe.Pointer(unsafe.SliceData(v)))
	base := t.bolt.DB().Info().Data
	if start < base || int64(start-base)+int64(len(v)) > t.bolt.Size() {
		return 0, false
	}
	return int64(start - base), true
}

// copyValue copies a value of a read transaction to dst, which is as long. Long
// ones do not go through the mapping: that would have the kernel read them page
// by page, and count them to the memory of the process.
func (t *tx) copyValue(dst, v []byte) error {
	at, ok := t.place(v)
	if !ok || len(v) < longValue {
		copy(dst, v)
		return nil
	}
	_, err := io.ReadFull(io.NewSectionReader(t.file(), at, int64(len(v))), dst)
	return err
}

// noteRead says that a long value of n bytes was read, and lets go of the mapping
// from time to time: the pages beside it were touched.
func (t *tx) noteRead(n int) {
	if t.handle.mapped.Add(int64(n)) >= mappedMax {
		t.handle.mapped.Store(0)
		t.dropMapped()
	}
}

// dropMapped has the process let go of the memory that the mapping of the file
// takes: a page that was read once counts, with some around it, for as long as
// the file is mapped. It does no harm to those that read at the same time.
func (t *tx) dropMapped() {
	base := t.bolt.DB().Info().Data
	start := *(*unsafe.Pointer)(unsafe.Pointer(&base)) // memory that Go knows nothing of
	dontNeed(unsafe.Slice((*byte)(start), t.bolt.Size()))
}
