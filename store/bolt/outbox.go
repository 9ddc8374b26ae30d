package bolt

import (
	"context"
	"time"

	"pushbox/internal/durable"
	"pushbox/store/record"
)

// messageWeight is about how many bytes a message takes beside its content.
const messageWeight = 64

// putMessages adds messages to the outbox, and returns those for which there was space:
// what the limits keep free is for views, expiry and deletes.
func (t *tx) putMessages(ms []record.Message, l limits) ([]record.Message, error) {
	for i, m := range ms {
		if err := t.reserve(messageWeight+len(m.Sealed), l, durable.FreeSpace); err != nil {
			return ms[:i], nil
		}
		n, err := t.nextID(outbox)
		if err != nil {
			return nil, err
		}
		ms[i].Number = n
		if err := t.tables().Put(record.Messages.Table, ms[i]); err != nil {
			return nil, err
		}
	}
	return ms, nil
}

// messages goes through the outbox by the time of the next try.
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

// DueMessages lists the messages that q selects, earliest first, and returns the time
// of the first one that only its Until or its Limit keeps off the list.
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
