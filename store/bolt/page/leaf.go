package page

import (
	"bytes"
	"fmt"

	"go.etcd.io/bbolt"

	"pushbox/store/record"
)

// A Range is the keys of a leaf: from one key up to another, exclusive; nil means unbounded. The
// zero Range holds no key.
type Range struct {
	known    bool
	from, to []byte
}

func (r *Range) has(key []byte) bool {
	return r.known && bytes.Compare(r.from, key) <= 0 && (r.to == nil || bytes.Compare(key, r.to) < 0)
}

// Leaves are the ranges of the last verified leaves of a bucket: one without and one with siblings.
// They differ, since replaced rows and deleted rows lie in different places. The range with
// siblings is valid for one transaction: when bbolt commits it joins leaves, which then have other
// siblings.
type Leaves struct {
	alone, joined Range
	txid          int // of joined
}

// VerifyLeaf verifies the leaf of a bucket that holds a key, or would hold it, before
// bbolt reads all of that leaf to write it anew. With siblings it verifies the leaves
// beside it, too: bbolt may join a leaf with them when a row is deleted. Pages in the
// set, and pages written since the set was made, are not verified again.
//
// Each bucket of a file has Leaves, so that keys in order need no search from the root.
func (s Set) VerifyLeaf(bucket *bbolt.Bucket, key []byte, siblings bool, leaves *Leaves) error {
	last := &leaves.alone
	if siblings {
		last = &leaves.joined
		if txid := bucket.Tx().ID(); leaves.txid != txid {
			leaves.joined, leaves.txid = Range{}, txid
		}
	}
	if len(s) == 0 || last.has(key) {
		return nil
	}
	leaf := Range{known: true}
	own := link{id: uint64(bucket.RootPage())}
	var left, right link // the siblings
	all := pagesOf(bucket.Tx())
	for range maxDepth {
		if own.id == 0 { // the bucket lies in a row of another page, which is verified
			return nil
		}
		p, err := s.once(all, own)
		for _, sibling := range [...]link{left, right} {
			if err == nil && sibling.id != 0 {
				_, err = s.once(all, sibling)
			}
		}
		if err != nil {
			return err
		}
		if p.leaf {
			*last = Range{true, bytes.Clone(leaf.from), bytes.Clone(leaf.to)}
			return nil
		}
		i, err := p.find(key)
		if err == nil && siblings {
			left, right, err = all.siblings(p, i, left, right)
		}
		if err == nil {
			own, err = leaf.narrow(p, i)
		}
		if err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: a tree has more than %d levels", record.ErrCorrupt, maxDepth)
}

// A link is a row of a branch: it leads to a page by the first key of that page. The zero link
// means no page, or one that need not be verified; the link to the root of a bucket has no key.
type link struct {
	id  uint64
	key []byte
}

// link returns row i of a branch.
func (p page) link(i int) (link, error) {
	k, _, child, _, err := p.row(i)
	return link{child, k}, err
}

// narrow narrows the range to the keys below row i of a branch, and returns that row.
func (r *Range) narrow(p page, i int) (link, error) {
	l, err := p.link(i)
	if i > 0 {
		r.from = l.key
	}
	if err == nil && i+1 < p.count {
		r.to, _, _, _, err = p.row(i + 1)
	}
	return l, err
}

// siblings returns the links to the pages before and after the page that row i of a branch leads
// to. left and right are the siblings of the branch, which have been verified.
func (s pages) siblings(p page, i int, left, right link) (before, behind link, err error) {
	if before, err = s.sibling(p, i-1, left, true); err == nil {
		behind, err = s.sibling(p, i+1, right, false)
	}
	return before, behind, err
}

// sibling returns row n of a branch. If the branch has no such row, it returns the last or the
// first row of the neighbouring branch.
func (s pages) sibling(p page, n int, branch link, last bool) (l link, err error) {
	if n < 0 || n >= p.count {
		if branch.id == 0 {
			return link{}, nil
		}
		if p, err = s.at(branch.id); err != nil || p.leaf {
			return link{}, err
		}
		n = 0
		if last {
			n = p.count - 1
		}
	}
	return p.link(n)
}

// once verifies the page that a link leads to unless it is in the set, and returns it.
func (s Set) once(all pages, l link) (page, error) {
	p, err := all.at(l.id)
	if err != nil || s.has(l.id) {
		return p, err
	}
	if err := p.verify(all.high, 0, l.key); err != nil {
		return page{}, err
	}
	s.add(l.id)
	return p, nil
}
