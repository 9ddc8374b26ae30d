package store

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"

	"pushbox/store/seal"
)

// A ReceiptDigest is the digest of the code of a receipt. The code shows that a caller is the
// sender of a push, also of one without an owner; a link does not lead to it.
type ReceiptDigest [sha256.Size]byte

// IsZero reports whether there is no receipt.
func (d ReceiptDigest) IsZero() bool { return d == ReceiptDigest{} }

// sentBy reports whether the actor is the push's owner, or has the code of its receipt.
func (p Push) sentBy(a Actor) bool {
	if p.ownedBy(a) {
		return true
	}
	if p.Receipt.IsZero() || a.ReceiptCode.IsZero() {
		return false
	}
	d := seal.Digest(a.ReceiptCode)
	return subtle.ConstantTimeCompare(d[:], p.Receipt[:]) == 1
}

// Receipt returns a push for its sender, with a page, from 1, of its audit log. Its name and
// its note are there for the owner alone. ErrNotFound if there is no such push, or the actor is not
// its sender.
func (s *Store) Receipt(ctx context.Context, by Actor, t Token, page int) (History, error) {
	p, err := s.find(ctx, t)
	if err != nil {
		return History{}, err
	}
	if !p.sentBy(by) {
		return History{}, ErrNotFound
	}
	at := s.time.Read()
	if p, err = s.ended(ctx, p, at); err != nil {
		return History{}, err
	}
	h := History{PushInfo: PushInfo{Push: p, At: at.Now, Token: t}}
	if p.ownedBy(by) {
		d, err := s.openDetails(p)
		if err != nil {
			return History{}, err
		}
		h.Name, h.Note = d.name, d.note
	}
	h.Log, err = s.entries(ctx, p, (page-1)*PageSize, PageSize)
	return h, err
}
