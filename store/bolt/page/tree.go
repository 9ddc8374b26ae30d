package page

import (
	"encoding/binary"
	"fmt"

	"go.etcd.io/bbolt"

	"pushbox/store/record"
)

// A walk verifies the pages of all buckets, from the root.
type walk struct {
	pages
	seen     Set // pages that a row leads to; no page has two such rows
	verified Set // pages whose rows were verified
	leaves   bool
}

// Verify verifies every page of a transaction: when it returns nil, every path through branches
// ends. Unless leaves is set it skips the leaves with records, which are most of a large file. It
// returns the pages that it verified.
func Verify(b *bbolt.Tx, leaves bool) (Set, error) {
	s := pagesOf(b)
	w := walk{s, newSet(s.high), newSet(s.high), leaves}
	err := w.tree(link{id: uint64(b.Cursor().Bucket().RootPage())}, bucketFlag, 0, true)
	if err == nil {
		err = w.freePages(uint64(b.ID()))
	}
	return w.verified, err
}

// freePages verifies the list of free pages that belongs to a transaction, if the file
// has one: bbolt overwrites the pages in that list, and frees the pages that it lies on.
func (w walk) freePages(txid uint64) error {
	for _, at := range [...]int{0, w.size} {
		h, ok := parseHeader(w.data[at:])
		if !ok || h.txid != txid || h.freelist == noFreelist {
			continue
		}
		free, err := w.listed(h.freelist)
		if err != nil {
			return err
		}
		last := uint64(1)
		for ; len(free) > 0; free = free[8:] {
			id := binary.NativeEndian.Uint64(free)
			if id <= last || id >= w.high || w.seen.has(id) {
				return fmt.Errorf("%w: page %d is in the list of free pages and in use", record.ErrCorrupt, id)
			}
			last = id
		}
	}
	return nil
}

// listed returns the numbers in the list of free pages, which begins on page id.
func (w walk) listed(id uint64) ([]byte, error) {
	bad := fmt.Errorf("%w: page %d is not a list of free pages", record.ErrCorrupt, id)
	if id < 2 || id >= w.high {
		return nil, bad
	}
	n, p := binary.NativeEndian, w.data[id*uint64(w.size):]
	more := uint64(n.Uint32(p[12:]))
	if n.Uint64(p) != id || n.Uint16(p[8:]) != freelistFlag || id+more >= w.high {
		return nil, bad
	}
	count, p := uint64(n.Uint16(p[10:])), p[pageHead:(1+more)*uint64(w.size)]
	if count == manyFree { // their number comes first
		count, p = n.Uint64(p), p[8:]
	}
	if count > uint64(len(p)/8) {
		return nil, bad
	}
	return p[:8*count], nil
}

// tree verifies a page and the pages that it leads to. All leaves of a tree have the same depth, so
// the first child of a branch shows whether the others are leaves.
func (w walk) tree(l link, kind uint32, depth int, read bool) error {
	id := l.id
	if id < w.high && !w.seen.add(id) || depth > maxDepth {
		return fmt.Errorf("%w: two rows lead to page %d", record.ErrCorrupt, id)
	}
	if !read {
		return nil
	}
	p, err := w.at(id)
	if kind == 0 && !w.leaves && (err != nil || p.leaf) {
		return nil // bbolt itself detects that
	}
	if err == nil {
		err = p.verify(w.high, kind, l.key)
	}
	if err != nil {
		return err
	}
	w.verified.add(id)
	if p.leaf {
		return w.buckets(p, kind)
	}
	read, first := true, true
	for i := range p.count {
		child, err := p.link(i)
		if err == nil {
			err = w.tree(child, kind, depth+1, read)
		}
		if err != nil {
			return err
		}
		if first {
			first = false
			read = w.leaves || kind == bucketFlag || binary.NativeEndian.Uint16(w.data[child.id*uint64(w.size)+8:]) == branchFlag
		}
	}
	return nil
}

// buckets verifies the buckets in a leaf. Small ones lie in their row.
func (w walk) buckets(p page, kind uint32) error {
	if kind != bucketFlag {
		return nil
	}
	for i := range p.count {
		_, v, _, _, err := p.row(i)
		if err != nil {
			return err
		}
		if len(v) < bucketHead {
			return fmt.Errorf("%w: a bucket is cut to %d bytes", record.ErrCorrupt, len(v))
		}
		if root := binary.NativeEndian.Uint64(v); root != 0 {
			err = w.tree(link{id: root}, 0, 0, true)
		} else {
			err = w.inline(v[bucketHead:])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// inline verifies a bucket that lies in its row.
func (w walk) inline(b []byte) error {
	p, err := newPage(0, b)
	if err == nil && !p.leaf {
		err = fmt.Errorf("%w: a bucket in its row is not a leaf", record.ErrCorrupt)
	}
	if err != nil {
		return err
	}
	return p.verify(w.high, 0, nil)
}
