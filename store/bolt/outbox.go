package bolt

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"pushbox/store"
)

const (
	// messageLen is the length of a message's key.
	messageLen = 8 + 8
	// messageWeight is about what a message takes beside what it says.
	messageWeight = 64
)

func messageKey(m store.Message) []byte {
	k := binary.BigEndian.AppendUint64(make([]byte, 0, messageLen), milliseconds(m.NextAt))
	return binary.BigEndian.AppendUint64(k, m.Number)
}

// putMessages puts messages into the outbox, and returns those for which there was
// room: what is kept free is for views, expiry and deletes, not for telling of them.
func (t *tx) putMessages(ms []store.Message, l limits) ([]store.Message, error) {
	for i, m := range ms {
		if err := t.take(messageWeight+len(m.Sealed), l, freeBytes); err != nil {
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

func (t *tx) putMessage(m store.Message) error {
	record, err := encode(t, m)
	if err != nil {
		return err
	}
	return t.put(outbox, messageKey(m), record)
}

// DueMessages lists messages whose next try is not after until and that skip does not
// skip, earliest first, and tells the time of the one that comes next.
func (db *DB) DueMessages(ctx context.Context, until time.Time, skip func(store.Message) bool, limit int) (due []store.Message, next time.Time, err error) {
	err = db.view(ctx, func(t *tx) (err error) {
		due, next, err = t.dueMessages(milliseconds(until), skip, limit)
		return err
	})
	return due, next, err
}

func (t *tx) dueMessages(until uint64, skip func(store.Message) bool, limit int) (due []store.Message, next time.Time, err error) {
	c := t.cursor(outbox)
	for k, v := c.First(); k != nil; k, v = c.Next() {
		m, err := readMessage(k, v)
		if err != nil {
			return nil, time.Time{}, err
		}
		if len(due) >= limit || milliseconds(m.NextAt) > until {
			return due, m.NextAt, nil
		}
		var skipped bool
		if err := recovered(func() { skipped = skip(m) }); err != nil {
			return nil, time.Time{}, err
		}
		if !skipped {
			due = append(due, m)
		}
	}
	return due, time.Time{}, nil
}

// CountMessages tells how many messages wait in the outbox.
func (db *DB) CountMessages(ctx context.Context) (n int, err error) {
	err = db.view(ctx, func(t *tx) error {
		n = 0
		c := t.cursor(outbox)
		for k, _ := c.First(); k != nil; k, _ = c.Next() {
			n++
		}
		return nil
	})
	return n, err
}

// RetryMessage counts a try of a message and sets when the next one is.
func (db *DB) RetryMessage(ctx context.Context, m store.Message, next time.Time) error {
	return db.do(ctx, 0, func(t *tx) error {
		key := messageKey(m)
		v := t.get(outbox, key)
		if v == nil {
			return store.ErrNotFound
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

// EndMessages removes messages that wait for the tries that these tell of.
func (db *DB) EndMessages(ctx context.Context, gone []store.Message) (n int, err error) {
	err = db.do(ctx, 0, func(t *tx) error {
		n = 0
		for _, m := range gone {
			key := messageKey(m)
			if !t.has(outbox, key) {
				continue
			}
			if err := t.delete(outbox, key); err != nil {
				return err
			}
			n++
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

// readMessage reads a row.
func readMessage(k, v []byte) (store.Message, error) {
	if len(k) != messageLen {
		return store.Message{}, fmt.Errorf("%w: %s: a key of %d bytes", store.ErrCorrupt, outbox, len(k))
	}
	at := time.UnixMilli(int64(binary.BigEndian.Uint64(k))).UTC()
	m := store.Message{Number: binary.BigEndian.Uint64(k[8:]), NextAt: at}
	return m, decode(&m, outbox, v)
}

// messages looks for rows of the outbox that are no messages.
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
