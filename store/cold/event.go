package cold

import (
	"context"

	"pushbox/store/record"
)

// AddAdminEvent appends an event that reports no other change in the engine.
func AddAdminEvent(ctx context.Context, e record.TableEngine, ev record.AdminEvent) error {
	return e.Update(ctx, func(t record.Tx) error { return t.Tell(ev) })
}

// AdminEvents lists events by number, from the first after the given one.
func AdminEvents(ctx context.Context, e record.TableEngine, after uint64, limit int) ([]record.AdminEvent, error) {
	return read(ctx, e, func(v record.View) ([]record.AdminEvent, error) {
		return record.AdminEvents.List(v, record.Range{After: record.NumberKey(after), Limit: limit})
	})
}

// LastAdminEvent returns the number of the newest event; 0 if there was none.
func LastAdminEvent(ctx context.Context, e record.TableEngine) (uint64, error) {
	return read(ctx, e, func(v record.View) (uint64, error) { return v.Last(record.AdminEvents.Table) })
}
