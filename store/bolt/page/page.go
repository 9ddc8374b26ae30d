// Package page reads the pages of a bbolt file without trusting them.
//
// bbolt trusts what it reads: a page that leads back to itself overflows its stack, a wrong length
// asks for gigabytes, and no recover catches either. So the engine uses this package to verify a
// file's header before bbolt maps the file, all branches when it opens the file, and a leaf before
// bbolt reads and rewrites it.
//
// The package also finds values in the mapping of a file; no other part of the engine uses unsafe.
// A malformed page gives an error that wraps record.ErrCorrupt.
package page

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"unsafe"

	"go.etcd.io/bbolt"

	"pushbox/store/record"
)

// The layout of bbolt's other pages, in the machine's byte order: a head, then an
// element for each row, then keys and values. See internal/common/page.go of bbolt.
const (
	pageHead   = 16
	elementLen = 16
	branchFlag = 1
	leafFlag   = 2
	bucketFlag = 1 // flag of a row that is a bucket

	freelistFlag = 16
	manyFree     = 1<<16 - 1 // in place of a number of free pages
	bucketHead   = 16
	maxDepth     = 32 // levels; with two rows a page, more than any file has
)

// pages are the pages of a transaction.
type pages struct {
	data []byte
	size int    // of a page
	high uint64 // the first page that was never used
}

func pagesOf(b *bbolt.Tx) pages {
	size := b.DB().Info().PageSize
	return pages{Mapping(b), size, uint64(b.Size()) / uint64(size)}
}

// A page is one whose head was verified: its elements lie within it.
type page struct {
	id    uint64
	leaf  bool
	count int
	bytes []byte // including the pages that continue it
}

// at verifies the head of a page.
func (s pages) at(id uint64) (page, error) {
	if id < 2 || id >= s.high {
		return page{}, fmt.Errorf("%w: a row leads to page %d, of %d", record.ErrCorrupt, id, s.high)
	}
	b := s.data[id*uint64(s.size):]
	n := binary.NativeEndian
	more := uint64(n.Uint32(b[12:]))
	if own := n.Uint64(b); own != id || id+more >= s.high {
		return page{}, fmt.Errorf("%w: page %d says that it is page %d, with %d more, of %d", record.ErrCorrupt, id, own, more, s.high)
	}
	return newPage(id, b[:(1+more)*uint64(s.size)])
}

// Extent returns the number of pages of a page with its overflow, as its head says; 1 if that
// exceeds the file or the head is not valid. The page may be free and hold any bytes.
func Extent(b *bbolt.Tx, id uint64) uint64 {
	s := pagesOf(b)
	if p, err := s.at(id); err == nil {
		return uint64(len(p.bytes) / s.size)
	}
	return 1
}

// newPage verifies the head of b.
func newPage(id uint64, b []byte) (page, error) {
	if len(b) < pageHead {
		return page{}, fmt.Errorf("%w: page %d has %d bytes", record.ErrCorrupt, id, len(b))
	}
	flags, count := binary.NativeEndian.Uint16(b[8:]), int(binary.NativeEndian.Uint16(b[10:]))
	if flags != branchFlag && flags != leafFlag || pageHead+count*elementLen > len(b) || flags == branchFlag && count == 0 {
		return page{}, fmt.Errorf("%w: page %d has kind %d and %d rows", record.ErrCorrupt, id, flags, count)
	}
	return page{id, flags == leafFlag, count, b}, nil
}

// row reads an element: its key; in a leaf its value and flags; in a branch the page
// that it leads to.
func (p page) row(i int) (key, value []byte, child uint64, flags uint32, err error) {
	n, at := binary.NativeEndian, pageHead+i*elementLen
	e := p.bytes[at : at+elementLen]
	var pos, keyLen, valueLen uint64
	if p.leaf {
		flags, pos, keyLen, valueLen = n.Uint32(e), uint64(n.Uint32(e[4:])), uint64(n.Uint32(e[8:])), uint64(n.Uint32(e[12:]))
	} else {
		pos, keyLen, child = uint64(n.Uint32(e)), uint64(n.Uint32(e[4:])), n.Uint64(e[8:])
	}
	from := uint64(at) + pos
	if from < uint64(pageHead+p.count*elementLen) || from+keyLen+valueLen > uint64(len(p.bytes)) {
		return nil, nil, 0, 0, fmt.Errorf("%w: row %d of page %d lies outside it", record.ErrCorrupt, i, p.id)
	}
	return p.bytes[from : from+keyLen], p.bytes[from+keyLen : from+keyLen+valueLen], child, flags, nil
}

// verify verifies every row: keys grow, a leaf holds rows of one kind, a branch leads to pages that
// exist, and the first key is that of the branch's row that leads here: when bbolt rewrites the
// page, it searches its row by that key, and if there is none, the branch keeps a row that leads to
// a free page. A nil first means any.
func (p page) verify(high uint64, kind uint32, first []byte) error {
	var last []byte
	if first != nil && p.count == 0 {
		return fmt.Errorf("%w: page %d has no rows", record.ErrCorrupt, p.id)
	}
	for i := range p.count {
		k, _, child, flags, err := p.row(i)
		switch {
		case err != nil:
			return err
		case p.leaf && flags != kind:
			return fmt.Errorf("%w: row %d of page %d is of kind %d", record.ErrCorrupt, i, p.id, flags)
		case i > 0 && bytes.Compare(last, k) >= 0:
			return fmt.Errorf("%w: keys of page %d are not in order", record.ErrCorrupt, p.id)
		case i == 0 && first != nil && !bytes.Equal(first, k):
			return fmt.Errorf("%w: page %d does not begin with the key that its parent has", record.ErrCorrupt, p.id)
		case !p.leaf && (child < 2 || child >= high):
			return fmt.Errorf("%w: row %d of page %d leads to page %d, of %d", record.ErrCorrupt, i, p.id, child, high)
		}
		last = k
	}
	return nil
}

// find returns the number of the row of a branch that leads to key.
func (p page) find(key []byte) (int, error) {
	from, to := 0, p.count
	for from < to {
		middle := (from + to) / 2
		k, _, _, _, err := p.row(middle)
		if err != nil {
			return 0, err
		}
		if bytes.Compare(k, key) <= 0 {
			from = middle + 1
		} else {
			to = middle
		}
	}
	return max(0, from-1), nil
}

// A Set holds numbers of pages that were verified. Goroutines may share it. The nil
// Set means a new file, whose pages bbolt alone wrote.
type Set []atomic.Uint64

func newSet(high uint64) Set { return make(Set, high/64+1) }

// has reports whether a page is in the set, or was added to the file after it was made.
func (s Set) has(id uint64) bool {
	return id/64 >= uint64(len(s)) || s[id/64].Load()&(1<<(id%64)) != 0
}

// add reports whether the page was not in the set.
func (s Set) add(id uint64) bool {
	return id/64 < uint64(len(s)) && s[id/64].Or(1<<(id%64))&(1<<(id%64)) == 0
}

// Mapping returns the pages of a transaction as they lie in memory.
func Mapping(b *bbolt.Tx) []byte {
	base := b.DB().Info().Data
	start := *(*unsafe.Pointer)(unsafe.Pointer(&base)) // memory that Go does not manage
	return unsafe.Slice((*byte)(start), b.Size())
}

// Offset returns the offset in the file of a value that a read transaction returned; false if it
// does not lie in the mapping.
func Offset(b *bbolt.Tx, value []byte) (offset int64, ok bool) {
	if len(value) == 0 {
		return 0, false
	}
	start := uintptr(unsafe.Pointer(unsafe.SliceData(value)))
	base := b.DB().Info().Data
	if start < base || int64(start-base)+int64(len(value)) > b.Size() {
		return 0, false
	}
	return int64(start - base), true
}
