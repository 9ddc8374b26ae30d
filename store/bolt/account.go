package bolt

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"

	"pushbox/store/record"
)

// CreateAccount keeps a new account under a new ID, which it returns.
func (db *DB) CreateAccount(ctx context.Context, a record.Account, e record.AdminEvent) (record.AccountID, error) {
	return changed(ctx, db, func(t *tx) (record.AccountID, error) { return t.createAccount(a, e) })
}

// LastAccount returns the last ID that was given to an account; 0 in a new store.
func (db *DB) LastAccount(ctx context.Context) (record.AccountID, error) {
	return viewed(ctx, db, func(t *tx) (record.AccountID, error) {
		return record.AccountID(t.lastID(accounts)), nil
	})
}

// CreateFirstAccount is CreateAccount if there is no account, else record.ErrExists.
func (db *DB) CreateFirstAccount(ctx context.Context, a record.Account, e record.AdminEvent) (record.AccountID, error) {
	return changed(ctx, db, func(t *tx) (record.AccountID, error) {
		if first, _ := t.seek(accounts, nil); first != nil {
			return 0, record.ErrExists
		}
		return t.createAccount(a, e)
	})
}

func (t *tx) createAccount(a record.Account, e record.AdminEvent) (_ record.AccountID, err error) {
	if t.has(emails, []byte(a.Email)) {
		return 0, record.ErrExists
	}
	if err := t.wantFree(0, a); err != nil {
		return 0, err
	}
	if e.Account, err = t.addAccount(a); err != nil {
		return 0, err
	}
	return e.Account, t.addEvent(e)
}

// addAccount puts an account whose address and identities are free under a new ID.
func (t *tx) addAccount(a record.Account) (record.AccountID, error) {
	n, err := t.nextID(accounts)
	if err != nil {
		return 0, err
	}
	a.ID = record.AccountID(n)
	if err := t.put(emails, []byte(a.Email), uint64Key(n)); err != nil {
		return 0, err
	}
	if err := t.putIdentities("", a); err != nil {
		return 0, err
	}
	return a.ID, t.putAccount(a)
}

// Account returns the account, or record.ErrNotFound.
func (db *DB) Account(ctx context.Context, id record.AccountID) (record.Account, error) {
	return viewed(ctx, db, func(t *tx) (record.Account, error) { return t.account(id) })
}

// AccountByEmail returns the account with that address, or record.ErrNotFound.
func (db *DB) AccountByEmail(ctx context.Context, email string) (record.Account, error) {
	return viewed(ctx, db, func(t *tx) (record.Account, error) {
		return t.accountAt(emails, []byte(email))
	})
}

// AccountByIdentity returns the account with that identity, or record.ErrNotFound.
func (db *DB) AccountByIdentity(ctx context.Context, d record.IdentityDigest) (record.Account, error) {
	return viewed(ctx, db, func(t *tx) (record.Account, error) { return t.accountAt(identities, d[:]) })
}

// accountAt returns the account that a row of an index leads to, or record.ErrNotFound.
func (t *tx) accountAt(b bucket, key []byte) (record.Account, error) {
	v := t.get(b, key)
	if v == nil {
		return record.Account{}, record.ErrNotFound
	}
	id, err := number(b, v)
	if err != nil {
		return record.Account{}, err
	}
	return t.account(record.AccountID(id))
}

// Accounts lists accounts by ID, from the first after the one given.
func (db *DB) Accounts(ctx context.Context, after record.AccountID, limit int) ([]record.Account, error) {
	return viewed(ctx, db, func(t *tx) (list []record.Account, err error) {
		c := t.cursor(accounts)
		k, v := c.Seek(uint64Key(uint64(after)))
		if k != nil && binary.BigEndian.Uint64(k) == uint64(after) {
			k, v = c.Next()
		}
		for ; k != nil && len(list) < limit; k, v = c.Next() {
			var a record.Account
			if err := decode(&a, accounts, v); err != nil {
				return nil, err
			}
			list = append(list, a)
		}
		return list, nil
	})
}

// ChangeAccount applies r to the account and to its sessions; the ID stays as it is.
func (db *DB) ChangeAccount(ctx context.Context, id record.AccountID, by record.SessionDigest, r record.AccountRule) (record.AccountChange, error) {
	return changed(ctx, db, func(t *tx) (record.AccountChange, error) { return t.changeAccount(id, by, r, *db.limits.Load()) })
}

// changeAccount decides everything before it writes.
func (t *tx) changeAccount(id record.AccountID, by record.SessionDigest, r record.AccountRule, l limits) (c record.AccountChange, err error) {
	if err := t.wantSession(id, by); err != nil {
		return c, err
	}
	old, err := t.account(id)
	if err != nil {
		return c, err
	}
	var change record.SessionChange
	var e record.AdminEvent
	var ruleErr error
	if err := record.CatchPanic(func() { c.Account, change, e, ruleErr = r(old) }); err != nil || ruleErr != nil {
		return c, cmp.Or(err, ruleErr)
	}
	c.Account.ID = old.ID
	renamed := c.Account.Email != old.Email
	if renamed && t.has(emails, []byte(c.Account.Email)) {
		return record.AccountChange{}, record.ErrExists
	}
	if err := t.wantFree(id, c.Account); err != nil {
		return record.AccountChange{}, err
	}
	if old.Administers() && !c.Account.Administers() && !change.EvenLast {
		if err := t.wantOtherAdmin(id, change.OtherAdmin); err != nil {
			return record.AccountChange{}, err
		}
	}
	gone, err := t.endedSessions(id, by, change)
	if err != nil {
		return c, err
	}
	if c.Account == old && len(gone) == 0 && change.Begin == nil && !change.EndTokens && change.Token == nil && change.Mail == nil {
		return c, nil
	}
	if err := t.putMail(change.Mail, l); err != nil {
		return c, err
	}
	if change.EndTokens {
		if err := t.removeEach(tokenOwners, uint64Key(uint64(id)), t.removeToken); err != nil {
			return c, err
		}
	}
	if change.Token != nil {
		if e.Subject, err = t.createToken(*change.Token); err != nil {
			return c, err
		}
		c.Token = record.TokenID(e.Subject)
	}
	if renamed {
		if err := t.delete(emails, []byte(old.Email)); err != nil {
			return c, err
		}
		if err := t.put(emails, []byte(c.Account.Email), uint64Key(uint64(id))); err != nil {
			return c, err
		}
	}
	if c.Account != old {
		if err := t.putIdentities(old.Identities, c.Account); err != nil {
			return c, err
		}
		if err := t.putAccount(c.Account); err != nil {
			return c, err
		}
	}
	if change.Successor != nil {
		if e.Account, err = t.addAccount(*change.Successor); err != nil {
			return c, err
		}
	}
	if !change.Untold {
		if err := t.addEvent(e); err != nil {
			return c, err
		}
	}
	c.Session, err = t.replaceSessions(id, gone, change.Begin)
	return c, err
}

// wantFree returns record.ErrIdentityTaken if an account other than id has an identity of a.
func (t *tx) wantFree(id record.AccountID, a record.Account) error {
	for _, d := range a.Identities.Digests() {
		if v := t.get(identities, d[:]); v != nil && !bytes.Equal(v, uint64Key(uint64(id))) {
			return record.ErrIdentityTaken
		}
	}
	return nil
}

// putIdentities makes the identities of an account, which had others before, lead to it.
func (t *tx) putIdentities(before record.Identities, a record.Account) error {
	if before == a.Identities {
		return nil
	}
	for _, d := range before.Digests() {
		if err := t.delete(identities, d[:]); err != nil {
			return err
		}
	}
	for _, d := range a.Identities.Digests() {
		if err := t.put(identities, bytes.Clone(d[:]), uint64Key(uint64(a.ID))); err != nil {
			return err
		}
	}
	return nil
}

// wantOtherAdmin returns record.ErrLastAdmin unless another account than id administers.
func (t *tx) wantOtherAdmin(id, other record.AccountID) error {
	a, err := t.account(other)
	if errors.Is(err, record.ErrNotFound) || err == nil && (other == id || !a.Administers()) {
		return record.ErrLastAdmin
	}
	return err
}

// wantSession returns record.ErrSession unless by is the digest of a session of the
// account, or zero.
func (t *tx) wantSession(owner record.AccountID, by record.SessionDigest) error {
	if by == (record.SessionDigest{}) {
		return nil
	}
	s, err := t.session(by[:])
	if errors.Is(err, record.ErrNotFound) || err == nil && s.Owner != owner {
		return record.ErrSession
	}
	return err
}

// RemoveAccount removes an account with its tokens, sessions, requests, webhooks and quota.
func (db *DB) RemoveAccount(ctx context.Context, id record.AccountID, e record.AdminEvent) error {
	return db.do(ctx, 0, func(t *tx) error {
		a, err := t.account(id)
		if err != nil {
			return err
		}
		if t.hasPrefix(owners, uint64Key(uint64(id))) {
			return record.ErrExists
		}
		if err := t.removeAccount(a); err != nil {
			return err
		}
		return t.addEvent(e)
	})
}

func (t *tx) removeAccount(a record.Account) error {
	owner := uint64Key(uint64(a.ID))
	if err := t.removeEach(tokenOwners, owner, t.removeToken); err != nil {
		return err
	}
	if err := t.removeSessions(a.ID); err != nil {
		return err
	}
	if err := t.removeEach(requestOwners, owner, t.removeRequestRow); err != nil {
		return err
	}
	for _, b := range []bucket{hooks, quotas} {
		if err := t.deletePrefix(b, owner); err != nil {
			return err
		}
	}
	if err := t.delete(room, accountRoom(a.ID)); err != nil {
		return err
	}
	if err := t.delete(emails, []byte(a.Email)); err != nil {
		return err
	}
	if err := t.putIdentities(a.Identities, record.Account{ID: a.ID}); err != nil {
		return err
	}
	return t.delete(accounts, owner)
}

func (t *tx) account(id record.AccountID) (a record.Account, err error) {
	err = t.find(accounts, uint64Key(uint64(id)), &a)
	return a, err
}

func (t *tx) putAccount(a record.Account) error {
	return putRecord(t, accounts, uint64Key(uint64(a.ID)), a)
}
