package bolt

import (
	"context"
	"time"

	"pushbox/internal/limit"
)

// Tries implements record.TallyEngine.
func (db *DB) Tries(ctx context.Context, at time.Time, ts []limit.Tally) ([]limit.Standing, error) {
	return db.tallied(ctx, db.tallies.Look, at, ts)
}

// CountTry implements record.TallyEngine.
func (db *DB) CountTry(ctx context.Context, at time.Time, ts []limit.Tally) ([]limit.Standing, error) {
	return db.tallied(ctx, db.tallies.Count, at, ts)
}

// UncountTry implements record.TallyEngine.
func (db *DB) UncountTry(ctx context.Context, at time.Time, ts []limit.Tally) error {
	_, err := db.tallied(ctx, func(at time.Time, ts []limit.Tally) []limit.Standing {
		db.tallies.Uncount(at, ts)
		return nil
	}, at, ts)
	return err
}

func (db *DB) tallied(ctx context.Context, do func(time.Time, []limit.Tally) []limit.Standing, at time.Time, ts []limit.Tally) ([]limit.Standing, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return do(at, ts), nil
}
