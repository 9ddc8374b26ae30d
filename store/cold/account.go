package cold

import (
	"cmp"
	"context"
	"math"

	"pushbox/store/record"
)

// CreateAccount stores a new account under a new ID, which it returns. ErrExists if the address is
// in use; ErrIdentityTaken if one of its identities is.
func CreateAccount(ctx context.Context, e record.TableEngine, a record.Account, ev record.AdminEvent) (record.AccountID, error) {
	return update(ctx, e, func(t record.Tx) (record.AccountID, error) { return createAccount(t, a, ev) })
}

// CreateFirstAccount is CreateAccount if there is no account, else ErrExists.
func CreateFirstAccount(ctx context.Context, e record.TableEngine, a record.Account, ev record.AdminEvent) (record.AccountID, error) {
	return update(ctx, e, func(t record.Tx) (record.AccountID, error) {
		others, err := record.Accounts.List(t, record.Range{Limit: 1})
		if err == nil && len(others) > 0 {
			err = record.ErrExists
		}
		if err != nil {
			return 0, err
		}
		return createAccount(t, a, ev)
	})
}

func createAccount(t record.Tx, a record.Account, ev record.AdminEvent) (record.AccountID, error) {
	if err := t.Reserve(recordWeight); err != nil {
		return 0, err
	}
	if err := wantAddress(t, a.Email); err != nil {
		return 0, err
	}
	if err := wantIdentities(t, a); err != nil {
		return 0, err
	}
	id, err := addAccount(t, a)
	if err != nil {
		return 0, err
	}
	ev.Account = id
	return id, t.Tell(ev)
}

// wantAddress returns ErrExists if an account has that address.
func wantAddress(v record.View, email string) error {
	_, err := record.Accounts.Find(v, record.AccountsByEmail, []byte(email))
	return wantNone(err)
}

// wantIdentities returns ErrIdentityTaken if another account has an identity of a.
func wantIdentities(v record.View, a record.Account) error {
	for _, d := range a.Identities.Digests() {
		other, err := record.Accounts.Find(v, record.AccountsByIdentity, d[:])
		taken, err := found(err)
		if taken && other.ID != a.ID {
			err = record.ErrIdentityTaken
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addAccount stores an account with a free address and free identities under a new ID.
func addAccount(t record.Tx, a record.Account) (record.AccountID, error) {
	n, err := t.Next(record.Accounts.Table)
	if err != nil {
		return 0, err
	}
	a.ID = record.AccountID(n)
	return a.ID, t.Put(record.Accounts.Table, a)
}

// LastAccount returns the ID of the newest account, even if it was removed; 0 in a new store.
func LastAccount(ctx context.Context, e record.TableEngine) (record.AccountID, error) {
	n, err := read(ctx, e, func(v record.View) (uint64, error) { return v.Last(record.Accounts.Table) })
	return record.AccountID(n), err
}

// Account returns ErrNotFound if there is none.
func Account(ctx context.Context, e record.TableEngine, id record.AccountID) (record.Account, error) {
	return read(ctx, e, func(v record.View) (record.Account, error) { return account(v, id) })
}

func account(v record.View, id record.AccountID) (record.Account, error) {
	return record.Accounts.Get(v, record.NumberKey(uint64(id)))
}

// AccountByEmail returns ErrNotFound if there is none.
func AccountByEmail(ctx context.Context, e record.TableEngine, email string) (record.Account, error) {
	return read(ctx, e, func(v record.View) (record.Account, error) {
		return record.Accounts.Find(v, record.AccountsByEmail, []byte(email))
	})
}

// AccountByIdentity returns the account that has the identity with that digest, or
// ErrNotFound.
func AccountByIdentity(ctx context.Context, e record.TableEngine, d record.IdentityDigest) (record.Account, error) {
	return read(ctx, e, func(v record.View) (record.Account, error) {
		return record.Accounts.Find(v, record.AccountsByIdentity, d[:])
	})
}

// Accounts lists accounts by ID, from the first after the given one.
func Accounts(ctx context.Context, e record.TableEngine, after record.AccountID, limit int) ([]record.Account, error) {
	return read(ctx, e, func(v record.View) ([]record.Account, error) {
		return record.Accounts.List(v, record.Range{After: record.NumberKey(uint64(after)), Limit: limit})
	})
}

// ChangeAccount applies r to an account and its sessions. The ID does not change. ErrExists if
// another account has the new address, ErrIdentityTaken if one has a new identity, and nothing was
// changed. If by is not zero it must be the digest of one of its sessions, else ErrSession.
// ErrNotFound if there is no such account; ErrTokens if the change adds a token and the account has
// MaxTokens; ErrLastAdmin if the account is no longer an administrator, OtherAdmin is not either,
// and r does not allow that; for its mail the errors of PushEngine.CreatePush. A successor gets a
// new ID. An error of r is returned as it is, and nothing was changed.
func ChangeAccount(ctx context.Context, e record.TableEngine, id record.AccountID, by record.SessionDigest, r record.AccountRule) (record.AccountChange, error) {
	return update(ctx, e, func(t record.Tx) (record.AccountChange, error) { return changeAccount(t, id, by, r) })
}

func changeAccount(t record.Tx, id record.AccountID, by record.SessionDigest, r record.AccountRule) (c record.AccountChange, err error) {
	if err := wantSession(t, id, by); err != nil {
		return c, err
	}
	old, err := account(t, id)
	if err != nil {
		return c, err
	}
	var change record.SessionChange
	var ev record.AdminEvent
	var ruleErr error
	if err := record.CatchPanic(func() { c.Account, change, ev, ruleErr = r(old) }); err != nil || ruleErr != nil {
		return c, cmp.Or(err, ruleErr)
	}
	c.Account.ID = old.ID
	if err := mayChange(t, old, c.Account, change); err != nil {
		return c, err
	}
	gone, err := endedSessions(t, id, by, change)
	if err != nil {
		return c, err
	}
	if c.Account == old && len(gone) == 0 && change.Begin == nil && !change.EndTokens && change.Token == nil && change.Hook == nil && change.Mail == nil {
		return c, nil
	}
	if err := changeTokens(t, &c, change, &ev); err != nil {
		return c, err
	}
	if c.Account != old {
		if err := t.Put(record.Accounts.Table, c.Account); err != nil {
			return c, err
		}
	}
	if change.Successor != nil {
		if ev.Account, err = addAccount(t, *change.Successor); err != nil {
			return c, err
		}
	}
	if err := remove(t, record.Sessions.Table, gone); err != nil {
		return c, err
	}
	if change.Begin != nil {
		if c.Session, err = addSession(t, id, *change.Begin); err != nil {
			return c, err
		}
	}
	if change.Untold {
		return c, nil
	}
	return c, t.Tell(ev)
}

// changeTokens sends the mail of a change of an account, ends its tokens with its webhooks, and begins
// another token, or another webhook.
func changeTokens(t record.Tx, c *record.AccountChange, change record.SessionChange, ev *record.AdminEvent) error {
	ended, err := endedTokens(t, c.Account.ID, change)
	if err != nil {
		return err
	}
	if _, err := record.Send(t, change.Mail); err != nil {
		return err
	}
	if err := remove(t, record.Tokens.Table, ended); err != nil {
		return err
	}
	if change.EndTokens {
		if err := removeHooks(t, c.Account.ID); err != nil {
			return err
		}
	}
	if change.Hook != nil {
		h := *change.Hook
		if ev.Subject, err = place(t, record.Hooks, &h); err != nil {
			return err
		}
		c.Hook = h.ID
	}
	if change.Token == nil {
		return nil
	}
	c.Token, err = addToken(t, *change.Token)
	ev.Subject = uint64(c.Token)
	return err
}

// mayChange refuses a change that conflicts with another account, or takes the last administrator.
func mayChange(v record.View, old, next record.Account, change record.SessionChange) error {
	if next.Email != old.Email {
		if err := wantAddress(v, next.Email); err != nil {
			return err
		}
	}
	if next.Identities != old.Identities {
		if err := wantIdentities(v, next); err != nil {
			return err
		}
	}
	if !old.Administers() || next.Administers() || change.EvenLast {
		return nil
	}
	other, err := account(v, change.OtherAdmin)
	there, err := found(err)
	if err == nil && (!there || other.ID == old.ID || !other.Administers()) {
		err = record.ErrLastAdmin
	}
	return err
}

// remove deletes records.
func remove[R record.Record](t record.Tx, of *record.Table, gone []R) error {
	for _, r := range gone {
		if err := t.Delete(of, r); err != nil {
			return err
		}
	}
	return nil
}

// RemoveAccount removes an account with its quota and all records that end with it, such as its
// tokens. ErrExists if it still owns pushes, and nothing was changed.
func RemoveAccount(ctx context.Context, e record.TableEngine, id record.AccountID, ev record.AdminEvent) error {
	return e.Update(ctx, func(t record.Tx) error {
		a, err := account(t, id)
		if err != nil {
			return err
		}
		gone := make(map[*record.Table][]record.Record)
		for _, of := range record.Tables() {
			if r, ok := of.Owned(id, math.MaxInt); ok {
				if gone[of], err = t.List(of, r); err != nil {
					return err
				}
			}
		}
		if err := t.Disown(id); err != nil {
			return err
		}
		for _, of := range record.Tables() {
			if err := remove(t, of, gone[of]); err != nil {
				return err
			}
		}
		if err := t.Delete(record.Accounts.Table, a); err != nil {
			return err
		}
		return t.Tell(ev)
	})
}
