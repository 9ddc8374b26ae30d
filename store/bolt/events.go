package bolt

import (
	"encoding/binary"
	"errors"
	"fmt"

	"pushbox/store/record"
)

// addEvent appends an event to the instance log. While there are more than MaxAdminEvents, it
// removes the oldest.
func (t *tx) addEvent(e record.AdminEvent) error {
	if e.Kind.String() == "" {
		return errors.New("a change of the instance has no event")
	}
	head, err := t.eventHead()
	if err != nil {
		return err
	}
	e, head = head.Append(e)
	if err := putRecord(t, events, uint64Key(e.Number), e); err != nil {
		return err
	}
	for head.Excess() > 0 {
		if err := t.removeEvent(&head); err != nil {
			return err
		}
	}
	return putRecord(t, meta, []byte(metaEvents), head)
}

// removeEvent removes the oldest event.
func (t *tx) removeEvent(head *record.LogHead) error {
	oldest := record.AdminEvent{Number: head.Removed.Number + 1}
	key := uint64Key(oldest.Number)
	if err := t.find(events, key, &oldest); err != nil {
		if errors.Is(err, record.ErrNotFound) {
			err = fmt.Errorf("%w: event %d of the instance log is missing", record.ErrCorrupt, oldest.Number)
		}
		return err
	}
	head.Removed = oldest.End()
	return t.delete(events, key)
}

// eventHead returns the ends of the instance log.
func (t *tx) eventHead() (h record.LogHead, err error) {
	err = t.find(meta, []byte(metaEvents), &h)
	if !errors.Is(err, record.ErrNotFound) {
		return h, err
	}
	if t.hasPrefix(events, nil) {
		return h, fmt.Errorf("%w: the ends of the instance log are missing", record.ErrCorrupt)
	}
	return h, nil
}

// events walks the chain of the instance log, and reports events that are missing or
// were changed.
func (c *checker) events() error {
	head, err := c.eventHead()
	if errors.Is(err, record.ErrCorrupt) {
		c.notef("events: the ends of the log are missing or malformed")
		return nil
	}
	if err != nil {
		return err
	}
	w := record.NewLogWalk(head, c.report)
	if err := c.each(events, func(k, v []byte) error {
		if len(k) != 8 {
			c.notef("events: a key of %d bytes instead of 8", len(k))
			return nil
		}
		e := record.AdminEvent{Number: binary.BigEndian.Uint64(k)}
		w.Step(e, decode(&e, events, v))
		return nil
	}); err != nil {
		return err
	}
	w.End()
	return nil
}
