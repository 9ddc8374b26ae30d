package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"pushbox/store/record"
)

// Pushes lists an owner's live pushes, or the others, newest first.
func (db *DB) Pushes(ctx context.Context, owner record.AccountID, live bool, before record.ID, skip, limit int) ([]record.Push, error) {
	return viewed(ctx, db, func(t *tx) ([]record.Push, error) { return t.pushesOf(ownerPrefix(owner, live), before, skip, limit) })
}

func (t *tx) pushesOf(prefix []byte, before record.ID, skip, limit int) (list []record.Push, err error) {
	end := after(prefix)
	if before != (record.ID{}) {
		end = append(bytes.Clone(prefix), before[:]...)
	}
	for k, err := range t.indexedBefore(owners, prefix, end) {
		if err != nil || len(list) >= limit {
			return list, err
		}
		if skip > 0 {
			skip--
			continue
		}
		p, err := t.push(lastID(k))
		if errors.Is(err, record.ErrNotFound) || err == nil && !bytes.Equal(ownerRow(p), k) {
			err = fmt.Errorf("%w: %s: a row leads to a push of another account", record.ErrCorrupt, owners)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

// CountPushes counts the rows of an owner's list, up to most.
func (db *DB) CountPushes(ctx context.Context, owner record.AccountID, live bool, most int) (int, error) {
	return viewed(ctx, db, func(t *tx) (n int, err error) {
		for _, err := range t.indexed(owners, ownerPrefix(owner, live)) {
			if err != nil || n >= most {
				return n, err
			}
			n++
		}
		return n, nil
	})
}

// Entries lists a push's audit entries, oldest first.
func (db *DB) Entries(ctx context.Context, id record.ID, skip, limit int) ([]record.Entry, error) {
	return viewed(ctx, db, func(t *tx) ([]record.Entry, error) { return t.entries(id, skip, limit) })
}

// entries skips by number: the numbers of a push's entries have no gaps. The push has their number,
// so that a removed entry is noticed.
func (t *tx) entries(id record.ID, skip, limit int) (list []record.Entry, err error) {
	p, err := t.push(id)
	if errors.Is(err, record.ErrNotFound) || err == nil && int64(skip) >= int64(p.Seq) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	from := uint32(max(skip, 0))
	c := t.cursor(audit)
	for k, v := c.Seek(auditKey(id, from)); bytes.HasPrefix(k, id[:]) && len(list) < limit; k, v = c.Next() {
		if !bytes.Equal(k, auditKey(id, from+uint32(len(list)))) {
			break
		}
		var e record.Entry
		if err := decode(&e, audit, v); err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	err = t.pendingEntries(id, from+uint32(len(list)), func(e record.Entry) bool {
		if len(list) < limit {
			list = append(list, e)
		}
		return len(list) < limit
	})
	if err == nil && len(list) < min(limit, int(p.Seq-from)) {
		err = fmt.Errorf("%w: %s: entry %d of push %s is missing", record.ErrCorrupt, audit, from+uint32(len(list)), id)
	}
	return list, err
}

// pendingEntries calls fn with the audit entries of a push that only the journal has,
// from a number on, until fn returns false.
func (t *tx) pendingEntries(id record.ID, from uint32, fn func(record.Entry) bool) error {
	if !t.has(pushes, id[:]) {
		return nil // the push was purged
	}
	found, n, err := t.overlay.of(id)
	if err != nil {
		return err
	}
	for _, p := range found[:n] {
		for _, row := range p.rows {
			r, ok, err := t.journalRow(row)
			if err != nil {
				return err
			}
			if !ok || len(r.entry) == 0 || r.number() < from {
				continue // it is in the audit log, too, or has none
			}
			var e record.Entry
			if err := decode(&e, journalRows, r.entry); err != nil {
				return err
			}
			if !fn(e) {
				return nil
			}
		}
	}
	return nil
}

// Due lists pushes of an expiry queue whose time is not after until, earliest first,
// and returns the time of the next one.
func (db *DB) Due(ctx context.Context, s record.ExpiryQueue, until time.Time, limit int) (due []record.ID, next time.Time, err error) {
	err = db.view(ctx, func(t *tx) (err error) {
		due, next, err = t.due(s, milliseconds(until), limit)
		return err
	})
	return due, next, err
}

func (t *tx) due(s record.ExpiryQueue, until uint64, limit int) (due []record.ID, next time.Time, err error) {
	for k, err := range t.indexed(expiry, []byte{byte(s)}) {
		if err != nil {
			return nil, time.Time{}, err
		}
		if len(due) >= limit || binary.BigEndian.Uint64(k[1:]) > until {
			return due, expiryTime(k), nil
		}
		due = append(due, lastID(k))
	}
	return due, time.Time{}, nil
}

// Scan lists pushes by ID, from the first after the one given.
func (db *DB) Scan(ctx context.Context, after record.ID, limit int) ([]record.Push, error) {
	return viewed(ctx, db, func(t *tx) (list []record.Push, err error) {
		c := t.cursor(pushes)
		for k, v := c.Seek(append(after[:], 0)); k != nil && len(list) < limit; k, v = c.Next() {
			p, err := t.decodePush(record.ID(k), v)
			if err != nil {
				return nil, err
			}
			list = append(list, p)
		}
		return list, nil
	})
}

const (
	searchStep  = 1 << 20
	searchReach = 64 << 10 // the longest sealed key ring
)

// FindRing searches every byte of the file, in use or not, for places that name the key ring, as
// every page does that has or had one. It reports whether opens returns true for one of them. opens
// gets the ring, if there is one, and the bytes after it.
func (db *DB) FindRing(ctx context.Context, opens func(b []byte) bool) (found bool, err error) {
	if err := db.admit(ctx); err != nil {
		return false, err
	}
	h := db.enter()
	if h == nil {
		return false, record.ErrClosed
	}
	defer h.leave()
	name, buffer := []byte(metaKeyRing), make([]byte, searchStep+len(metaKeyRing)+searchReach)
	for at := int64(0); ; at += searchStep {
		n, err := h.file.ReadAt(buffer, at)
		if err != nil && !errors.Is(err, io.EOF) {
			return false, err
		}
		last := errors.Is(err, io.EOF)
		for i := bytes.Index(buffer[:n], name); i >= 0 && (last || i < searchStep); {
			rest := buffer[i+len(name) : n]
			if opens(rest[:min(len(rest), searchReach)]) {
				return true, nil
			}
			next := bytes.Index(rest, name)
			if next < 0 {
				break
			}
			i += len(name) + next
		}
		if last {
			return false, nil
		}
		if err := ctx.Err(); err != nil {
			return false, err
		}
	}
}

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
