package bolt

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"unsafe"

	"go.etcd.io/bbolt"

	"pushbox/store"
)

// How bbolt lays out the other pages, in the machine's byte order: a head, then an
// element for each row, then keys and values. See internal/common/page.go of
// bbolt. It believes what it reads: a page that leads back to itself takes its
// stack away, a wrong length gigabytes, and neither can be recovered from.
const (
	pageHead   = 16
	elementLen = 16
	branchFlag = 1
	leafFlag   = 2
	bucketFlag = 1 // of a row that is a bucket

	freelistFlag = 16
	manyListed   = 1<<16 - 1 // in place of a number of free pages
	bucketHead   = 16
	deepestTree  = 32 // levels; two rows a page would do for more than there can be
)

// pages are the pages of a transaction, looked at without trust.
type pages struct {
	data []byte
	size int    // of a page
	high uint64 // the first page that was never used
}

// A page has bounds that were looked at.
type page struct {
	id    uint64
	leaf  bool
	count int
	bytes []byte // with all of the pages that it goes on in
}

// pagesOf are the pages of a transaction, as of the last commit.
func pagesOf(b *bbolt.Tx, high uint64) pages {
	info := b.DB().Info()
	base := info.Data
	start := *(*unsafe.Pointer)(unsafe.Pointer(&base)) // memory that Go knows nothing of
	return pages{unsafe.Slice((*byte)(start), high*uint64(info.PageSize)), info.PageSize, high}
}

// at looks at the head of a page.
func (s pages) at(id uint64) (page, error) {
	if id < 2 || id >= s.high {
		return page{}, fmt.Errorf("%w: a row leads to page %d, of %d", store.ErrCorrupt, id, s.high)
	}
	b := s.data[id*uint64(s.size):]
	n := binary.NativeEndian
	more := uint64(n.Uint32(b[12:]))
	if own := n.Uint64(b); own != id || id+more >= s.high {
		return page{}, fmt.Errorf("%w: page %d says that it is page %d, with %d more, of %d", store.ErrCorrupt, id, own, more, s.high)
	}
	return newPage(id, b[:(1+more)*uint64(s.size)])
}

// newPage looks at the head of what is to be a page.
func newPage(id uint64, b []byte) (page, error) {
	if len(b) < pageHead {
		return page{}, fmt.Errorf("%w: page %d has %d bytes", store.ErrCorrupt, id, len(b))
	}
	flags, count := binary.NativeEndian.Uint16(b[8:]), int(binary.NativeEndian.Uint16(b[10:]))
	if flags != branchFlag && flags != leafFlag || pageHead+count*elementLen > len(b) || flags == branchFlag && count == 0 {
		return page{}, fmt.Errorf("%w: page %d has kind %d and %d rows", store.ErrCorrupt, id, flags, count)
	}
	return page{id, flags == leafFlag, count, b}, nil
}

// row is what an element says: the key, the value of a leaf, the child of a
// branch, and the flags of a leaf.
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
		return nil, nil, 0, 0, fmt.Errorf("%w: row %d of page %d lies outside it", store.ErrCorrupt, i, p.id)
	}
	return p.bytes[from : from+keyLen], p.bytes[from+keyLen : from+keyLen+valueLen], child, flags, nil
}

// inspect looks at every row: keys grow, a leaf holds rows of one kind, and a branch
// leads to pages that there are.
func (p page) inspect(high uint64, kind uint32) error {
	var last []byte
	for i := range p.count {
		k, _, child, flags, err := p.row(i)
		switch {
		case err != nil:
			return err
		case p.leaf && flags != kind:
			return fmt.Errorf("%w: row %d of page %d is of kind %d", store.ErrCorrupt, i, p.id, flags)
		case i > 0 && bytes.Compare(last, k) >= 0:
			return fmt.Errorf("%w: keys of page %d are not in order", store.ErrCorrupt, p.id)
		case !p.leaf && (child < 2 || child >= high):
			return fmt.Errorf("%w: row %d of page %d leads to page %d, of %d", store.ErrCorrupt, i, p.id, child, high)
		}
		last = k
	}
	return nil
}

// find is the number of the row of a branch that leads on to key.
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

// A pageSet is pages of a file, by number. The zero pageSet has none, and takes
// none.
type pageSet []atomic.Uint64

func newPageSet(high uint64) pageSet { return make(pageSet, high/64+1) }

func (s pageSet) has(id uint64) bool {
	return id/64 >= uint64(len(s)) || s[id/64].Load()&(1<<(id%64)) != 0
}

// add reports whether the page was not in the set.
func (s pageSet) add(id uint64) bool {
	return id/64 < uint64(len(s)) && s[id/64].Or(1<<(id%64))&(1<<(id%64)) == 0
}
