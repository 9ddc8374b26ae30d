package cold

import (
	"context"
	"time"

	"pushbox/store/record"
)

// Messages lists all messages by the time of their next try and then their number, after the given
// one. Of that message, only these two fields count.
func Messages(ctx context.Context, e record.TableEngine, after record.Message, limit int) ([]record.Message, error) {
	return read(ctx, e, func(v record.View) ([]record.Message, error) {
		return record.Messages.List(v, record.Range{After: after.Key(), Limit: limit})
	})
}

// RetryMessage counts a try of a message and sets the time of the next one, which ends a lease.
// ErrNotFound if no message waits with this number and NextAt.
func RetryMessage(ctx context.Context, e record.TableEngine, m record.Message, next time.Time) error {
	n, err := e.Touch(ctx, record.Messages.Table, [][]byte{m.Key()}, func(found record.Record) (record.Record, error) {
		again := found.(record.Message)
		again.NextAt = next
		again.Attempts++
		return again, nil
	})
	if err == nil && n == 0 {
		err = record.ErrNotFound
	}
	return err
}

// EndMessages removes messages, by number and NextAt, and returns how many there were. After an
// attempt of unknown outcome it may count too few.
func EndMessages(ctx context.Context, e record.TableEngine, gone []record.Message) (n int, err error) {
	keys := make([][]byte, len(gone))
	for i, m := range gone {
		keys[i] = m.Key()
	}
	return e.Touch(ctx, record.Messages.Table, keys, func(record.Record) (record.Record, error) { return nil, nil })
}

// ClearQuotas reads up to limit counts of mail to addresses, by addressee, from the first after
// the given one, and removes those of days before that day. It returns the last one that it read,
// and whether there are more.
func ClearQuotas(ctx context.Context, e record.TableEngine, after record.Addressee, limit int, day uint64) (last record.Addressee, more bool, err error) {
	last = after
	r := record.Range{After: after.Key(), Limit: limit} // the keys of addresses are the last ones
	c, more, err := clearOver(ctx, e, record.Quotas, r, func(c record.QuotaCount) bool { return c.Day < day })
	if c != nil {
		last = c.To
	}
	return last, more, err
}
