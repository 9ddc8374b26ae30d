package store

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// maxLastOpenings is how many times of openings are told.
const maxLastOpenings = 5

// Openings tell how often a push was seen, and when: each is a counted view.
type Openings struct {
	Count int
	Last  []time.Time // the latest ones, at most five, the latest first
}

// Openings returns the openings of a push until now, one that has expired
// included. It writes nothing. ErrNotFound if there is no such push.
func (s *Store) Openings(ctx context.Context, t Token) (Openings, error) {
	p, err := s.find(ctx, t)
	if err != nil {
		return Openings{}, err
	}
	o := Openings{Count: p.Views}
	for end := int(p.Seq); end > 0 && len(o.Last) < min(o.Count, maxLastOpenings); end -= PageSize {
		from := max(0, end-PageSize)
		es, err := s.engine.Entries(ctx, p.ID, from, end-from)
		if err != nil {
			return Openings{}, fmt.Errorf("audit log: %w", err)
		}
		o.Last = appendViews(o.Last, es)
	}
	return o, nil
}

// appendViews appends when the views among the entries were, the latest first,
// as long as there is room.
func appendViews(last []time.Time, es []Entry) []time.Time {
	for _, e := range slices.Backward(es) {
		if e.Kind == EntryView && len(last) < maxLastOpenings {
			last = append(last, e.At)
		}
	}
	return last
}
