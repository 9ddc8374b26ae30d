package store

import (
	"context"
	"iter"
	"time"

	"pushbox/store/cold"
	"pushbox/store/record"
)

// listBatch is how many items of a list are read at a time.
const listBatch = 500

// batches reads a list to its end. next reads up to listBatch items behind the last one
// read, which is the zero T at first. An error ends the list.
func batches[T any](next func(last T) ([]T, error)) iter.Seq2[[]T, error] {
	return func(yield func([]T, error) bool) {
		var last T
		for {
			batch, err := next(last)
			if !yield(batch, err) || err != nil || len(batch) < listBatch {
				return
			}
			last = batch[len(batch)-1]
		}
	}
}

// all returns the items of all batches.
func all[T any](next func(last T) ([]T, error)) (list []T, err error) {
	for batch, err := range batches(next) {
		if err != nil {
			return nil, err
		}
		list = append(list, batch...)
	}
	return list, nil
}

// scanRequests reads all requests.
func (s *Store) scanRequests(ctx context.Context) iter.Seq2[[]record.Request, error] {
	return batches(func(last record.Request) ([]record.Request, error) {
		return cold.ScanRequests(ctx, s.engine, last.ID, listBatch)
	})
}

// scan reads all pushes.
func (s *Store) scan(ctx context.Context) iter.Seq2[[]record.Push, error] {
	return batches(func(last record.Push) ([]record.Push, error) { return s.engine.Scan(ctx, last.ID, listBatch) })
}

// Counts are how much a store holds.
type Counts struct {
	Pushes, Live, Accounts int
	Latest                 time.Time // the latest time that the database has seen
}

// Count reads all pushes and counts them.
func (s *Store) Count(ctx context.Context) (c Counts, err error) {
	for ps, err := range s.scan(ctx) {
		if err != nil {
			return c, err
		}
		c.Pushes += len(ps)
		for _, p := range ps {
			if p.Live() {
				c.Live++
			}
		}
	}
	accounts, err := s.Accounts(ctx)
	if err != nil {
		return c, err
	}
	c.Accounts = len(accounts)
	c.Latest, err = s.engine.LatestTime(ctx)
	return c, err
}
