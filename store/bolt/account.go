package bolt

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"

	"pushbox/store"
)

// CreateAccount keeps a new account under a new ID, which it returns.
func (db *DB) CreateAccount(ctx context.Context, a store.Account) (id store.AccountID, err error) {
	err = db.do(ctx, 0, func(t *tx) error {
		id, err = t.createAccount(a)
		return err
	})
	return id, err
}

// CreateFirstAccount is CreateAccount where there is no account.
func (db *DB) CreateFirstAccount(ctx context.Context, a store.Account) (id store.AccountID, err error) {
	err = db.do(ctx, 0, func(t *tx) error {
		if first, _ := t.seek(accounts, nil); first != nil {
			return store.ErrExists
		}
		id, err = t.createAccount(a)
		return err
	})
	return id, err
}

func (t *tx) createAccount(a store.Account) (store.AccountID, error) {
	if t.has(emails, []byte(a.Email)) {
		return 0, store.ErrExists
	}
	n, err := t.nextID(accounts)
	if err != nil {
		return 0, err
	}
	a.ID = store.AccountID(n)
	if err := t.put(emails, []byte(a.Email), uint64Key(n)); err != nil {
		return 0, err
	}
	return a.ID, t.putAccount(a)
}

// Account returns the account, or store.ErrNotFound.
func (db *DB) Account(ctx context.Context, id store.AccountID) (a store.Account, err error) {
	err = db.view(ctx, func(t *tx) error {
		a, err = t.account(id)
		return err
	})
	return a, err
}

// AccountByEmail returns the account with that address, or store.ErrNotFound.
func (db *DB) AccountByEmail(ctx context.Context, email string) (a store.Account, err error) {
	err = db.view(ctx, func(t *tx) error {
		v := t.get(emails, []byte(email))
		if v == nil {
			return store.ErrNotFound
		}
		id, err := number(emails, v)
		if err != nil {
			return err
		}
		a, err = t.account(store.AccountID(id))
		return err
	})
	return a, err
}

// Accounts lists accounts by ID, from the first after the one given.
func (db *DB) Accounts(ctx context.Context, after store.AccountID, limit int) (list []store.Account, err error) {
	err = db.view(ctx, func(t *tx) error {
		c := t.cursor(accounts)
		k, v := c.Seek(uint64Key(uint64(after)))
		if k != nil && binary.BigEndian.Uint64(k) == uint64(after) {
			k, v = c.Next()
		}
		for ; k != nil && len(list) < limit; k, v = c.Next() {
			var a store.Account
			if err := decode(&a, accounts, v); err != nil {
				return err
			}
			list = append(list, a)
		}
		return nil
	})
	return list, err
}

// ChangeAccount applies r to the account and to its sessions; ID and address stay
// as they are.
func (db *DB) ChangeAccount(ctx context.Context, id store.AccountID, by store.SessionDigest, r store.AccountRule) (c store.AccountChange, err error) {
	err = db.do(ctx, 0, func(t *tx) error {
		c, err = t.changeAccount(id, by, r)
		return err
	})
	if err != nil {
		return store.AccountChange{}, err
	}
	return c, nil
}

// changeAccount decides all before it writes.
func (t *tx) changeAccount(id store.AccountID, by store.SessionDigest, r store.AccountRule) (c store.AccountChange, err error) {
	if err := t.wantSession(id, by); err != nil {
		return c, err
	}
	old, err := t.account(id)
	if err != nil {
		return c, err
	}
	var turn store.Turnover
	var ruleErr error
	if err := recovered(func() { c.Account, turn, ruleErr = r(old) }); err != nil || ruleErr != nil {
		return c, cmp.Or(err, ruleErr)
	}
	c.Account.ID, c.Account.Email = old.ID, old.Email
	gone, err := t.leaving(id, by, turn)
	if err != nil {
		return c, err
	}
	if c.Account != old {
		if err := t.putAccount(c.Account); err != nil {
			return c, err
		}
	}
	c.Session, err = t.turnOver(id, gone, turn.Begins)
	return c, err
}

// wantSession returns store.ErrSession unless that is a session of the account,
// or none is named.
func (t *tx) wantSession(owner store.AccountID, by store.SessionDigest) error {
	if by == (store.SessionDigest{}) {
		return nil
	}
	s, err := t.session(by[:])
	if errors.Is(err, store.ErrNotFound) || err == nil && s.Owner != owner {
		return store.ErrSession
	}
	return err
}

// RemoveAccount forgets an account, its tokens, sessions and webhooks.
func (db *DB) RemoveAccount(ctx context.Context, id store.AccountID) error {
	return db.do(ctx, 0, func(t *tx) error {
		a, err := t.account(id)
		if err != nil {
			return err
		}
		if t.hasPrefix(owners, uint64Key(uint64(id))) {
			return store.ErrExists
		}
		return t.removeAccount(a)
	})
}

func (t *tx) removeAccount(a store.Account) error {
	owner := uint64Key(uint64(a.ID))
	for met := trail(nil); ; {
		k, digest := t.seek(tokenOwners, owner)
		if !bytes.HasPrefix(k, owner) {
			break
		}
		k, err := met.meet(tokenOwners, k)
		if err == nil {
			err = t.removeToken(k, digest)
		}
		if err != nil {
			return err
		}
	}
	if err := t.removeSessions(a.ID); err != nil {
		return err
	}
	for _, b := range []bucket{hooks, quotas} {
		if err := t.deletePrefix(b, owner); err != nil {
			return err
		}
	}
	if err := t.delete(emails, []byte(a.Email)); err != nil {
		return err
	}
	return t.delete(accounts, owner)
}

func (t *tx) account(id store.AccountID) (a store.Account, err error) {
	v := t.get(accounts, uint64Key(uint64(id)))
	if v == nil {
		return a, store.ErrNotFound
	}
	return a, decode(&a, accounts, v)
}

func (t *tx) putAccount(a store.Account) error {
	record, err := encode(t, a)
	if err != nil {
		return err
	}
	return t.put(accounts, uint64Key(uint64(a.ID)), record)
}
