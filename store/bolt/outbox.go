package bolt

import (
	"context"
	"time"

	"pushbox/internal/limit"
	"pushbox/store/record"
)

// messages walks the outbox by the time of the next try.
func (t *tx) messages(yield func(record.Message, error) bool) {
	c := t.cursor(outbox)
	for k, v := c.First(); k != nil; k, v = c.Next() {
		m, err := readMessage(k, v)
		if !yield(m, err) || err != nil {
			return
		}
	}
}

func readMessage(k, v []byte) (m record.Message, err error) {
	r, err := readRecord(record.Messages.Table, outbox, k, v)
	if err == nil {
		m = r.(record.Message)
	}
	return m, err
}

// DueMessages lists the messages that q selects, earliest first, and returns the time of the first
// one that only q.Until or q.Limit excludes.
func (db *DB) DueMessages(ctx context.Context, q record.MessageQuery) (due []record.Message, next time.Time, err error) {
	err = db.view(ctx, func(t *tx) (err error) {
		due, next, err = q.Select(t.messages)
		return err
	})
	return due, next, err
}

// CountMessages returns how many messages wait for each recipient.
func (db *DB) CountMessages(ctx context.Context) (map[record.Recipient]int, error) {
	return viewed(ctx, db, func(t *tx) (map[record.Recipient]int, error) {
		n := make(map[record.Recipient]int)
		for m, err := range t.messages {
			if err != nil {
				return nil, err
			}
			n[record.Recipient{Route: m.Route, To: m.To}]++
		}
		return n, nil
	})
}

// Tries implements record.TallyEngine.
func (db *DB) Tries(ctx context.Context, turn limit.Turn, at time.Time, ts []limit.Tally) ([]limit.Standing, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return db.tallies.Do(turn, at, ts), nil
}
