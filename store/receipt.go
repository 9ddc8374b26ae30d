package store

import (
	"context"
	"crypto/subtle"
	"time"

	"pushbox/internal/secret"
	"pushbox/store/record"
	"pushbox/store/seal"
)

// sentBy reports whether the actor is the push's owner, or has the code of its receipt.
func sentBy(p record.Push, a Actor) bool {
	if ownedBy(p, a) {
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
	if !sentBy(p, by) {
		return History{}, record.ErrNotFound
	}
	at := s.time.Read()
	if p, err = s.ended(ctx, p, at); err != nil {
		return History{}, err
	}
	h := History{PushInfo: PushInfo{Push: p, At: at.Now, Token: t}}
	if ownedBy(p, by) {
		d, err := s.openDetails(p)
		if err != nil {
			return History{}, err
		}
		h.Name, h.Note = d.name, d.note
	}
	h.Log, err = s.entries(ctx, p, (page-1)*PageSize, PageSize)
	return h, err
}

// MaxMinorEntries is how many minor audit entries a push keeps: those that callers can
// cause without using it up.
const MaxMinorEntries = 2000

// LogEntry is an opened line of an audit log.
type LogEntry struct {
	Kind      record.EntryKind
	At        time.Time
	IP        string
	UserAgent string      // at most 255 characters
	Referrer  secret.Text // at most 255 characters; it may hold a link

	Recipients secret.Text      // of EntryMail: addresses, separated by commas
	Request    record.RequestID // of EntryCreation: the request that the push answers; zero: none
}
