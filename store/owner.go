package store

import (
	"bytes"
	"context"
	"strings"
)

// A PushEdit is what is to change of the limits of a push. What is nil stays.
type PushEdit struct {
	Days  *int // from its creation on
	Views *int // in all
}

// EditPush sets the limits of a live push anew and returns it: within the terms of
// its kind, such that its end is to come and a view is left. A push that has
// expired stays as it is, and that is no error. Grants for its files end with it.
//
// Errors: ErrNotFound; ErrDenied for anybody but the owner; *InvalidError; ErrClock
// while the clock is in doubt.
func (s *Store) EditPush(ctx context.Context, by Actor, t Token, e PushEdit) (PushInfo, error) {
	if t.IsZero() {
		return PushInfo{}, ErrNotFound
	}
	id, at := s.id(t), s.time.read()
	if at.jumped {
		return PushInfo{}, ErrClock
	}
	c, err := s.change(ctx, id, editRule(by, at, s.sealActor(id, by), s.options().Terms, e))
	return PushInfo{Push: c.Push, At: at.now, Token: t}, err
}

// A History is a push as its owner sees it, with a page of its audit log.
type History struct {
	PushInfo
	Log         []LogEntry // oldest first; PushInfo.Seq are there in all
	Days, Views Range      // what EditPush takes; the defaults are what is in force
}

// History returns a push with a page, from 1, of its audit log. ErrNotFound;
// ErrDenied for anybody but the owner.
func (s *Store) History(ctx context.Context, by Actor, t Token, page int) (History, error) {
	p, err := s.find(ctx, t)
	if err != nil {
		return History{}, err
	}
	if !p.ownedBy(by) {
		return History{}, ErrDenied
	}
	at := s.time.read()
	if p, err = s.ended(ctx, p, at); err != nil {
		return History{}, err
	}
	d, err := s.openDetails(p)
	if err != nil {
		return History{}, err
	}
	h := History{PushInfo: PushInfo{Push: p, At: at.now, Token: t, Name: d.name, Note: d.note}}
	h.Days, h.Views = p.editBounds(s.options().Terms[p.Kind], at)
	h.Log, err = s.entries(ctx, p.ID, (page-1)*PageSize, PageSize)
	return h, err
}

const (
	// MaxSearched is how many of an account's newest pushes are searched.
	MaxSearched = 10_000
	searchBatch = 500
	maxSearches = 16 // that wait for their turn
)

// Found is a page of what was found among an account's pushes.
type Found struct {
	Pushes []PushInfo
	More   bool // another page follows
	Cut    bool // there are more pushes than MaxSearched, and the older ones were not searched
}

// SearchPushes lists a page, from 1, of the actor's own pushes that have all words
// in their name or note, newest first: live ones, or those that have expired. No
// words: every push. Case does not matter. Names are sealed, so it opens one push
// after the other, for one actor at a time. ErrBusy as Pushes, and where too many
// wait for that.
func (s *Store) SearchPushes(ctx context.Context, by Actor, live bool, words string, page int) (f Found, err error) {
	at, skip := s.time.read(), (page-1)*PageSize
	wanted := strings.Fields(strings.ToLower(words))
	if len(wanted) > 0 {
		err = s.searches.do(ctx, func() (err error) {
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

// search looks at stretch after stretch of a list, until it has a page and one more.
func (s *Store) search(ctx context.Context, by Actor, live bool, words []string, skip int, at instant) (f Found, err error) {
	var last ID // the oldest seen: pushes that come meanwhile move those behind them on
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
		beyond, err = s.settled(ctx, by.Account, live, MaxSearched, 1, at)
		f.Cut = len(beyond) > 0
	}
	return f, err
}

// end takes off what shows that another page follows.
func (f *Found) end() {
	if f.More = len(f.Pushes) > PageSize; f.More {
		f.Pushes = f.Pushes[:PageSize]
	}
}

// has reports whether all words, in lower case, are in the name or the note.
func (p PushInfo) has(words []string) bool {
	text := strings.ToLower(p.Name.Reveal() + "\n" + p.Note.Reveal())
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}
