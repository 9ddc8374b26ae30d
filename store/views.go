package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"pushbox/store/record"
)

// maxLastViews bounds the times in a ViewHistory.
const maxLastViews = 5

// A ViewHistory is the number of views of a push, and the times of the latest.
type ViewHistory struct {
	Count int
	Last  []time.Time // at most five, the latest first
}

// A Viewing is a push that was looked at or revealed, with the views before that.
type Viewing struct {
	PushInfo
	Before ViewHistory
	Sender Sender // only from Look; zero: recipients see none
}

// Look returns a push without its payload, for a page that may say that it has expired:
// if its time is over, that is durable when Look returns. Otherwise Look writes
// nothing. ErrNotFound, and any error of a write.
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
	return Viewing{PushInfo{Push: p, At: at.Now, Token: t}, before, sender}, err
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
