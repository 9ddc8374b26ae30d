package bolt

import (
	"bytes"
	"context"
	"encoding/binary"

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

// ChangeAccount applies f to the account; ID and address stay as they are.
func (db *DB) ChangeAccount(ctx context.Context, id store.AccountID, f func(store.Account) store.Account) (a store.Account, err error) {
	err = db.do(ctx, 0, func(t *tx) error {
		old, err := t.account(id)
		if err != nil {
			return err
		}
		if a, err = applyToAccount(f, old); err != nil {
			return err
		}
		a.ID, a.Email = old.ID, old.Email
		if a == old {
			return nil
		}
		return t.putAccount(a)
	})
	return a, err
}

// applyToAccount is to accounts what apply is to pushes.
func applyToAccount(f func(store.Account) store.Account, a store.Account) (next store.Account, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = panicError(v)
		}
	}()
	return f(a), nil
}

// RemoveAccount forgets an account and its tokens.
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
	for {
		k, digest := t.seek(tokenOwners, owner)
		if !bytes.HasPrefix(k, owner) {
			break
		}
		if err := t.removeToken(k, digest); err != nil {
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
