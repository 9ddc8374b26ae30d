package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"pushbox/store/clock"
	"pushbox/store/record"
)

// A Search selects pushes of an account for a list. The zero Search selects those that have ended.
type Search struct {
	Live  bool        // those that are live
	Words string      // the name or the note has all of these; none match every push
	Kind  record.Kind // only of this kind; 0: of any
	News  News        // only with this news; 0: any
	ByEnd bool        // by the time of their end, the nearest to now first; else the newest push first
}

// all reports whether the search selects every push, the newest first.
func (q Search) all() bool { return q.Kind == 0 && q.News == 0 && !q.ByEnd && q.Words == "" }

// News is a state of a push that its owner may want to know.
type News uint8

// The news of pushes.
const (
	NotOpened News = 1 + iota
	Opened
	Guessed  // wrong passphrases
	EndsSoon // it is live and ends within a day
	LastView // it is live and was opened, and one view is left
)

// wasOpened reports whether a recipient has opened the push. The recipient of an answer is its
// owner.
func wasOpened(p record.Push) bool { return p.Views > 0 || !p.ReadAt.IsZero() }

// Has reports whether the push has that news.
func (p PushInfo) Has(n News) bool {
	switch n {
	case NotOpened:
		return !wasOpened(p.Push)
	case Opened:
		return wasOpened(p.Push)
	case Guessed:
		return p.Failed > 0
	case EndsSoon:
		return p.Live() && p.ExpiresAt.Sub(p.At) <= record.Day
	case LastView:
		return p.Live() && p.Views > 0 && p.ViewsRemaining() == 1
	default:
		return true
	}
}

const (
	// MaxSearched is how many of an account's newest pushes are searched.
	MaxSearched = 10_000
	// MaxCounted is up to which number the pushes of an account are counted.
	MaxCounted = 1000

	searchBatch = 100
	maxSearches = 32 // that may wait; of one account an eighth
)

// Found is a page of the pushes that a search found.
type Found struct {
	Pushes []PushInfo
	More   bool // another page follows
	Cut    bool // there are more than MaxSearched pushes, and the older ones were not searched

	Live, Ended int // how many pushes the account has; MaxCounted+1 if more than MaxCounted
}

// SearchPushes lists a page, from 1, of the actor's own pushes that q selects. Case does not
// matter. Names are sealed, so a search must open each push; therefore one search runs at a time,
// and accounts take turns. ErrBusy as in Pushes, and if too many searches wait.
func (s *Store) SearchPushes(ctx context.Context, by Actor, q Search, page int) (f Found, err error) {
	at, skip := s.time.Read(), (page-1)*PageSize
	q.Words = strings.ToLower(strings.TrimSpace(q.Words))
	if q.all() {
		f.Pushes, err = s.ownPushes(ctx, by, q.Live, skip, PageSize+1, at)
		f.end()
	} else {
		err = doQueued(ctx, s.searches, fmt.Sprintf("account %d", by.Account), func() (err error) {
			f, err = s.search(ctx, by, q, skip, at)
			return err
		})
	}
	if err != nil {
		return f, err
	}
	if f.Live, err = s.engine.CountPushes(ctx, by.Account, true, MaxCounted+1); err != nil {
		return f, err
	}
	f.Ended, err = s.engine.CountPushes(ctx, by.Account, false, MaxCounted+1)
	return f, err
}

// search reads the list in batches until it has a page and one push more. If the list must be
// sorted, it reads all of it.
func (s *Store) search(ctx context.Context, by Actor, q Search, skip int, at clock.Instant) (f Found, err error) {
	var places []place
	most := skip + PageSize + 1
	f.Cut, err = s.walk(ctx, by, q, at, func(p record.Push) bool {
		places = append(places, place{p.ID, endsAt(p)})
		return q.ByEnd || len(places) < most
	})
	if err != nil {
		return Found{}, err
	}
	if q.ByEnd {
		slices.SortStableFunc(places, func(a, b place) int {
			if q.Live {
				return a.end.Compare(b.end)
			}
			return b.end.Compare(a.end)
		})
	}
	for _, found := range places[min(skip, len(places)):min(most, len(places))] {
		p, err := s.push(ctx, found.id)
		if errors.Is(err, record.ErrNotFound) || err == nil && p.Live() != q.Live {
			continue // it has ended or was purged meanwhile
		}
		if err != nil {
			return Found{}, err
		}
		info, err := s.openOwn(p, at)
		if err != nil {
			return Found{}, err
		}
		f.Pushes = append(f.Pushes, info)
	}
	f.end()
	return f, nil
}

// A place is where a push is in a sorted list.
type place struct {
	id  record.ID
	end time.Time
}

// endsAt is when the push ended, or when its time limit will end it.
func endsAt(p record.Push) time.Time {
	if p.Live() {
		return p.ExpiresAt
	}
	return p.ExpiredAt
}

// walk visits the pushes that q selects, the newest first, until visit returns false. It
// reports whether it left out pushes because there are more than MaxSearched.
func (s *Store) walk(ctx context.Context, by Actor, q Search, at clock.Instant, visit func(record.Push) bool) (cut bool, err error) {
	words := strings.Fields(q.Words)
	var last record.ID // the oldest seen: so pushes that begin or end meanwhile do not move the others
	for seen := 0; seen < MaxSearched; seen += searchBatch {
		batch, err := s.currentPushes(ctx, by.Account, q.Live, last, 0, searchBatch, at)
		if err != nil {
			return false, err
		}
		for _, p := range batch {
			fits, err := s.fits(p, q, words, at)
			if err != nil {
				return false, err
			}
			if fits && !visit(p) {
				return false, nil
			}
		}
		if len(batch) < searchBatch {
			return false, nil
		}
		last = batch[len(batch)-1].ID
	}
	beyond, err := s.currentPushes(ctx, by.Account, q.Live, last, 0, 1, at)
	return len(beyond) > 0, err
}

// fits reports whether q selects the push.
func (s *Store) fits(p record.Push, q Search, words []string, at clock.Instant) (bool, error) {
	info := PushInfo{Push: p, At: at.Now}
	if q.Kind != 0 && q.Kind != p.Kind || !info.Has(q.News) {
		return false, nil
	}
	if len(words) == 0 {
		return true, nil
	}
	d, err := s.openDetails(p)
	info.Name, info.Note = d.name, d.note
	return info.has(words), err
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
