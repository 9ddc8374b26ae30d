package bolt

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"pushbox/store"
)

// An eventHead is the two ends of the instance log. The chain begins behind the last
// event that was removed, so that a log without its oldest events can still be verified.
type eventHead struct {
	last, removed eventEnd
}

// An eventEnd is the number and the chain of an event; zero for none.
type eventEnd struct {
	number uint64
	chain  [32]byte
}

// eventHeadLen is the length of an eventHead's record.
const eventHeadLen = 2 * (8 + 32)

// AppendBinary appends the record of h to b.
func (h eventHead) AppendBinary(b []byte) ([]byte, error) {
	for _, end := range [...]eventEnd{h.last, h.removed} {
		b = append(binary.BigEndian.AppendUint64(b, end.number), end.chain[:]...)
	}
	return b, nil
}

// UnmarshalBinary reads a record.
func (h *eventHead) UnmarshalBinary(b []byte) error {
	if len(b) != eventHeadLen {
		return fmt.Errorf("the ends of the instance log have %d bytes", len(b))
	}
	for i, end := range [...]*eventEnd{&h.last, &h.removed} {
		b := b[i*eventHeadLen/2:]
		end.number, end.chain = binary.BigEndian.Uint64(b), [32]byte(b[8:])
	}
	return nil
}

// AddAdminEvent appends an event to the instance log.
func (db *DB) AddAdminEvent(ctx context.Context, e store.AdminEvent) error {
	return db.do(ctx, 0, func(t *tx) error { return t.addEvent(e) })
}

// AdminEvents lists events by number, from the first after the given one.
func (db *DB) AdminEvents(ctx context.Context, after uint64, limit int) ([]store.AdminEvent, error) {
	return viewed(ctx, db, func(t *tx) (list []store.AdminEvent, err error) {
		c := t.cursor(events)
		for k, v := c.Seek(append(uint64Key(after), 0)); k != nil && limit > 0; k, v = c.Next() {
			e, err := readEvent(k, v)
			if err != nil {
				return nil, err
			}
			if list = append(list, e); len(list) == limit { // the next may be damaged
				break
			}
		}
		return list, nil
	})
}

// addEvent appends an event to the instance log. While there are more than there may be,
// it removes the oldest.
func (t *tx) addEvent(e store.AdminEvent) error {
	if e.Kind.String() == "" {
		return errors.New("a change of the instance comes without an event")
	}
	head, err := t.eventHead()
	if err != nil {
		return err
	}
	e.Number = head.last.number + 1
	e.Chain = e.Link(head.last.chain)
	head.last = eventEnd{e.Number, e.Chain}
	if err := putRecord(t, events, uint64Key(e.Number), e); err != nil {
		return err
	}
	for e.Number-head.removed.number > store.MaxAdminEvents {
		if err := t.removeEvent(&head); err != nil {
			return err
		}
	}
	return putRecord(t, meta, []byte(metaEvents), head)
}

// removeEvent removes the oldest event.
func (t *tx) removeEvent(head *eventHead) error {
	oldest := store.AdminEvent{Number: head.removed.number + 1}
	key := uint64Key(oldest.Number)
	if err := t.find(events, key, &oldest); err != nil {
		if errors.Is(err, store.ErrNotFound) {
			err = fmt.Errorf("%w: event %d of the instance log is missing", store.ErrCorrupt, oldest.Number)
		}
		return err
	}
	head.removed = eventEnd{oldest.Number, oldest.Chain}
	return t.delete(events, key)
}

// eventHead returns the ends of the instance log.
func (t *tx) eventHead() (h eventHead, err error) {
	err = t.find(meta, []byte(metaEvents), &h)
	if !errors.Is(err, store.ErrNotFound) {
		return h, err
	}
	if t.hasPrefix(events, nil) {
		return h, fmt.Errorf("%w: the ends of the instance log are missing", store.ErrCorrupt)
	}
	return h, nil
}

// readEvent decodes a row.
func readEvent(k, v []byte) (store.AdminEvent, error) {
	if len(k) != 8 {
		return store.AdminEvent{}, fmt.Errorf("%w: %s: a key of %d bytes", store.ErrCorrupt, events, len(k))
	}
	e := store.AdminEvent{Number: binary.BigEndian.Uint64(k)}
	err := decode(&e, events, v)
	return e, err
}

// events walks the chain of the instance log, and reports events that are missing or
// were changed.
func (c *checker) events() error {
	head, err := c.eventHead()
	if errors.Is(err, store.ErrCorrupt) {
		c.notef("events: the ends of the log are missing or malformed")
		return nil
	}
	if err != nil {
		return err
	}
	w := eventWalk{checker: c, at: head.removed}
	if err := c.each(events, w.step); err != nil {
		return err
	}
	switch {
	case w.at.number < head.last.number:
		c.missing(w.at.number+1, head.last.number)
	case !w.broken && w.at != head.last:
		c.notef("event %d: it is not the last one that was written", w.at.number)
	}
	return nil
}

// An eventWalk is a checker on its way through the instance log.
type eventWalk struct {
	*checker
	at     eventEnd // the event before
	broken bool     // its chain is not known
}

func (w *eventWalk) step(k, v []byte) error {
	e, err := readEvent(k, v)
	if len(k) != 8 {
		w.notef("events: a key of %d bytes instead of 8", len(k))
		return nil
	}
	before := w.at
	if e.Number <= before.number {
		w.notef("event %d: it was removed once, and is there again", e.Number)
		return nil
	}
	if e.Number > before.number+1 {
		w.missing(before.number+1, e.Number-1)
		w.broken = true
	}
	w.at = eventEnd{e.Number, e.Chain}
	switch {
	case err != nil:
		w.notef("event %d: its record is malformed", e.Number)
		w.broken = true
	case !w.broken && e.Link(before.chain) != e.Chain:
		w.notef("event %d: it was changed", e.Number)
	default:
		w.broken = false
	}
	return nil
}

// missing reports that a range of events is missing.
func (c *checker) missing(first, last uint64) {
	if first == last {
		c.notef("event %d: it is missing", first)
		return
	}
	c.notef("events %d to %d: they are missing", first, last)
}
