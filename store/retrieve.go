package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"pushbox/internal/secret"
	"pushbox/store/clock"
	"pushbox/store/record"
	"pushbox/store/seal"
)

// A Reserve reserves the memory for an answer with a payload, before a view is counted. It runs
// once, outside of transactions, with the kind of the push and the length of its sealed payload in
// bytes, which is slightly more than the payload's; 0 if there is none. If it returns an error, the
// operation ends and no view is counted. A nil Reserve reserves nothing.
type Reserve func(k record.Kind, payload int64) error

// Retrieve returns the payload of a push to a caller with its link, and counts a view
// unless the caller is the owner. The view is durable when Retrieve returns. A push
// that has expired comes back without a payload, which is no error; its owner may name
// it by its Handle.
//
// Errors: ErrNotFound; ErrNetwork as of Admits; a *PassphraseError if the passphrase is wrong or missing;
// ErrLocked after too many wrong ones, ErrFrozen after too many in all; ErrBusy if too many
// wait to be checked; an *EarlyError if the push cannot be opened yet, whatever the passphrase;
// ErrClock if a jump of the clock leaves open whether the push has expired, or can be opened, or
// when its first view ends it; ErrRecipient, before anything else of a live push is looked at, unless
// Actor.Mailbox proves the mailbox that it names; and the error of reserve.
func (s *Store) Retrieve(ctx context.Context, by Actor, n Name, passphrase secret.Text, reserve Reserve) (PushInfo, error) {
	p, size, err := s.sizedFor(ctx, by, n)
	if err != nil {
		return PushInfo{}, err
	}
	return s.retrieve(ctx, by, opening{p, n.token(), passphrase, size, reserve})
}

// Reveal is Retrieve for a page, which also shows the views before this one. It reads
// them first, since nothing may fail once a view is counted.
func (s *Store) Reveal(ctx context.Context, by Actor, t Token, passphrase secret.Text, reserve Reserve) (Viewing, error) {
	p, size, err := s.sized(ctx, t)
	if err != nil {
		return Viewing{}, err
	}
	before, err := s.views(ctx, p)
	if err != nil {
		return Viewing{}, err
	}
	info, err := s.retrieve(ctx, by, opening{p, t, passphrase, size, reserve})
	if err != nil {
		return Viewing{}, err
	}
	before.Count = info.Views // other views may have been counted since the history was read
	if info.Live() && !ownedBy(info.Push, by) {
		before.Count-- // this one
	}
	return Viewing{PushInfo: info, Before: before}, nil
}

// sized returns a push, and the length of its sealed payload in bytes.
func (s *Store) sized(ctx context.Context, t Token) (p record.Push, payload int, err error) {
	if t.IsZero() {
		return record.Push{}, 0, record.ErrNotFound
	}
	return s.engine.Push(ctx, s.id(t))
}

// sizedFor is sized for any name that a caller gave. A push that is named by its handle has no
// payload.
func (s *Store) sizedFor(ctx context.Context, by Actor, n Name) (p record.Push, payload int, err error) {
	if t, ok := n.(Token); ok {
		return s.sized(ctx, t)
	}
	p, err = s.findFor(ctx, by, n)
	return p, 0, err
}

// An opening is a push as it was found, with what the caller gave to open it.
type opening struct {
	push       record.Push
	token      Token
	passphrase secret.Text
	payload    int // bytes, sealed
	reserve    Reserve
}

func (s *Store) retrieve(ctx context.Context, by Actor, o opening) (PushInfo, error) {
	if o.reserve != nil {
		if err := o.reserve(o.push.Kind, int64(o.payload)); err != nil {
			return PushInfo{}, err
		}
	}
	return sealing(ctx, s, func(ctx context.Context) (PushInfo, error) { return s.view(ctx, by, o) })
}

// view is the part of retrieve after the reservation.
func (s *Store) view(ctx context.Context, by Actor, o opening) (info PushInfo, err error) {
	err = s.asRecipient(ctx, by, o.push, func(proved ...string) (err error) {
		info, err = s.viewAs(ctx, by, o, proved)
		return err
	})
	return info, err
}

// viewAs is view for a caller that may open the push. proved is the mailbox that the log shows, if any.
func (s *Store) viewAs(ctx context.Context, by Actor, o opening, proved []string) (PushInfo, error) {
	p, t := o.push, o.token
	dek, err := s.unwrap(ctx, by, p, t, o.passphrase)
	if err != nil {
		return PushInfo{}, err
	}
	at := s.time.Read() // read only now: the passphrase may have waited in a queue
	files, err := s.issue(p, dek, at)
	if err != nil {
		return PushInfo{}, err
	}
	c, err := s.change(ctx, p.ID, retrieveRule(by, at, s.sealActor(p.ID, by, proved...), files.issue))
	if err != nil {
		return PushInfo{}, err
	}
	info := PushInfo{Push: c.Push, At: at.Now, Token: t}
	if c.Entry.Kind == record.EntryFailedView {
		return info, nil
	}
	if info.Payload, err = dek.OpenPayload(p.ID[:], byte(p.Kind), c.Payload); err != nil {
		return PushInfo{}, damaged(p.ID, "payload")
	}
	info.Files, info.Grant = files.infos, files.token
	info.State, info.ExpiredAt = record.Live, p.ExpiredAt // as when it was delivered
	if p.Protected {
		info.Mark = s.newMark(by, pushSubject(p.ID))
	}
	return info, nil
}

// change has the engine change a push, wakes the sender of messages, and ends the
// downloads of files that the push no longer holds, whose space the next sweep frees.
func (s *Store) change(ctx context.Context, id record.ID, r record.Rule) (record.Change, error) {
	return sealing(ctx, s, func(ctx context.Context) (record.Change, error) {
		r, n := s.notify(r)
		w := s.news()
		held := false
		run := func(p record.Push) (record.Push, record.Entry, error) {
			held = p.HoldsFiles()
			next, e, err := r(p)
			if err == nil {
				err = w.about(p, next, &e)
			}
			return next, e, err
		}
		c, err := s.engine.Change(ctx, id, run)
		if errors.Is(err, errOwner) {
			if err = w.ask(ctx); err == nil {
				c, err = s.engine.Change(ctx, id, run)
			}
		}
		n.end(c, err)
		w.end(c, err)
		if err == nil && (!c.Push.HoldsFiles() || c.Push.State == record.Purged) {
			s.downloads.end(id)
			if held {
				signal(s.orphaned)
			}
		}
		return c, err
	})
}

// OrphansChanged returns a channel that has a value when a push has released its files.
// A sweep then frees their space, and need not wait for its time.
func (s *Store) OrphansChanged() <-chan struct{} { return s.orphaned }

// issued has the grant that a retrieval delivers beside the payload.
type issued struct {
	infos []FileInfo
	token secret.Text
	issue *record.NewGrant // nil: there are no files
}

// issue makes the grant for the files of a push, if it holds any.
func (s *Store) issue(p record.Push, dek seal.DEK, at clock.Instant) (i issued, err error) {
	if dek.IsZero() || !p.HoldsFiles() {
		return issued{}, nil
	}
	if at.Jumped { // a view must not be used up for a grant whose end is unknown
		return issued{}, record.ErrClock
	}
	key := dek.FilesKey()
	if i.infos, err = openFiles(p, key); err != nil {
		return issued{}, err
	}
	i.token = seal.NewGrantToken()
	i.issue = newGrant(p, at, s.options().Files.Window)
	i.issue.Digest = seal.Digest(i.token)
	i.issue.Sealed = s.ring.Load().SealGrant(at.Now, p.ID[:], i.token, key)
	return i, nil
}

// unwrap opens the key of a push. If the push has expired, it returns no key and needs
// no passphrase.
func (s *Store) unwrap(ctx context.Context, by Actor, p record.Push, t Token, passphrase secret.Text) (dek seal.DEK, err error) {
	if over, err := s.over(p); over || err != nil {
		return dek, err
	}
	open := func(p record.Push) (err error) {
		dek, err = s.ring.Load().OpenWrap(p.Wrap, p.ID[:], t.Text, passphrase)
		return err
	}
	if p.Protected {
		err = s.tryPassphrase(ctx, by, p, passphrase, open)
	} else {
		err = open(p)
	}
	if errors.Is(err, seal.ErrOpen) {
		return dek, damaged(p.ID, "key")
	}
	return dek, err
}

// over reports whether a push has ended, even if that is not recorded yet. ErrClock if that is in
// doubt; an *EarlyError if the push cannot be opened yet.
func (s *Store) over(p record.Push) (bool, error) {
	err := endOrEarly(&p, s.time.Read())
	return err == nil && !p.Live(), err
}

// maxLastViews bounds the times in a ViewHistory.
const maxLastViews = 5

// A ViewHistory is the number of views of a push, and the times of the latest.
type ViewHistory struct {
	Count int
	Last  []time.Time // at most five, the latest first
}

// A Viewing is a push that Look or Reveal returned, with the views before that.
type Viewing struct {
	PushInfo
	Before ViewHistory
	Sender Sender // only from Look; zero: recipients see none
}

// Look returns a push without its payload, for a page that may say that it has expired. If its time
// is over, that is durable when Look returns; otherwise Look writes nothing. ErrNotFound, and any
// error of a write.
func (s *Store) Look(ctx context.Context, t Token) (Viewing, error) {
	p, err := s.find(ctx, t)
	if err != nil {
		return Viewing{}, err
	}
	at := s.time.Read()
	if p, err = s.ended(ctx, p, at); err != nil {
		return Viewing{}, err
	}
	before, err := s.views(ctx, p)
	if err != nil {
		return Viewing{}, err
	}
	sender, err := s.sender(ctx, p)
	if err != nil {
		return Viewing{}, err
	}
	to, err := s.recipientOf(p)
	return Viewing{PushInfo{Push: p, At: at.Now, Token: t, Named: to != ""}, before, sender}, err
}

// views reads the view history of a push from its audit log, page by page from the end.
// Most pushes need at most one page.
func (s *Store) views(ctx context.Context, p record.Push) (ViewHistory, error) {
	h := ViewHistory{Count: p.Views}
	for end := int(p.Seq); end > 0 && len(h.Last) < min(h.Count, maxLastViews); end -= PageSize {
		from := max(0, end-PageSize)
		es, err := s.engine.Entries(ctx, p.ID, from, end-from)
		if err != nil {
			return ViewHistory{}, fmt.Errorf("audit log: %w", err)
		}
		h.Last = appendViews(h.Last, es)
	}
	return h, nil
}

// appendViews appends the times of the views among the entries, latest first, up to
// maxLastViews.
func appendViews(last []time.Time, es []record.Entry) []time.Time {
	for _, e := range slices.Backward(es) {
		if e.Kind == record.EntryView && len(last) < maxLastViews {
			last = append(last, e.At)
		}
	}
	return last
}
