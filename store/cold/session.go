package cold

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"pushbox/store/record"
)

// Session returns a session and its account, or ErrNotFound.
func Session(ctx context.Context, e record.TableEngine, d record.SessionDigest) (s record.Session, owner record.Account, err error) {
	return withOwner(ctx, e, record.Sessions, d[:])
}

// Sessions lists an account's sessions, newest first.
func Sessions(ctx context.Context, e record.TableEngine, owner record.AccountID, limit int) ([]record.Session, error) {
	all, err := read(ctx, e, func(v record.View) ([]record.Session, error) { return sessionsOf(v, owner) })
	slices.Reverse(all)
	return all[:min(limit, len(all))], err
}

// sessionsOf returns all sessions of an account, oldest first.
func sessionsOf(v record.View, owner record.AccountID) ([]record.Session, error) {
	return record.Sessions.Owned(v, owner, math.MaxInt)
}

// TouchSession sets when a session was last used, if it still exists.
func TouchSession(ctx context.Context, e record.TableEngine, d record.SessionDigest, at time.Time) error {
	return touch(ctx, e, record.Sessions, d[:], func(s *record.Session) { s.LastUsedAt = at })
}

// RemoveSession returns ErrNotFound if that account has no such session.
func RemoveSession(ctx context.Context, e record.TableEngine, owner record.AccountID, id record.SessionID, ev record.AdminEvent) error {
	return e.Update(ctx, func(t record.Tx) error {
		s, err := record.Sessions.Find(t, record.SessionsByOwner, record.PairKey(uint64(owner), uint64(id)))
		if err != nil {
			return err
		}
		if err := t.Delete(record.Sessions.Table, s); err != nil {
			return err
		}
		return t.Tell(ev)
	})
}

// ClearSessions reads up to limit sessions of all accounts by digest, from the first after the
// given one, and removes those for which c.Ended is true. It returns the last digest that it read,
// and whether there are more.
func ClearSessions(ctx context.Context, e record.TableEngine, after record.SessionDigest, limit int, c record.SessionCutoff) (last record.SessionDigest, more bool, err error) {
	last = after
	s, more, err := clearOver(ctx, e, record.Sessions, record.Range{After: after[:], Limit: limit}, c.Ended)
	if s != nil {
		last = s.Digest
	}
	return last, more, err
}

// wantSession returns ErrSession unless by is the digest of a session of the account, or zero.
func wantSession(v record.View, owner record.AccountID, by record.SessionDigest) error {
	if by == (record.SessionDigest{}) {
		return nil
	}
	s, err := record.Sessions.Get(v, by[:])
	if errors.Is(err, record.ErrNotFound) || err == nil && s.Owner != owner {
		return record.ErrSession
	}
	return err
}

// endedSessions returns the sessions of an account that a change ends. by is the session that
// asks for the change.
func endedSessions(v record.View, owner record.AccountID, by record.SessionDigest, change record.SessionChange) ([]record.Session, error) {
	if change.Revoke == record.RevokeNone && change.Begin == nil {
		return nil, nil
	}
	if change.Begin != nil {
		_, err := record.Sessions.Get(v, change.Begin.Digest[:])
		if err := wantNone(err); err != nil {
			return nil, err
		}
	}
	all, err := sessionsOf(v, owner)
	return change.Ended(all, by), err
}

func addSession(t record.Tx, owner record.AccountID, s record.Session) (record.Session, error) {
	n, err := t.Next(record.Sessions.Table)
	s.ID, s.Owner = record.SessionID(n), owner
	if err != nil {
		return record.Session{}, err
	}
	s.Sealed = slices.Clone(s.Sealed)
	return s, t.Put(record.Sessions.Table, s)
}
