package bolt

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"go.etcd.io/bbolt"

	"pushbox/store"
)

// A walk looks at the pages of all buckets, from the top.
type walk struct {
	pages
	seen   pageSet // pages that a row leads to; none has two
	looked pageSet // of them: those whose rows were looked at
	leaves bool    // whether all leaves are read, too
}

// lookAtTrees looks at every page of a transaction, or at all but the leaves with
// records, which are nearly all of a large file. When it returns nil, no way down through
// branches is endless. It returns the pages that were looked at.
func lookAtTrees(b *bbolt.Tx, leaves bool) (pageSet, error) {
	s := pagesOf(b, uint64(b.Size())/uint64(b.DB().Info().PageSize))
	w := walk{s, newPageSet(s.high), newPageSet(s.high), leaves}
	err := w.tree(uint64(b.Cursor().Bucket().RootPage()), bucketFlag, 0, true)
	if err == nil {
		err = w.freePages(uint64(b.ID()))
	}
	return w.looked, err
}

// freePages looks at the list of free pages that goes with a transaction, if there is
// one: bbolt writes over what is in it, and frees the pages that it says it lies on.
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
				return fmt.Errorf("%w: page %d is among the free ones and is not", store.ErrCorrupt, id)
			}
			last = id
		}
	}
	return nil
}

// listed is the numbers on a page that is to be the list of free pages.
func (w walk) listed(id uint64) ([]byte, error) {
	bad := fmt.Errorf("%w: page %d is no list of free pages", store.ErrCorrupt, id)
	if id < 2 || id >= w.high {
		return nil, bad
	}
	n, p := binary.NativeEndian, w.data[id*uint64(w.size):]
	more := uint64(n.Uint32(p[12:]))
	if n.Uint64(p) != id || n.Uint16(p[8:]) != freelistFlag || id+more >= w.high {
		return nil, bad
	}
	count, p := uint64(n.Uint16(p[10:])), p[pageHead:(1+more)*uint64(w.size)]
	if count == manyListed { // there are more, and their number comes first
		count, p = n.Uint64(p), p[8:]
	}
	if count > uint64(len(p)/8) {
		return nil, bad
	}
	return p[:8*count], nil
}

// tree looks at a page and at those that it leads to. Leaves all lie equally
// deep: the first of a branch tells of the others.
func (w walk) tree(id uint64, kind uint32, depth int, read bool) error {
	if id < w.high && !w.seen.add(id) || depth > deepestTree {
		return fmt.Errorf("%w: two rows lead to page %d", store.ErrCorrupt, id)
	}
	if !read {
		return nil
	}
	p, err := w.at(id)
	if kind == 0 && !w.leaves && (err != nil || p.leaf) {
		return nil // what is no page, bbolt sees by itself
	}
	if err == nil {
		err = p.inspect(w.high, kind)
	}
	if err != nil {
		return err
	}
	w.looked.add(id)
	if p.leaf {
		return w.buckets(p, kind)
	}
	read, first := true, true
	for i := range p.count {
		_, _, child, _, err := p.row(i)
		if err == nil {
			err = w.tree(child, kind, depth+1, read)
		}
		if err != nil {
			return err
		}
		if first {
			first = false
			read = w.leaves || kind == bucketFlag || binary.NativeEndian.Uint16(w.data[child*uint64(w.size)+8:]) == branchFlag
		}
	}
	return nil
}

// buckets looks at the buckets that a leaf holds. Small ones lie in their row.
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
			return fmt.Errorf("%w: a bucket is cut to %d bytes", store.ErrCorrupt, len(v))
		}
		if root := binary.NativeEndian.Uint64(v); root != 0 {
			err = w.tree(root, 0, 0, true)
		} else {
			err = w.inline(v[bucketHead:])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// inline looks at a bucket that lies in its row.
func (w walk) inline(b []byte) error {
	p, err := newPage(0, b)
	if err == nil && !p.leaf {
		err = fmt.Errorf("%w: a bucket in its row is no leaf", store.ErrCorrupt)
	}
	if err != nil {
		return err
	}
	return p.inspect(w.high, 0)
}

// A span is the keys of a leaf: from one, to before another; nil has no end there.
type span struct {
	known    bool
	from, to []byte
}

func (s *span) has(key []byte) bool {
	return s.known && bytes.Compare(s.from, key) <= 0 && (s.to == nil || bytes.Compare(key, s.to) < 0)
}

// inspect looks at the leaf that a row is in, or would be, before bbolt reads all of
// it to write it anew; and at those beside it, with which bbolt may join it. What
// was looked at, and what was written since, need not be looked at again: rows that
// come side by side find their leaf without going down to it.
func (t *tx) inspect(b bucket, key []byte, beside bool) error {
	if t.handle == nil || len(t.handle.looked) == 0 || !beside && t.handle.sound[b].has(key) {
		return nil
	}
	id, leaf := uint64(t.bucket(b).RootPage()), span{known: true}
	var left, right uint64 // the pages beside it; 0: none, or nobody asks
	s := pagesOf(t.bolt, uint64(t.bolt.Size())/uint64(t.bolt.DB().Info().PageSize))
	for range deepestTree {
		if id == 0 { // it lies in a row of another page, which was looked at
			return nil
		}
		p, err := t.handle.inspectOnce(s, id)
		for _, side := range [...]uint64{left, right} {
			if err == nil && side != 0 {
				_, err = t.handle.inspectOnce(s, side)
			}
		}
		if err != nil {
			return err
		}
		if p.leaf {
			t.handle.sound[b] = span{true, bytes.Clone(leaf.from), bytes.Clone(leaf.to)}
			return nil
		}
		i, err := p.find(key)
		if err == nil && beside {
			left, right, err = s.asides(p, i, left, right)
		}
		if err == nil {
			id, err = leaf.narrow(p, i)
		}
		if err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: %s is too deep", store.ErrCorrupt, b)
}

// narrow narrows the span to what row i of a branch leads to, and returns that page.
func (s *span) narrow(p page, i int) (child uint64, err error) {
	k, _, child, _, err := p.row(i)
	if i > 0 {
		s.from = k
	}
	if err == nil && i+1 < p.count {
		s.to, _, _, _, err = p.row(i + 1)
	}
	return child, err
}

// asides are the pages beside the one that row i of a branch leads to, where left and
// right are those beside the branch, which have been looked at.
func (s pages) asides(p page, i int, left, right uint64) (before, behind uint64, err error) {
	if before, err = s.aside(p, i-1, left, true); err == nil {
		behind, err = s.aside(p, i+1, right, false)
	}
	return before, behind, err
}

// aside is the page that row n of a branch leads to, or if there is no such row, the
// last or first one of the branch beside it.
func (s pages) aside(p page, n int, branch uint64, last bool) (id uint64, err error) {
	if n < 0 || n >= p.count {
		if branch == 0 {
			return 0, nil
		}
		if p, err = s.at(branch); err != nil || p.leaf {
			return 0, err
		}
		n = 0
		if last {
			n = p.count - 1
		}
	}
	_, _, id, _, err = p.row(n)
	return id, err
}

// inspectOnce looks at a page unless that was done, and returns it.
func (h *handle) inspectOnce(s pages, id uint64) (page, error) {
	p, err := s.at(id)
	if err != nil || h.looked.has(id) {
		return p, err
	}
	if err := p.inspect(s.high, 0); err != nil {
		return page{}, err
	}
	h.looked.add(id)
	return p, nil
}
