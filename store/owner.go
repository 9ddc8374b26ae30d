package store

import (
	"bytes"
	"context"
	"strings"

	"pushbox/store/clock"
)

// A PushEdit is new limits of a push. What is nil stays.
type PushEdit struct {
	Days  *int // from its creation on
	Views *int // in all
}

// EditPush changes the limits of a live push and returns it. The new limits must be
// within the terms of its kind, end in the future, and leave a view. Grants for its
// files end no later than the push. A push that has expired stays as it is, which is no
// error.
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
		return PushInfo{}, ErrClock
	}
	c, err := s.change(ctx, id, editRule(by, at, s.sealActor(id, by), s.options().Terms, e))
	return PushInfo{Push: c.Push, At: at.Now, Token: n.token()}, err
}

// ThawPush lets a push that wrong passphrases have frozen be opened again, and returns it.
// One that is not frozen, or has expired, stays as it is, which is no error.
//
// Errors: ErrNotFound; ErrDenied for everyone but the owner; ErrClock while the clock is
// in doubt.
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

// A History is a push for its owner, with a page of its audit log.
type History struct {
	PushInfo
	Log         []LogEntry // oldest first; PushInfo.Seq counts all entries
	Days, Views Range      // what EditPush accepts; the defaults are the limits in force
}

// History returns a push with a page, from 1, of its audit log. ErrNotFound; ErrDenied
// for everyone but the owner.
func (s *Store) History(ctx context.Context, by Actor, n Name, page int) (History, error) {
	p, err := s.findFor(ctx, by, n)
	if err != nil {
		return History{}, err
	}
	if !p.ownedBy(by) {
		return History{}, ErrDenied
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
	h.Days, h.Views = p.editBounds(s.options().Terms[p.Kind], at)
	h.Log, err = s.entries(ctx, p.ID, (page-1)*PageSize, PageSize)
	return h, err
}

const (
	// MaxSearched is how many of an account's newest pushes are searched.
	MaxSearched = 10_000
	searchBatch = 500
	maxSearches = 16 // that may wait
)

// Found is a page of the pushes that a search found.
type Found struct {
	Pushes []PushInfo
	More   bool // another page follows
	Cut    bool // there are more than MaxSearched pushes, and the older ones were not searched
}

// SearchPushes lists a page, from 1, of the actor's own pushes with all words in their
// name or note, newest first: live ones, or expired ones. No words match every push.
// Case does not matter. Names are sealed, so a search opens push after push, and only
// one search runs at a time. ErrBusy as Pushes, and if too many searches wait.
func (s *Store) SearchPushes(ctx context.Context, by Actor, live bool, words string, page int) (f Found, err error) {
	at, skip := s.time.Read(), (page-1)*PageSize
	wanted := strings.Fields(strings.ToLower(words))
	if len(wanted) > 0 {
		err = doQueued(ctx, s.searches, "", func() (err error) {
			f, err = s.search(ctx, by, live, wanted, skip, at)
			return err
		})
		return f, err
	}
	ps, err := s.ownPushes(ctx, by, live, skip, PageSize+1, at)
	f.Pushes = ps
	f.end()
	return f, err
}

// search reads the list in batches until it has a page and one push more.
func (s *Store) search(ctx context.Context, by Actor, live bool, words []string, skip int, at clock.Instant) (f Found, err error) {
	var last ID // the oldest seen: a push that is created meanwhile moves the others back
	for seen := 0; seen < MaxSearched && len(f.Pushes) <= PageSize; seen += searchBatch {
		batch, err := s.ownPushes(ctx, by, live, seen, searchBatch, at)
		if err != nil {
			return Found{}, err
		}
		for _, p := range batch {
			again := seen > 0 && bytes.Compare(p.ID[:], last[:]) >= 0
			switch {
			case again || !p.has(words):
			case skip > 0:
				skip--
			default:
				f.Pushes = append(f.Pushes, p)
			}
		}
		if len(batch) < searchBatch {
			f.end()
			return f, nil
		}
		last = batch[len(batch)-1].ID
	}
	if f.end(); !f.More {
		var beyond []Push
		beyond, err = s.currentPushes(ctx, by.Account, live, MaxSearched, 1, at)
		f.Cut = len(beyond) > 0
	}
	return f, err
}

// end removes the push that shows that another page follows.
func (f *Found) end() {
	if f.More = len(f.Pushes) > PageSize; f.More {
		f.Pushes = f.Pushes[:PageSize]
	}
}

// has reports whether the name or the note holds each of the words, which are in lower
// case.
func (p PushInfo) has(words []string) bool {
	text := strings.ToLower(p.Name.Reveal() + "\n" + p.Note.Reveal())
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}
