package bolt

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"pushbox/store"
)

// Session returns the session with that digest and its account, or
// store.ErrNotFound.
func (db *DB) Session(ctx context.Context, d store.SessionDigest) (s store.Session, owner store.Account, err error) {
	err = db.view(ctx, func(t *tx) error {
		if s, err = t.session(d[:]); err != nil {
			return err
		}
		owner, err = t.account(s.Owner)
		return err
	})
	if err != nil {
		return store.Session{}, store.Account{}, err
	}
	return s, owner, nil
}

// Sessions lists an account's sessions, newest first.
func (db *DB) Sessions(ctx context.Context, owner store.AccountID, limit int) (list []store.Session, err error) {
	err = db.view(ctx, func(t *tx) error {
		c, prefix := t.cursor(sessionOwners), uint64Key(uint64(owner))
		last := c.Prev
		if k, _ := c.Seek(sessionOwnerKey(owner+1, 0)); k == nil { // there is nothing behind them
			last = c.Last
		}
		for k, digest := last(); bytes.HasPrefix(k, prefix) && len(list) < limit; k, digest = c.Prev() {
			s, err := t.session(digest)
			if err != nil {
				return err
			}
			list = append(list, s)
		}
		return nil
	})
	return list, err
}

// TouchSession sets when the session was last used, if it still exists.
func (db *DB) TouchSession(ctx context.Context, d store.SessionDigest, at time.Time) error {
	return db.do(ctx, 0, func(t *tx) error {
		stored := t.get(sessions, d[:])
		if stored == nil {
			return nil
		}
		s := store.Session{Digest: d}
		if err := decode(&s, sessions, stored); err != nil {
			return err
		}
		s.LastUsedAt = at
		record, err := encode(t, s)
		if err != nil || bytes.Equal(record, stored) {
			return err
		}
		return t.put(sessions, d[:], record)
	})
}

// RemoveSession forgets a session; store.ErrNotFound if that account has none of
// that ID.
func (db *DB) RemoveSession(ctx context.Context, owner store.AccountID, id store.SessionID) error {
	return db.do(ctx, 0, func(t *tx) error {
		digest := t.get(sessionOwners, sessionOwnerKey(owner, id))
		if digest == nil {
			return store.ErrNotFound
		}
		s, err := t.session(digest)
		if err != nil {
			return err
		}
		return t.dropSessions([]store.Session{s})
	})
}

// ClearSessions looks at sessions by digest, from the first after the one given,
// and removes those that are over.
func (db *DB) ClearSessions(ctx context.Context, after store.SessionDigest, limit int, over func(store.Session) bool) (last store.SessionDigest, more bool, err error) {
	err = db.do(ctx, 0, func(t *tx) error {
		looked, err := t.sessionsAfter(after, limit)
		if err != nil {
			return err
		}
		last, more = after, len(looked) == limit
		if len(looked) > 0 {
			last = looked[len(looked)-1].Digest
		}
		var gone []store.Session
		if err := recovered(func() {
			for _, s := range looked {
				if over(s) {
					gone = append(gone, s)
				}
			}
		}); err != nil {
			return err
		}
		return t.dropSessions(gone)
	})
	return last, more, err
}

func (t *tx) sessionsAfter(after store.SessionDigest, limit int) (list []store.Session, err error) {
	c := t.cursor(sessions)
	for k, v := c.Seek(append(after[:], 0)); k != nil && len(list) < limit; k, v = c.Next() {
		if len(k) != digestLen {
			return nil, fmt.Errorf("%w: %s: a key of %d bytes", store.ErrCorrupt, sessions, len(k))
		}
		s := store.Session{Digest: store.SessionDigest(k)}
		if err := decode(&s, sessions, v); err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

func (t *tx) session(digest []byte) (store.Session, error) {
	v := t.get(sessions, digest)
	if v == nil || len(digest) != digestLen {
		return store.Session{}, store.ErrNotFound
	}
	s := store.Session{Digest: store.SessionDigest(digest)}
	return s, decode(&s, sessions, v)
}

// sessionsOf reads an account's sessions, oldest first.
func (t *tx) sessionsOf(owner store.AccountID) (list []store.Session, err error) {
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

// leaving finds the sessions that a turnover takes from an account, by the word
// of the one that asks.
func (t *tx) leaving(owner store.AccountID, by store.SessionDigest, turn store.Turnover) (gone []store.Session, err error) {
	if turn.Ends == store.EndNone && turn.Begins == nil {
		return nil, nil
	}
	all, err := t.sessionsOf(owner)
	if err != nil {
		return nil, err
	}
	var like []store.Session // those among which the new one is counted
	for _, s := range all {
		switch own := s.Digest == by; {
		case turn.Ends == store.EndOwn && own, turn.Ends == store.EndOthers && !own:
			gone = append(gone, s)
		case turn.Begins != nil && turn.Begins.Pending == s.Pending:
			like = append(like, s)
		}
	}
	if turn.Begins == nil {
		return gone, nil
	}
	if t.has(sessions, turn.Begins.Digest[:]) {
		return nil, store.ErrExists
	}
	over := len(like) + 1 - turn.Most
	return append(gone, like[:min(max(over, 0), len(like))]...), nil
}

// turnOver takes sessions from an account and begins another, if there is one.
func (t *tx) turnOver(owner store.AccountID, gone []store.Session, begins *store.Session) (s store.Session, err error) {
	if err := t.dropSessions(gone); err != nil || begins == nil {
		return s, err
	}
	n, err := t.nextID(sessions)
	if err != nil {
		return s, err
	}
	s = *begins
	s.ID, s.Owner = store.SessionID(n), owner
	record, err := encode(t, s)
	if err != nil {
		return s, err
	}
	if err := t.put(sessions, s.Digest[:], record); err != nil {
		return s, err
	}
	return s, t.put(sessionOwners, sessionOwnerKey(owner, s.ID), bytes.Clone(s.Digest[:]))
}

// removeSessions forgets all sessions of an account.
func (t *tx) removeSessions(owner store.AccountID) error {
	all, err := t.sessionsOf(owner)
	if err != nil {
		return err
	}
	return t.dropSessions(all)
}

func (t *tx) dropSessions(gone []store.Session) error {
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
