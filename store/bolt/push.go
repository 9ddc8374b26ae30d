package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"

	"pushbox/store"
)

// pushWeight is about what a push takes beside its payload, and more than none.
const pushWeight = 512

// CreatePush keeps a new push, its payload and its first audit entry.
func (db *DB) CreatePush(ctx context.Context, p store.Push, payload []byte, e store.Entry) error {
	record, err := p.AppendBinary(make([]byte, 0, pushWeight))
	if err != nil {
		return fmt.Errorf("encode a push: %w", err)
	}
	entry, err := e.AppendBinary(nil)
	if err != nil {
		return fmt.Errorf("encode an audit entry: %w", err)
	}
	key, size := payloadKey(p.ID, payload), pushWeight+len(payload)
	return db.do(ctx, size, func(t *tx) error {
		if t.has(pushes, p.ID[:]) {
			return store.ErrExists
		}
		if err := t.mayOwn(p.Owner); err != nil {
			return err
		}
		if p.HoldsFiles() && !t.has(orphans, p.ID[:]) {
			return fmt.Errorf("%w: the files of push %s are gone", store.ErrCorrupt, p.ID)
		}
		if err := t.take(size, *db.limits.Load(), freeBytes); err != nil {
			return err
		}
		if err := t.post(e.Post, *db.limits.Load()); err != nil {
			return err
		}
		if err := t.createPush(p, record, key, payload, entry); err != nil {
			return err
		}
		if err := t.then(p.ID, e.Then); err != nil {
			return err
		}
		_, err := t.putMessages(e.Messages, *db.limits.Load())
		return err
	})
}

// mayOwn refuses a new push for an account that may not act.
func (t *tx) mayOwn(owner store.AccountID) error {
	if owner == 0 {
		return nil
	}
	a, err := t.account(owner)
	if errors.Is(err, store.ErrNotFound) || err == nil && !a.Active() {
		return store.ErrToken
	}
	return err
}

// Push returns the push, or store.ErrNotFound.
func (db *DB) Push(ctx context.Context, id store.ID) (p store.Push, err error) {
	err = db.view(ctx, func(t *tx) error {
		p, err = t.push(id)
		return err
	})
	return p, err
}

// Sized returns the push, and how many bytes its sealed payload has; 0 where there is
// none. store.ErrNotFound if there is no such push.
func (db *DB) Sized(ctx context.Context, id store.ID) (p store.Push, payload int, err error) {
	err = db.view(ctx, func(t *tx) error {
		_, sealed := t.payload(id)
		payload = len(sealed)
		p, err = t.push(id)
		return err
	})
	return p, payload, err
}

// Change applies r to the push.
func (db *DB) Change(ctx context.Context, id store.ID, r store.Rule) (store.Change, error) {
	var c store.Change
	err := db.do(ctx, 0, func(t *tx) (err error) {
		c, err = t.change(id, r)
		if err == nil {
			c.Entry.Messages, err = t.putMessages(c.Entry.Messages, *db.limits.Load())
		}
		if err == nil {
			err = t.post(c.Entry.Post, *db.limits.Load())
		}
		return err
	})
	if err != nil {
		return store.Change{}, err
	}
	return c, nil
}

func (t *tx) change(id store.ID, r store.Rule) (store.Change, error) {
	p, err := t.push(id)
	if err != nil {
		return store.Change{}, err
	}
	next, e, err := apply(r, p)
	if err != nil {
		return store.Change{}, err
	}
	if err := plausible(p, next); err != nil {
		return store.Change{}, err
	}
	_, payload := t.payload(id)
	c := store.Change{Push: next, Entry: e, Payload: bytes.Clone(payload)}
	if next.State == store.Purged {
		return c, t.purge(p)
	}
	return c, t.update(p, c)
}

// update writes what a rule changed: nothing where the push stays as it is, and to the
// journal where no more than the counts change.
func (t *tx) update(old store.Push, c store.Change) error {
	counts, err := t.onlyCounts(old, c.Push)
	if err != nil {
		return err
	}
	switch {
	case counts && deltaOf(c.Push) == deltaOf(old) && c.Entry.Issue == nil:
		return nil
	case counts && c.Push.Seq != old.Seq && t.mayNote(c):
		return t.note(c.Push, c.Entry)
	default:
		return t.rewrite(old, c)
	}
}

// onlyCounts reports whether the counts are all that a push differs in from what it was.
func (t *tx) onlyCounts(old, next store.Push) (bool, error) {
	deltaOf(old).applyTo(&next)
	before, err := encode(t, old)
	if err != nil {
		return false, err
	}
	after, err := encode(t, next)
	return bytes.Equal(before, after), err
}

// mayNote reports whether a change is one for the journal, apart from what it changes:
// nothing else is to be written with it, and the journal has room.
func (t *tx) mayNote(c store.Change) bool {
	return c.Entry.Issue == nil && (c.Push.Live() || c.Payload == nil) && t.nextRow-t.journal.first < t.journal.bounds.most
}

// rewrite writes a change where it belongs, and before it what the journal has of
// the push.
func (t *tx) rewrite(old store.Push, c store.Change) error {
	record, err := encode(t, c.Push)
	if err != nil {
		return err
	}
	entry, err := encode(t, c.Entry)
	if err != nil {
		return err
	}
	if err := t.bring(old.ID); err != nil {
		return err
	}
	if err := t.putPush(&old, c.Push, record); err != nil {
		return err
	}
	if !c.Push.Live() && c.Payload != nil {
		if err := t.deletePayload(old.ID); err != nil {
			return err
		}
	}
	if old.HoldsFiles() && !c.Push.HoldsFiles() {
		if err := t.release(old.ID); err != nil {
			return err
		}
	}
	if i := c.Entry.Issue; i != nil && c.Push.HoldsFiles() {
		if err := t.issueGrant(*i); err != nil {
			return err
		}
	}
	if c.Push.Seq == old.Seq {
		return nil
	}
	return t.put(audit, auditKey(old.ID, old.Seq), entry)
}

// apply asks a rule.
func apply(r store.Rule, p store.Push) (next store.Push, e store.Entry, err error) {
	if broken := recovered(func() { next, e, err = r(p) }); broken != nil {
		return p, store.Entry{}, broken
	}
	return next, e, err
}

// recovered asks what may be wrong. A rule that panics must not take the
// committer with it, nor tell what it panicked with, which may be a secret.
func recovered(ask func()) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = panicError(v)
		}
	}()
	ask()
	return nil
}

func panicError(v any) error {
	if re, ok := v.(runtime.Error); ok {
		return fmt.Errorf("a rule panicked: %w", re)
	}
	return fmt.Errorf("a rule panicked with a %T", v)
}

// plausible refuses what no rule may do.
func plausible(p, next store.Push) error {
	switch {
	case next.ID != p.ID:
		return errors.New("a rule changed the ID of a push")
	case next.Seq != p.Seq && next.Seq != p.Seq+1:
		return fmt.Errorf("a rule went from audit entry %d to %d", p.Seq, next.Seq)
	default:
		return nil
	}
}
