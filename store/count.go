package store

import (
	"context"
	"time"
)

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
