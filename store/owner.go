package store

import (
	"context"
	"crypto/ed25519"
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
	h := History{PushInfo: PushInfo{Push: p, At: at.Now, Token: n.token(), Name: d.name, Note: d.note, Networks: d.access.networks, Recipient: d.access.recipient}}
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
	d, err := s.openDetails(p)
	if err != nil {
		return History{}, err
	}
	if h.Networks = d.access.networks; ownedBy(p, by) {
		h.Name, h.Note, h.Recipient = d.name, d.note, d.access.recipient
	}
	h.Log, err = s.entries(ctx, p, (page-1)*PageSize, PageSize)
	return h, err
}

// An EndCause says what ended a push.
type EndCause string

// The causes. The names are in certificates.
const (
	EndedByViews  EndCause = "view_limit"
	EndedByTime   EndCause = "time_limit"
	EndedByDelete EndCause = "deleted"
)

// An End is what is known of the end of a push, once nothing more of it is left to erase.
type End struct {
	PushInfo // without name and note
	Cause    EndCause
	ErasedAt time.Time // when its pages in the file were known to be overwritten; zero: the engine has no file of its own
}

// Bounds of the wait for erasure, for a request and until the next one.
const (
	erasureWait  = 2 * time.Second
	erasureRetry = 5 * time.Second
)

// End returns what is known of the end of a push, for its sender. memory is how long a copy of the
// last view may stay in memory.
//
// Errors: ErrNotFound; ErrDenied for everyone but the sender; ErrLive; an *ErasingError if it is
// not all gone yet, or not known to be.
func (s *Store) End(ctx context.Context, by Actor, n Name, memory time.Duration) (End, error) {
	p, err := s.findFor(ctx, by, n)
	if err != nil {
		return End{}, err
	}
	if !sentBy(p, by) {
		return End{}, record.ErrDenied
	}
	at := s.time.Read()
	if p, err = s.ended(ctx, p, at); err != nil {
		return End{}, err
	}
	e := End{PushInfo: PushInfo{Push: p, At: at.Now, Token: n.token()}, Cause: EndedByViews}
	switch {
	case p.Live():
		return End{}, record.ErrLive
	case p.State == record.Deleted:
		e.Cause = EndedByDelete
	case p.ExpiredAt.Equal(p.ExpiresAt):
		e.Cause = EndedByTime
	}
	e.ErasedAt, err = s.erased(ctx, e, memory)
	return e, err
}

// erased returns when the file was known to hold nothing more of a push that has ended.
func (s *Store) erased(ctx context.Context, e End, memory time.Duration) (time.Time, error) {
	if left := e.ExpiredAt.Add(memory).Sub(e.At); e.Cause == EndedByViews && left > 0 {
		return time.Time{}, &record.ErasingError{RetryAfter: left}
	}
	if e.HoldsFiles() {
		return time.Time{}, &record.ErasingError{RetryAfter: max(e.FilesEnd().Sub(e.At), erasureRetry)}
	}
	before := e.ID
	for i := len(before) - 1; i >= 0; i-- { // the number before that of the push
		if before[i]--; before[i] != 0xff {
			break
		}
	}
	chunks, err := s.engine.Orphans(ctx, before, 1)
	if err != nil {
		return time.Time{}, err
	}
	if len(chunks) > 0 && chunks[0] == e.ID {
		return time.Time{}, &record.ErasingError{RetryAfter: erasureRetry}
	}
	_, payload, err := s.engine.Push(ctx, e.ID)
	switch {
	case err != nil:
		return time.Time{}, err
	case payload > 0 || e.Wrap != nil || e.Link != nil || e.WrappedKey != nil: // the record breaks a promise
		return time.Time{}, damaged(e.ID, "end")
	case s.file == nil:
		return time.Time{}, nil
	}
	waiting, cancel := context.WithTimeout(ctx, erasureWait)
	defer cancel()
	if err := s.file.AwaitErased(waiting, e.ID); err != nil {
		if waiting.Err() != nil && ctx.Err() == nil {
			err = &record.ErasingError{RetryAfter: erasureRetry}
		}
		return time.Time{}, err
	}
	return s.time.Read().Now, nil
}

// Certify signs a certificate with the key of this store, and returns the public key, too.
func (s *Store) Certify(message []byte) (signature []byte, public ed25519.PublicKey) {
	return s.ring.Load().Certify(message)
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

	Recipients secret.Text      // of EntryMail: addresses, separated by commas; of a view: the mailbox that was proved, if the push asks for one
	Request    record.RequestID // of EntryCreation: the request that the push answers; zero: none
}
