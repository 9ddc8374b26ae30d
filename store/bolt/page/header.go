package page

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"

	"pushbox/store/record"
)

// The layout of bbolt's two header pages, in the machine's byte order: a page header,
// then the fields of a header, then a checksum of those fields. See
// internal/common/meta.go of bbolt.
const (
	headerAt      = 16 // length of a page header
	headerLen     = 64
	headerSumAt   = headerLen - 8
	headerMagic   = 0xED0CDAED
	headerVersion = 2

	noFreelist = 1<<64 - 1 // in place of a page number

	minPageSize = 1 << 10
	maxPageSize = 1 << 24
)

// A header has the fields of a header page of a bbolt file.
type header struct {
	pageSize int64
	freelist uint64 // the page with the list of free pages, or noFreelist
	pages    uint64 // the number of the first page that was never used
	txid     uint64
}

// parseHeader reads a header page; false if it is not valid.
func parseHeader(page []byte) (h header, ok bool) {
	if len(page) < headerAt+headerLen {
		return header{}, false
	}
	m := page[headerAt : headerAt+headerLen]
	n := binary.NativeEndian
	sum := fnv.New64a()
	_, _ = sum.Write(m[:headerSumAt])
	h = header{
		pageSize: int64(n.Uint32(m[8:])), freelist: n.Uint64(m[32:]), pages: n.Uint64(m[40:]), txid: n.Uint64(m[48:]),
	}
	ok = n.Uint32(m) == headerMagic && n.Uint32(m[4:]) == headerVersion &&
		n.Uint64(m[headerSumAt:]) == sum.Sum64() &&
		h.pageSize >= minPageSize && h.pageSize <= maxPageSize
	return h, ok
}

// readHeader reads the header page at that offset.
func readHeader(f io.ReaderAt, offset int64) (header, bool, error) {
	var page [headerAt + headerLen]byte
	n, err := f.ReadAt(page[:], offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return header{}, false, err
	}
	h, ok := parseHeader(page[:n])
	return h, ok, nil
}

// newestHeader returns the header that bbolt would use. A crash may leave one of the
// two torn.
func newestHeader(f io.ReaderAt) (newest header, ok bool, err error) {
	newest, ok, err = readHeader(f, 0)
	if err != nil {
		return header{}, false, err
	}
	first, last := int64(minPageSize), int64(maxPageSize)
	if ok {
		first, last = newest.pageSize, newest.pageSize
	}
	for size := first; size <= last; size *= 2 {
		second, whole, err := readHeader(f, size)
		if err != nil {
			return header{}, false, err
		}
		if whole && second.pageSize == size && (!ok || second.txid > newest.txid) {
			return second, true, nil
		}
	}
	return newest, ok, nil
}

// CheckHeader refuses a file that bbolt would misread, or whose mapping would kill the process: an
// empty file, which bbolt treats as a new one, a file without a valid header, and a file that is
// shorter than its header says.
func CheckHeader(f *os.File) error {
	h, ok, err := newestHeader(f)
	if err != nil {
		return fmt.Errorf("read its header: %w", err)
	}
	// The length is read after the header: a file in use grows before its header says so.
	info, err := f.Stat()
	if err != nil {
		return err
	}
	switch {
	case !info.Mode().IsRegular():
		return fmt.Errorf("%w: it is not a regular file", record.ErrCorrupt)
	case info.Size() == 0:
		return fmt.Errorf("%w: it is empty", record.ErrCorrupt)
	case !ok:
		return fmt.Errorf("%w: it has no complete header: it is not a database, or both headers are damaged", record.ErrCorrupt)
	case uint64(info.Size())/uint64(h.pageSize) < h.pages:
		return fmt.Errorf("%w: it was cut to %d bytes, but by its header it has %d pages of %d",
			record.ErrCorrupt, info.Size(), h.pages, h.pageSize)
	}
	return nil
}

// A Run is a sequence of consecutive pages.
type Run struct{ First, Count uint64 }

// Has reports whether a page is in the run.
func (r Run) Has(id uint64) bool { return id-r.First < r.Count }

// FreeLists returns the pages with the lists of free pages that the header in use and the other one
// lead to. A missing list has no pages.
func FreeLists(f io.ReaderAt) (newest, older Run, err error) {
	h, ok, err := newestHeader(f)
	if err != nil || !ok {
		return Run{}, Run{}, err
	}
	if newest, err = freeList(f, h); err != nil {
		return Run{}, Run{}, err
	}
	for _, at := range [...]int64{0, h.pageSize} {
		other, whole, err := readHeader(f, at)
		if err != nil {
			return Run{}, Run{}, err
		}
		if whole && other.txid < h.txid {
			older, err = freeList(f, other)
			return newest, older, err
		}
	}
	return newest, Run{}, nil
}

// freeList returns the pages of the list that a header leads to.
func freeList(f io.ReaderAt, h header) (Run, error) {
	if h.freelist == noFreelist || h.freelist >= h.pages {
		return Run{}, nil
	}
	var head [pageHead]byte
	if _, err := f.ReadAt(head[:], int64(h.freelist)*h.pageSize); err != nil {
		return Run{}, err
	}
	n := binary.NativeEndian
	more := uint64(n.Uint32(head[12:]))
	if n.Uint64(head[:]) != h.freelist || n.Uint16(head[8:]) != freelistFlag || h.freelist+more >= h.pages {
		return Run{}, nil // the list of the other header, overwritten
	}
	return Run{h.freelist, 1 + more}, nil
}

// HasFreeList reports whether the last commit wrote the list of free pages. Without
// one, bbolt reads all pages of the file when it opens it.
func HasFreeList(f io.ReaderAt) (bool, error) {
	h, ok, err := newestHeader(f)
	return !ok || h.freelist != noFreelist, err
}
