package store

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"pushbox/internal/email"
	"pushbox/internal/humanize"
	"pushbox/internal/secret"
	"pushbox/store/seal"
)

// Limits of accounts and API tokens.
const (
	MaxEmail    = email.MaxLength // bytes
	MinPassword = 10              // characters
	MaxPassword = 1024            // bytes
	MaxLabel    = 100             // bytes
)

// AddAccount adds an account, for any actor. *InvalidError; ErrExists if the address
// has an account.
func (s *Store) AddAccount(ctx context.Context, by Actor, email string, password secret.Text) (Account, error) {
	return s.addAccount(ctx, email, password, s.as(by).createAccount, s.passwordHasher(by))
}

// SignUp is AddAccount for a client who makes an account for itself: *LockedError after
// too many sign-ups of the client.
func (s *Store) SignUp(ctx context.Context, by Actor, email string, password secret.Text) (Account, error) {
	return s.addAccount(ctx, email, password, s.as(by).createAccount, func(ctx context.Context, hash func() error) error {
		return s.guess.signUp(ctx, by.Client, hash)
	})
}

// AddFirstAccount is AddAccount if there is no account, else ErrExists.
func (s *Store) AddFirstAccount(ctx context.Context, by Actor, email string, password secret.Text) (Account, error) {
	return s.addAccount(ctx, email, password, s.as(by).createFirstAccount, s.passwordHasher(by))
}

// A hasher runs what hashes a password, when it may.
type hasher func(ctx context.Context, hash func() error) error

// passwordHasher has no limit but the queue.
func (s *Store) passwordHasher(by Actor) hasher {
	return func(ctx context.Context, hash func() error) error {
		return doQueued(ctx, s.guess.passwords, by.Client, hash)
	}
}

func (s *Store) addAccount(ctx context.Context, email string, password secret.Text, create func(context.Context, Account) (AccountID, error), run hasher) (Account, error) {
	var bad InvalidError
	a := Account{Email: cleanEmail(email, &bad), CreatedAt: s.time.Read().Now}
	checkPassword(password, &bad)
	if err := bad.Err(); err != nil {
		return Account{}, err
	}
	err := run(ctx, func() error {
		a.PasswordHash = seal.HashPassword(password)
		return nil
	})
	if err != nil {
		return Account{}, err
	}
	a.ID, err = create(ctx, a)
	return a, err
}

// HasAccounts reports whether there is an account.
func (s *Store) HasAccounts(ctx context.Context) (bool, error) {
	list, err := s.engine.Accounts(ctx, 0, 1)
	return len(list) > 0, err
}

// SetPassword replaces an account's password and ends its sessions.
// *InvalidError, ErrNotFound, or ErrDenied for a client.
func (s *Store) SetPassword(ctx context.Context, by Actor, email string, password secret.Text) error {
	var bad InvalidError
	checkPassword(password, &bad)
	if err := bad.Err(); err != nil {
		return err
	}
	a, err := s.account(ctx, email)
	if err != nil {
		return err
	}
	if err := s.hashPassword(ctx, by, &a, password); err != nil {
		return err
	}
	_, err = s.changeAccount(ctx, by, email, AdminPassword, RevokeOthers, func(b *Account) { b.PasswordHash = a.PasswordHash })
	return err
}

// SetDisabled disables an account, or enables it again. A disabled account has no
// sessions, its API tokens are not valid, and its webhooks are sent nothing; links to
// its pushes go on working. ErrNotFound; ErrDenied for a client.
func (s *Store) SetDisabled(ctx context.Context, by Actor, email string, disabled bool) error {
	kind, ends := AdminAccountEnable, RevokeNone
	if disabled {
		kind, ends = AdminAccountDisable, RevokeOthers
	}
	return s.changeHooks(ctx, func(*subscriptions) error {
		_, err := s.changeAccount(ctx, by, email, kind, ends, func(a *Account) { a.Disabled = disabled })
		return err
	})
}

// RenameAccount gives an account another address; all that belongs to it stays.
// *InvalidError; ErrNotFound; ErrExists if another account has that address; ErrDenied for
// a client.
func (s *Store) RenameAccount(ctx context.Context, by Actor, email, to string) error {
	var bad InvalidError
	to = cleanEmail(to, &bad)
	if err := bad.Err(); err != nil {
		return err
	}
	if !by.administers() {
		return ErrDenied
	}
	a, err := s.account(ctx, email)
	if err != nil {
		return err
	}
	defer s.epochs.leave(s.epochs.enter())
	event := s.as(by).event(AdminAccountRename, matter{account: a.ID, email: to, detail: "it was " + a.Email})
	_, err = s.as(by).changeAccount(ctx, a.ID, SessionDigest{}, func(a Account) (Account, SessionChange, AdminEvent, error) {
		a.Email = to
		return a, SessionChange{}, event, nil
	})
	return err
}

// ExpirePushes ends all live pushes of an account, as a delete does, and returns how many.
// Their audit logs stay. If it is cut short, some have ended. ErrNotFound; ErrDenied for a
// client.
func (s *Store) ExpirePushes(ctx context.Context, by Actor, email string) (n int, err error) {
	if !by.administers() {
		return 0, ErrDenied
	}
	a, err := s.account(ctx, email)
	if err != nil {
		return 0, err
	}
	n, err = s.expireAll(ctx, by, a.ID)
	return n, errors.Join(err, s.as(by).note(ctx, AdminPushesExpire, about(a).with(humanize.Count(n, "push", "pushes"))))
}

func (s *Store) expireAll(ctx context.Context, by Actor, owner AccountID) (n int, err error) {
	for {
		ps, err := s.engine.Pushes(ctx, owner, true, 0, sweepBatch)
		if err != nil || len(ps) == 0 {
			return n, err
		}
		if err := s.deleteEach(ctx, by, ps); err != nil {
			return n, err
		}
		n += len(ps)
	}
}

func (s *Store) deleteEach(ctx context.Context, by Actor, ps []Push) error {
	defer s.epochs.leave(s.epochs.enter())
	at := s.time.Read()
	return s.changeEach(ctx, ps, func(id ID) Rule { return deleteRule(by, at, s.sealActor(id, by)) })
}

// RemoveAccount removes an account with its API tokens, sessions, webhooks, pushes and
// their audit logs; its links end at once. If it is cut short, the account can do
// nothing, and a sweep finishes the removal. ErrNotFound; ErrDenied for a client.
func (s *Store) RemoveAccount(ctx context.Context, by Actor, email string) error {
	var a Account
	err := s.changeHooks(ctx, func(*subscriptions) (err error) {
		a, err = s.changeAccount(ctx, by, email, AdminAccountRemove, RevokeOthers, func(a *Account) { a.Removing = true })
		return err
	})
	if err != nil {
		return err
	}
	return s.finishRemoval(ctx, by, a)
}

// finishRemoval purges the pushes of an account, then removes it. A sweep may do the
// same at the same time.
func (s *Store) finishRemoval(ctx context.Context, by Actor, a Account) error {
	for _, live := range []bool{true, false} {
		for {
			ps, err := s.engine.Pushes(ctx, a.ID, live, 0, sweepBatch)
			if err != nil {
				return err
			}
			if len(ps) == 0 {
				break
			}
			if err := s.purge(ctx, ps); err != nil {
				return err
			}
		}
	}
	return s.changeHooks(ctx, func(*subscriptions) error {
		return instead(s.as(by).removeAccount(ctx, a), ErrNotFound, nil) // a sweep was faster
	})
}

func (s *Store) purge(ctx context.Context, ps []Push) error {
	ids := make([]ID, len(ps))
	for i, p := range ps {
		ids[i] = p.ID
	}
	_, err := s.changeAll(ctx, ids, purgeAlways, func(Push) bool { return true })
	return err
}

func (s *Store) finishRemovals(ctx context.Context) error {
	accounts, err := s.Accounts(ctx)
	if err != nil {
		return err
	}
	for _, a := range accounts {
		if a.Removing {
			err = errors.Join(err, s.finishRemoval(ctx, Actor{Role: System}, a))
		}
	}
	return err
}

// Accounts lists every account, oldest first.
func (s *Store) Accounts(ctx context.Context) ([]Account, error) {
	return all(func(last Account) ([]Account, error) { return s.engine.Accounts(ctx, last.ID, listBatch) })
}

func (s *Store) account(ctx context.Context, email string) (Account, error) {
	return s.engine.AccountByEmail(ctx, accountKey(email))
}

// accountKey returns the form of a typed address by which accounts are found.
func accountKey(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

// changeAccount changes the account of an address, for an actor who administers. The
// event is of that kind.
func (s *Store) changeAccount(ctx context.Context, by Actor, email string, k AdminKind, ends Revoke, change func(*Account)) (Account, error) {
	if !by.administers() {
		return Account{}, ErrDenied
	}
	a, err := s.account(ctx, email)
	if err != nil {
		return Account{}, err
	}
	defer s.epochs.leave(s.epochs.enter())
	event := s.as(by).event(k, about(a))
	c, err := s.as(by).changeAccount(ctx, a.ID, SessionDigest{}, func(a Account) (Account, SessionChange, AdminEvent, error) {
		change(&a)
		return a, SessionChange{Revoke: ends}, event, nil
	})
	return c.Account, err
}

func (s *Store) hashPassword(ctx context.Context, by Actor, a *Account, password secret.Text) error {
	return s.passwordHasher(by)(ctx, func() error {
		a.PasswordHash = seal.HashPassword(password)
		return nil
	})
}

// cleanEmail returns an address as accounts keep it.
func cleanEmail(address string, bad *InvalidError) string {
	address = accountKey(address)
	if !email.IsAddress(address) {
		bad.Add("email", "is not an e-mail address")
	}
	return address
}

func checkPassword(p secret.Text, bad *InvalidError) {
	text := p.Reveal()
	switch {
	case !utf8.ValidString(text):
		bad.Add(FieldPassword, "is not valid UTF-8")
	case utf8.RuneCountInString(text) < MinPassword:
		bad.Add(FieldPassword, "is too short (minimum is 10 characters)")
	}
	checkLength(FieldPassword, len(text), MaxPassword, bad)
}

// before reports whether t is set and not after now.
func before(t, now time.Time) bool { return !t.IsZero() && !t.After(now) }
