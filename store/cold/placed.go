package cold

import (
	"context"
	"math"

	"pushbox/store/record"
)

// Add keeps a new record of an account under a number, with which it returns it. ErrToken if its
// owner is not an account that may act; *InvalidError if that has as many as it may have. The
// instance log gets ev, unless that is nil.
func Add[R record.Record, P record.Placed[R]](ctx context.Context, e record.TableEngine, of record.Rows[R], r R, ev *record.AdminEvent) (R, error) {
	return update(ctx, e, func(t record.Tx) (R, error) {
		if err := record.MayOwn(t, r.Belongs()); err != nil {
			return r, err
		}
		n, err := place[R, P](t, of, &r)
		if err != nil {
			return r, err
		}
		if ev == nil {
			return r, nil
		}
		told := *ev
		told.Subject = n
		return r, t.Tell(told)
	})
}

// place gives a new record its number, which it returns, and keeps it.
func place[R record.Record, P record.Placed[R]](t record.Tx, of record.Rows[R], r *R) (uint64, error) {
	value, err := (*r).AppendBinary(nil)
	if err != nil {
		return 0, err
	}
	if err := t.Reserve(recordWeight + len(value)); err != nil {
		return 0, err
	}
	owner := (*r).Belongs()
	others, err := of.Owned(t, owner, math.MaxInt)
	if err != nil {
		return 0, err
	}
	if err := of.Room(len(others)); err != nil {
		return 0, err
	}
	n, err := t.Next(of.Table)
	if err != nil {
		return 0, err
	}
	P(r).Place(owner, n)
	return n, t.Put(of.Table, *r)
}

// List returns the records of an account, by their numbers.
func List[R record.Record](ctx context.Context, e record.TableEngine, of record.Rows[R], owner record.AccountID) ([]R, error) {
	return read(ctx, e, func(v record.View) ([]R, error) { return of.Owned(v, owner, math.MaxInt) })
}

// Remove returns ErrNotFound if that account has no such record. The instance log gets ev, unless that is nil.
func Remove[R record.Record](
	ctx context.Context, e record.TableEngine, of record.Rows[R], owner record.AccountID, number uint64, ev *record.AdminEvent,
) error {
	return e.Update(ctx, func(t record.Tx) error {
		r, err := of.Get(t, record.PairKey(uint64(owner), number))
		if err != nil {
			return err
		}
		if err := t.Delete(of.Table, r); err != nil {
			return err
		}
		if ev == nil {
			return nil
		}
		return t.Tell(*ev)
	})
}
