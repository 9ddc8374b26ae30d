package bolt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"

	"pushbox/store"
)

// How bbolt lays its two header pages out, in the machine's byte order: a page
// header, then the fields of a header, the last of which is a checksum of those
// before it. See internal/common/meta.go of bbolt.
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

// A header is what one header page of a bbolt file says.
type header struct {
	pageSize int64
	freelist uint64 // the page with the list of free pages, or noFreelist
	pages    uint64 // the number of the first page that was never used
	txid     uint64
}

// parseHeader reads a header page, or reports that it is not a whole one.
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

// newestHeader returns the header that bbolt would go by. One of the two being
// torn is what a crash leaves, and no fault.
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

// checkHeader refuses a file that bbolt would misread or whose mapping would
// kill the process: an empty one, which bbolt takes for a new one, one without a
// whole header, and one that is shorter than its header says.
func checkHeader(f *os.File) error {
	h, ok, err := newestHeader(f)
	if err != nil {
		return fmt.Errorf("read its header: %w", err)
	}
	// The length comes after the header: a file in use grows before its header tells.
	info, err := f.Stat()
	if err != nil {
		return err
	}
	switch {
	case !info.Mode().IsRegular():
		return fmt.Errorf("%w: it is not a regular file", store.ErrCorrupt)
	case info.Size() == 0:
		return fmt.Errorf("%w: it is empty", store.ErrCorrupt)
	case !ok:
		return fmt.Errorf("%w: it has no whole header, so it is not a database or both headers are torn", store.ErrCorrupt)
	case uint64(info.Size())/uint64(h.pageSize) < h.pages:
		return fmt.Errorf("%w: it was cut to %d bytes, its header tells of %d pages of %d",
			store.ErrCorrupt, info.Size(), h.pages, h.pageSize)
	}
	return nil
}
