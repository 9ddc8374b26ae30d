package cold

import (
	"context"
	"time"

	"pushbox/store/record"
)

// Repeat returns ErrNotFound if there is none.
func Repeat(ctx context.Context, e record.TableEngine, id record.RepeatID) (record.Repeat, error) {
	return read(ctx, e, func(v record.View) (record.Repeat, error) { return record.Repeats.Get(v, id[:]) })
}

// EndRepeat removes a repeat, if there is one and it is over at t.
func EndRepeat(ctx context.Context, e record.TableEngine, id record.RepeatID, t time.Time) error {
	_, err := e.Touch(ctx, record.Repeats.Table, [][]byte{id[:]}, func(found record.Record) (record.Record, error) {
		if found.(record.Repeat).Over(t) {
			return nil, nil
		}
		return found, nil
	})
	return err
}

// ClearRepeats reads up to limit repeats, by ID, from the first after the given one, and removes
// those that are over at t. It returns the last one that it read, and whether there are more.
func ClearRepeats(ctx context.Context, e record.TableEngine, after record.RepeatID, limit int, t time.Time) (last record.RepeatID, more bool, err error) {
	r, more, err := clearOver(ctx, e, record.Repeats, record.Range{After: after[:], Limit: limit}, func(r record.Repeat) bool { return r.Over(t) })
	if r == nil {
		return after, more, err
	}
	return r.ID, more, err
}
