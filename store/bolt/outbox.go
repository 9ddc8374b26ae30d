package bolt

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"pushbox/internal/durable"
	"pushbox/store/record"
)

const (
	// messageLen is the length of a message's key.
	messageLen = 8 + 8
	// messageWeight is about how many bytes a message takes beside its content.
	messageWeight = 64
)

func messageKey(m record.Message) []byte {
	k := binary.BigEndian.AppendUint64(make([]byte, 0, messageLen), milliseconds(m.NextAt))
	return binary.BigEndian.AppendUint64(k, m.Number)
}

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
		if err := t.putMessage(ms[i]); err != nil {
			return nil, err
		}
	}
	return ms, nil
}

func (t *tx) putMessage(m record.Message) error { return putRecord(t, outbox, messageKey(m), m) }

// DueMessages lists the messages that q selects, earliest first, and returns the time
// of the first one that only its Until or its Limit keeps off the list.
func (db *DB) DueMessages(ctx context.Context, q record.MessageQuery) (due []record.Message, next time.Time, err error) {
	err = db.view(ctx, func(t *tx) (err error) {
		due, next, err = t.dueMessages(q)
		return err
	})
	return due, next, err
}

func (t *tx) dueMessages(q record.MessageQuery) (due []record.Message, next time.Time, err error) {
	return q.Select(func(yield func(record.Message, error) bool) {
		c := t.cursor(outbox)
		for k, v := c.First(); k != nil; k, v = c.Next() {
			if !yield(readMessage(k, v)) {
				return
			}
		}
	})
}

// Messages lists all messages by the time of their next try and their number, from
// the first after the given one.
func (db *DB) Messages(ctx context.Context, after record.Message, limit int) ([]record.Message, error) {
	return viewed(ctx, db, func(t *tx) (list []record.Message, err error) {
		c := t.cursor(outbox)
		for k, v := c.Seek(append(messageKey(after), 0)); k != nil && len(list) < limit; k, v = c.Next() {
			m, err := readMessage(k, v)
			if err != nil {
				return nil, err
			}
			list = append(list, m)
		}
		return list, nil
	})
}

// CountMessages returns how many messages wait for each recipient.
func (db *DB) CountMessages(ctx context.Context) (map[record.Recipient]int, error) {
	return viewed(ctx, db, func(t *tx) (map[record.Recipient]int, error) {
		n, c := make(map[record.Recipient]int), t.cursor(outbox)
		for k, v := c.First(); k != nil; k, v = c.Next() {
			m, err := readMessage(k, v)
			if err != nil {
				return nil, err
			}
			n[record.Recipient{Route: m.Route, To: m.To}]++
		}
		return n, nil
	})
}

// RetryMessage counts a try of a message and sets the time of the next one.
func (db *DB) RetryMessage(ctx context.Context, m record.Message, next time.Time) error {
	return db.do(ctx, 0, func(t *tx) error {
		key := messageKey(m)
		v := t.get(outbox, key)
		if v == nil {
			return record.ErrNotFound
		}
		now, err := readMessage(key, v)
		if err != nil {
			return err
		}
		if err := t.delete(outbox, key); err != nil {
			return err
		}
		now.NextAt = next
		now.Attempts++
		return t.putMessage(now)
	})
}

// EndMessages removes messages, by number and NextAt, and returns how many there were.
func (db *DB) EndMessages(ctx context.Context, gone []record.Message) (int, error) {
	return changed(ctx, db, func(t *tx) (n int, err error) {
		for _, m := range gone {
			key := messageKey(m)
			if !t.has(outbox, key) {
				continue
			}
			if err := t.delete(outbox, key); err != nil {
				return 0, err
			}
			n++
		}
		return n, nil
	})
}

// readMessage decodes a row.
func readMessage(k, v []byte) (record.Message, error) {
	if len(k) != messageLen {
		return record.Message{}, fmt.Errorf("%w: %s: a key of %d bytes", record.ErrCorrupt, outbox, len(k))
	}
	at := time.UnixMilli(int64(binary.BigEndian.Uint64(k))).UTC()
	m := record.Message{Number: binary.BigEndian.Uint64(k[8:]), NextAt: at}
	err := decode(&m, outbox, v)
	return m, err
}

// messages reports rows of the outbox that are not messages.
func (c *checker) messages() error {
	last := c.bucket(outbox).Sequence()
	return c.each(outbox, func(k, v []byte) error {
		m, err := readMessage(k, v)
		switch {
		case len(k) != messageLen:
			c.notef("outbox: a key of %d bytes instead of %d", len(k), messageLen)
		case err != nil:
			c.notef("outbox: a record is malformed")
		case m.Number > last:
			c.notef("message %d: only %d numbers were given out", m.Number, last)
		}
		return nil
	})
}
