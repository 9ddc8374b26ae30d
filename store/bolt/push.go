package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"pushbox/internal/durable"
	"pushbox/store/record"
)

// pushWeight is about the size of a push without its payload, in bytes; most are smaller.
const pushWeight = 512

// entryWeight is the approximate size of an audit entry without its sealed part, in bytes.
const entryWeight = 64

// CreatePush stores a new push, its payload and its first audit entry, and counts it in the request
// that it answers.
func (db *DB) CreatePush(ctx context.Context, p record.Push, payload []byte, e record.Entry) (kept record.Entry, err error) {
	raw, err := p.AppendBinary(make([]byte, 0, pushWeight))
	if err != nil {
		return kept, fmt.Errorf("encode a push: %w", err)
	}
	entry, err := e.AppendBinary(nil)
	if err != nil {
		return kept, fmt.Errorf("encode an audit entry: %w", err)
	}
	key, size := payloadKey(p.ID, payload), pushWeight+len(payload)
	if e.Repeat != nil {
		size += entryWeight + len(e.Repeat.Sealed)
	}
	for _, e := range e.Then {
		size += entryWeight + len(e.Sealed)
	}
	err = db.do(ctx, size, func(t *tx) error {
		l := db.limits.Load()
		if err := t.mayCreate(p, size, e, *l); err != nil {
			return err
		}
		if kept, err = t.putBefore(p, e, l); err != nil {
			return err
		}
		if err := t.createPush(p, raw, key, payload, entry); err != nil {
			return err
		}
		return t.putFurtherEntries(p.ID, e.Then)
	})
	if err != nil {
		return record.Entry{}, err
	}
	return kept, nil
}

// mayCreate refuses a push if there is no space for its rows.
func (t *tx) mayCreate(p record.Push, size int, e record.Entry, l limits) error {
	if t.has(pushes, p.ID[:]) || e.Repeat != nil && t.has(tables[record.Repeats.Table], e.Repeat.Key()) {
		return record.ErrExists
	}
	if p.Owner != 0 {
		if err := record.MayOwn(t.tables(), p.Owner); err != nil {
			return err
		}
	}
	if p.HoldsFiles() && !t.has(orphans, p.ID[:]) {
		return fmt.Errorf("%w: the files of push %s are gone", record.ErrCorrupt, p.ID)
	}
	if err := t.reserve(size, l, durable.FreeSpace); err != nil {
		return err
	}
	return t.mayHold(p, l.room, e.Most)
}

// putBefore stores the mail, the messages, the repeat and the request of a new push, or refuses the
// push.
func (t *tx) putBefore(p record.Push, e record.Entry, l *limits) (kept record.Entry, err error) {
	if e.Repeat != nil {
		if err := t.under(l).Put(record.Repeats.Table, *e.Repeat); err != nil {
			return kept, err
		}
	}
	var request record.Request
	if p.Request != (record.RequestID{}) {
		if request, err = record.Requests.Get(t.tables(), p.Request[:]); err == nil {
			request, err = request.Answer(p)
		}
		if err != nil {
			return kept, err
		}
	}
	if kept, err = t.send(e, l); err != nil || p.Request == (record.RequestID{}) {
		return kept, err
	}
	return kept, t.tables().Put(record.Requests.Table, request)
}

// send puts the mail and the messages of an entry into the outbox, and returns the entry with those
// that had room.
func (t *tx) send(e record.Entry, l *limits) (kept record.Entry, err error) {
	kept = e
	if e.Mail != nil {
		kept.Mail, err = record.Send(t.under(l), e.Mail)
	}
	if err == nil && len(e.Messages) > 0 {
		kept.Messages, err = record.Post(t.under(l), e.Messages)
	}
	return kept, err
}

// putFurtherEntries writes the audit entries of a new push that follow its first.
func (t *tx) putFurtherEntries(id record.ID, entries []record.Entry) error {
	for i, e := range entries {
		if err := putRecord(t, audit, auditKey(id, uint32(i)+1), e); err != nil {
			return err
		}
	}
	return nil
}

// Push returns the push and the length of its sealed payload; 0 where there is
// none. record.ErrNotFound if there is no such push.
func (db *DB) Push(ctx context.Context, id record.ID) (p record.Push, payload int, err error) {
	err = db.view(ctx, func(t *tx) error {
		if p, err = t.push(id); err != nil {
			return err
		}
		payload = len(t.payloadOf(p))
		return nil
	})
	return p, payload, err
}

// PushesByID returns the existing pushes among the IDs.
func (db *DB) PushesByID(ctx context.Context, ids []record.ID) ([]record.Push, error) {
	return viewed(ctx, db, func(t *tx) (list []record.Push, err error) {
		for _, id := range ids {
			p, err := t.push(id)
			if errors.Is(err, record.ErrNotFound) {
				continue
			}
			if err != nil {
				return nil, err
			}
			list = append(list, p)
		}
		return list, nil
	})
}

// Change applies r to the push.
func (db *DB) Change(ctx context.Context, id record.ID, r record.Rule) (record.Change, error) {
	var c record.Change
	err := db.do(ctx, 0, func(t *tx) (err error) {
		l := db.limits.Load()
		if c, err = t.change(id, r, *l); err == nil {
			c.Entry, err = t.send(c.Entry, l)
		}
		return err
	})
	if err != nil {
		return record.Change{}, err
	}
	return c, nil
}

func (t *tx) change(id record.ID, r record.Rule, l limits) (record.Change, error) {
	p, err := t.push(id)
	if err != nil {
		return record.Change{}, err
	}
	next, e, err := r.Apply(p)
	if err != nil {
		return record.Change{}, err
	}
	if next, e, err = t.roomForEntry(p, next, e, l); err != nil {
		return record.Change{}, err
	}
	c := record.Change{Push: next, Entry: e, Payload: bytes.Clone(t.payloadOf(p))}
	if next.State == record.Purged {
		return c, t.purge(p)
	}
	return c, t.update(p, c, l)
}

// roomForEntry returns next, which a rule made from p, with as much of its audit entry as there is
// space for. If space is scarce, it drops a dispensable entry, and the client of any other.
// record.ErrFull if a change that clients can repeat has no space.
func (t *tx) roomForEntry(p, next record.Push, e record.Entry, l limits) (record.Push, record.Entry, error) {
	size := entryWeight + len(e.Sealed)
	switch {
	case next.Seq == p.Seq:
		return next, e, nil
	case e.Kind.Dispensable():
		err := t.reserve(size, l, durable.FreeSpace)
		if errors.Is(err, record.ErrFull) {
			return p.WithoutEntry(next), e, nil
		}
		return next, e, err
	case next.Live() && (e.Kind == record.EntryView || e.Kind == record.EntryEdit):
		grows := max(0, next.Room().Bytes-p.Room().Bytes) // the edit may make the note longer
		return next, e, t.reserveRest(size+int(grows), l, durable.FreeSpace)
	default:
		scarce, err := t.isScarce(l, durable.FreeSpace)
		if scarce {
			e.Sealed = nil
		}
		return next, e, err
	}
}

// update writes the changes of a rule: nothing if the push is unchanged, and to the journal if that
// can represent the change. If space is scarce, an end goes to its places: that frees space, while
// rows of the journal would use up the pages that a fold needs.
func (t *tx) update(old record.Push, c record.Change, l limits) error {
	fits, err := t.fitsJournal(old, c.Push)
	if err == nil && fits && old.Live() && !c.Push.Live() {
		var scarce bool
		scarce, err = t.isScarce(l, durable.FreeSpace)
		fits = !scarce
	}
	switch {
	case err != nil:
		return err
	case fits && deltaOf(c.Push) == deltaOf(old):
	case fits && t.nextRow-t.journal.first < t.journal.bounds.most:
		err = t.addToJournal(old, c.Push, c.Entry)
	default:
		err = t.rewrite(old, c)
	}
	if err != nil {
		return err
	}
	if err := t.countRoom(old, old.Room(), c.Push.Room()); err != nil {
		return err
	}
	switch {
	case old.HoldsFiles() && !c.Push.HoldsFiles():
		err = t.release(old.ID)
	case !old.GrantsEnd.IsZero() && c.Push.GrantsEnd.IsZero():
		err = t.dropGrants(old.ID)
	}
	if err != nil {
		return err
	}
	if i := c.Entry.Grant; i != nil && c.Push.HoldsFiles() {
		return t.issueGrant(*i)
	}
	return nil
}

// fitsJournal reports whether a row of the journal can represent the change from old to next:
// nothing, or another entry or an end, and otherwise only counts.
func (t *tx) fitsJournal(old, next record.Push) (bool, error) {
	if old.Live() && !next.Live() && next.Owner != 0 && next.RoomOf() == record.RoomOfClient {
		return false, nil // it waits in another queue than the journal derives, which knows only the owner
	}
	from, to, as := deltaOf(old), deltaOf(next), old
	if from != to && !to.follows(from.seq, old.Live()) || !old.Live() && from.endOf() != to.endOf() {
		return false, nil
	}
	to.applyTo(&as)
	said, err := encode(t, as)
	if err != nil {
		return false, err
	}
	wanted, err := encode(t, next)
	return bytes.Equal(said, wanted), err
}

// rewrite first folds the push's rows in the journal, and then writes a change to its places.
func (t *tx) rewrite(old record.Push, c record.Change) error {
	stored, err := t.inPlace(old.ID)
	if err != nil {
		return err
	}
	raw, err := encode(t, c.Push)
	if err != nil {
		return err
	}
	entry, err := encode(t, c.Entry)
	if err != nil {
		return err
	}
	if err := t.foldEntries(stored); err != nil {
		return err
	}
	if err := t.forget(old.ID); err != nil {
		return err
	}
	if err := t.putPush(&stored, c.Push, raw); err != nil {
		return err
	}
	if c.Push.Seq == old.Seq {
		return nil
	}
	return t.add(audit, auditKey(old.ID, old.Seq), entry)
}
