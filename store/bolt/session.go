package bolt

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"pushbox/store/record"
)

// Session returns the session with that digest and its account, or
// record.ErrNotFound.
func (db *DB) Session(ctx context.Context, d record.SessionDigest) (s record.Session, owner record.Account, err error) {
	err = db.view(ctx, func(t *tx) error {
		if s, err = t.session(d[:]); err != nil {
			return err
		}
		owner, err = t.account(s.Owner)
		return err
	})
	if err != nil {
		return record.Session{}, record.Account{}, err
	}
	return s, owner, nil
}

// Sessions lists an account's sessions, newest first.
func (db *DB) Sessions(ctx context.Context, owner record.AccountID, limit int) ([]record.Session, error) {
	return viewed(ctx, db, func(t *tx) (list []record.Session, err error) {
		c, prefix := t.cursor(sessionOwners), uint64Key(uint64(owner))
		last := c.Prev
		if k, _ := c.Seek(sessionOwnerKey(owner+1, 0)); k == nil { // there is nothing behind them
			last = c.Last
		}
		for k, digest := last(); bytes.HasPrefix(k, prefix) && len(list) < limit; k, digest = c.Prev() {
			s, err := t.session(digest)
			if err != nil {
				return nil, err
			}
			list = append(list, s)
		}
		return list, nil
	})
}

// TouchSession sets when the session was last used, if it still exists.
func (db *DB) TouchSession(ctx context.Context, d record.SessionDigest, at time.Time) error {
	return db.do(ctx, 0, func(t *tx) error {
		stored := t.get(sessions, d[:])
		if stored == nil {
			return nil
		}
		s := record.Session{Digest: d}
		if err := decode(&s, sessions, stored); err != nil {
			return err
		}
		s.LastUsedAt = at
		raw, err := encode(t, s)
		if err != nil || bytes.Equal(raw, stored) {
			return err
		}
		return t.put(sessions, d[:], raw)
	})
}

// RemoveSession removes a session; record.ErrNotFound if that account has no session of
// that ID.
func (db *DB) RemoveSession(ctx context.Context, owner record.AccountID, id record.SessionID, e record.AdminEvent) error {
	return db.do(ctx, 0, func(t *tx) error {
		digest := t.get(sessionOwners, sessionOwnerKey(owner, id))
		if digest == nil {
			return record.ErrNotFound
		}
		s, err := t.session(digest)
		if err != nil {
			return err
		}
		if err := t.dropSessions([]record.Session{s}); err != nil {
			return err
		}
		return t.addEvent(e)
	})
}

// ClearSessions reads sessions by digest, from the first after the given one, and
// removes those that c.Ended.
func (db *DB) ClearSessions(ctx context.Context, after record.SessionDigest, limit int, c record.SessionCutoff) (last record.SessionDigest, more bool, err error) {
	err = db.do(ctx, 0, func(t *tx) error {
		looked, err := t.sessionsAfter(after, limit)
		if err != nil {
			return err
		}
		last, more = after, len(looked) == limit
		if len(looked) > 0 {
			last = looked[len(looked)-1].Digest
		}
		return t.dropSessions(slices.DeleteFunc(looked, func(s record.Session) bool { return !c.Ended(s) }))
	})
	return last, more, err
}

func (t *tx) sessionsAfter(after record.SessionDigest, limit int) (list []record.Session, err error) {
	c := t.cursor(sessions)
	for k, v := c.Seek(append(after[:], 0)); k != nil && len(list) < limit; k, v = c.Next() {
		if len(k) != digestLen {
			return nil, fmt.Errorf("%w: %s: a key of %d bytes", record.ErrCorrupt, sessions, len(k))
		}
		s := record.Session{Digest: record.SessionDigest(k)}
		if err := decode(&s, sessions, v); err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

func (t *tx) session(digest []byte) (record.Session, error) {
	if len(digest) != digestLen {
		return record.Session{}, record.ErrNotFound
	}
	s := record.Session{Digest: record.SessionDigest(digest)}
	if err := t.find(sessions, digest, &s); err != nil {
		return record.Session{}, err
	}
	return s, nil
}

// sessionsOf reads an account's sessions, oldest first.
func (t *tx) sessionsOf(owner record.AccountID) (list []record.Session, err error) {
	c, prefix := t.cursor(sessionOwners), uint64Key(uint64(owner))
	for k, digest := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, digest = c.Next() {
		s, err := t.session(digest)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// endedSessions returns the sessions of an account that a change ends. by is the
// session that asks for the change.
func (t *tx) endedSessions(owner record.AccountID, by record.SessionDigest, change record.SessionChange) (gone []record.Session, err error) {
	if change.Revoke == record.RevokeNone && change.Begin == nil {
		return nil, nil
	}
	all, err := t.sessionsOf(owner)
	if err != nil {
		return nil, err
	}
	if change.Begin != nil && t.has(sessions, change.Begin.Digest[:]) {
		return nil, record.ErrExists
	}
	return change.Ended(all, by), nil
}

// replaceSessions removes sessions of an account and begins another, if there is one.
func (t *tx) replaceSessions(owner record.AccountID, gone []record.Session, begins *record.Session) (s record.Session, err error) {
	if err := t.dropSessions(gone); err != nil || begins == nil {
		return s, err
	}
	n, err := t.nextID(sessions)
	if err != nil {
		return s, err
	}
	s = *begins
	s.ID, s.Owner = record.SessionID(n), owner
	if err := putRecord(t, sessions, s.Digest[:], s); err != nil {
		return s, err
	}
	return s, t.put(sessionOwners, sessionOwnerKey(owner, s.ID), bytes.Clone(s.Digest[:]))
}

// removeSessions removes all sessions of an account.
func (t *tx) removeSessions(owner record.AccountID) error {
	all, err := t.sessionsOf(owner)
	if err != nil {
		return err
	}
	return t.dropSessions(all)
}

func (t *tx) dropSessions(gone []record.Session) error {
	for _, s := range gone {
		if err := t.delete(sessions, s.Digest[:]); err != nil {
			return err
		}
		if err := t.delete(sessionOwners, sessionOwnerKey(s.Owner, s.ID)); err != nil {
			return err
		}
	}
	return nil
}
