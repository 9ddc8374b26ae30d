package store

import (
	"context"
	"crypto/subtle"
	"time"

	"pushbox/internal/secret"
	"pushbox/store/record"
	"pushbox/store/seal"
)

// A PushEdit has new limits of a push, and new words for its owner. A nil field stays as it is.
type PushEdit struct {
	Days  *int // counted from its creation
	Views *int // all views, with those already counted

	Name, Note *secret.Text
}

// EditPush changes limits, name and note of a live push and returns it. The new limits must be
// within the terms of its kind, end in the future, and leave a view. Grants for its files end no
// later than the push. A push that has expired does not change, which is no error.
//
// Errors: ErrNotFound; ErrDenied for everyone but the owner; *InvalidError; ErrClock
// while the clock is in doubt.
func (s *Store) EditPush(ctx context.Context, by Actor, n Name, e PushEdit) (PushInfo, error) {
	return sealing(ctx, s, func(ctx context.Context) (PushInfo, error) { return s.editPush(ctx, by, n, e) })
}

func (s *Store) editPush(ctx context.Context, by Actor, n Name, e PushEdit) (PushInfo, error) {
	id, err := s.idFor(ctx, by, n)
	if err != nil {
		return PushInfo{}, err
	}
	at := s.time.Read()
	if at.Jumped {
		return PushInfo{}, record.ErrClock
	}
	policy, err := s.PolicyOf(ctx, by)
	if err != nil {
		return PushInfo{}, err
	}
	if err := s.mayGrow(ctx, by, id, e, policy); err != nil {
		return PushInfo{}, err
	}
	c, err := s.change(ctx, id, editRule(by, at, s.sealActor(id, by), policy.Terms, e, s.rename))
	return PushInfo{Push: c.Push, At: at.Now, Token: n.token()}, err
}

// mayGrow returns a *RoomError if the account has no room for longer words. Concurrent edits
// together may exceed the room by the length that they add.
func (s *Store) mayGrow(ctx context.Context, by Actor, id record.ID, e PushEdit, policy Policy) error {
	if e.Name == nil && e.Note == nil {
		return nil
	}
	p, err := s.push(ctx, id)
	if err != nil || !p.Live() || !ownedBy(p, by) { // the rule refuses or ignores such an edit
		return err
	}
	d, err := s.openDetails(p)
	if err != nil {
		return err
	}
	more := 0
	if e.Name != nil {
		more += e.Name.Len() - d.name.Len()
	}
	if e.Note != nil {
		more += e.Note.Len() - d.note.Len()
	}
	if more <= 0 {
		return nil
	}
	return s.hasRoom(ctx, p, record.Room{Bytes: int64(more)}, policy.Room)
}

// rename returns the sealed details of a push with the words of the edit, and whether they changed.
func (s *Store) rename(p record.Push, e PushEdit) (sealed []byte, changed bool, err error) {
	if e.Name == nil && e.Note == nil {
		return p.Details, false, nil
	}
	d, err := s.openDetails(p)
	next := d
	if e.Name != nil {
		next.name = *e.Name
	}
	if e.Note != nil {
		next.note = *e.Note
	}
	if err != nil || next.name.Reveal() == d.name.Reveal() && next.note.Reveal() == d.note.Reveal() {
		return p.Details, false, err
	}
	return next.seal(s.ring.Load(), p.ID), true, nil
}

// ThawPush lets a push that wrong passphrases have frozen be opened again, and returns it. A push
// that is not frozen, or has expired, does not change, which is no error.
//
// Errors: ErrNotFound; ErrDenied for everyone but the sender, who is the owner or has the code of the
// receipt; ErrClock while the clock is in doubt.
func (s *Store) ThawPush(ctx context.Context, by Actor, n Name) (PushInfo, error) {
	return sealing(ctx, s, func(ctx context.Context) (PushInfo, error) { return s.thawPush(ctx, by, n) })
}

func (s *Store) thawPush(ctx context.Context, by Actor, n Name) (PushInfo, error) {
	id, err := s.idFor(ctx, by, n)
	if err != nil {
		return PushInfo{}, err
	}
	at := s.time.Read()
	c, err := s.change(ctx, id, thawRule(by, at, s.sealActor(id, by)))
	return PushInfo{Push: c.Push, At: at.Now, Token: n.token()}, err
}

// A History is a push as its owner sees it, with a page of its audit log.
type History struct {
	PushInfo
	Log         []LogEntry  // oldest first; PushInfo.Seq counts all entries
	Asked       secret.Text // the title of the request that the push answers; empty: it answers none, or the request is gone
	Summary     *Summary    // nil: the log has more than MaxSummed entries
	Days, Views Range       // what EditPush accepts; the defaults are the limits in force
}

// MaxSummed is how many entries a log may have to get a Summary.
const MaxSummed = 500

// A Summary sums up an audit log.
type Summary struct {
	Opened      int       // by recipients
	First, Last time.Time // of these views; zero: there was none
	Addresses   int       // number of different clients
	Guesses     int       // wrong passphrases
}

func sumUp(log []LogEntry) *Summary {
	var s Summary
	addresses := make(map[string]bool)
	for _, e := range log {
		switch e.Kind {
		case record.EntryView:
			if s.Opened++; s.Opened == 1 {
				s.First = e.At
			}
			s.Last = e.At
			addresses[e.IP] = true
		case record.EntryFailedPassphrase, record.EntryFreeze:
			s.Guesses++
		}
	}
	s.Addresses = len(addresses)
	return &s
}

// History returns a push with a page, from 1, of its audit log. ErrNotFound; ErrDenied
// for everyone but the owner.
func (s *Store) History(ctx context.Context, by Actor, n Name, page int) (History, error) {
	p, err := s.findFor(ctx, by, n)
	if err != nil {
		return History{}, err
	}
	if !ownedBy(p, by) {
		return History{}, record.ErrDenied
	}
	at := s.time.Read()
	if p, err = s.ended(ctx, p, at); err != nil {
		return History{}, err
	}
	d, err := s.openDetails(p)
	if err != nil {
		return History{}, err
	}
	h := History{PushInfo: PushInfo{Push: p, At: at.Now, Token: n.token(), Name: d.name, Note: d.note}}
	if h.Asked, err = s.asked(ctx, p); err != nil {
		return History{}, err
	}
	policy, err := s.PolicyOf(ctx, by)
	if err != nil {
		return History{}, err
	}
	h.Days, h.Views = editBounds(p, termsOf(policy.Terms, p.Kind, p.HoldsFiles()), at)
	skip := (page - 1) * PageSize
	if p.Seq > MaxSummed {
		h.Log, err = s.entries(ctx, p, skip, PageSize)
		return h, err
	}
	whole, err := s.entries(ctx, p, 0, MaxSummed)
	h.Summary = sumUp(whole)
	h.Log = whole[min(skip, len(whole)):min(skip+PageSize, len(whole))]
	return h, err
}

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

// Receipt returns a push for its sender, with a page, from 1, of its audit log. Only the owner sees
// its name and its note. ErrNotFound if there is no such push, or the actor is not its sender.
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

// MaxMinorEntries is how many minor audit entries a push keeps. Clients can cause such entries
// without using up the push.
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
