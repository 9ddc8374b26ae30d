package store

import (
	"context"
	"errors"
	"net/mail"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"pushbox/internal/secret"
	"pushbox/store/seal"
)

// Limits of accounts and API tokens.
const (
	MaxEmail    = 254  // bytes; RFC 5321 section 4.5.3.1.3, less the angle brackets
	MinPassword = 10   // characters
	MaxPassword = 1024 // bytes
	MaxLabel    = 100  // bytes
)

// listBatch is how many accounts or tokens are read at a time.
const listBatch = 500

// AddAccount adds an account. *InvalidError, or ErrExists if the address has
// one already.
func (s *Store) AddAccount(ctx context.Context, email string, password secret.Text) (Account, error) {
	return s.addAccount(ctx, email, password, s.engine.CreateAccount)
}

// AddFirstAccount is AddAccount where there is no account at all; else ErrExists.
func (s *Store) AddFirstAccount(ctx context.Context, email string, password secret.Text) (Account, error) {
	return s.addAccount(ctx, email, password, s.engine.CreateFirstAccount)
}

func (s *Store) addAccount(ctx context.Context, email string, password secret.Text, create func(context.Context, Account) (AccountID, error)) (Account, error) {
	var bad InvalidError
	a := Account{Email: cleanEmail(email, &bad), CreatedAt: s.time.read().now}
	checkPassword(password, &bad)
	if err := bad.Err(); err != nil {
		return Account{}, err
	}
	if err := s.hashPassword(ctx, &a, password); err != nil {
		return Account{}, err
	}
	var err error
	a.ID, err = create(ctx, a)
	return a, err
}

// HasAccounts reports whether there is any account.
func (s *Store) HasAccounts(ctx context.Context) (bool, error) {
	list, err := s.engine.Accounts(ctx, 0, 1)
	return len(list) > 0, err
}

// SetPassword replaces an account's password and ends its sessions.
// *InvalidError or ErrNotFound.
func (s *Store) SetPassword(ctx context.Context, email string, password secret.Text) error {
	var bad InvalidError
	checkPassword(password, &bad)
	if err := bad.Err(); err != nil {
		return err
	}
	a, err := s.account(ctx, email)
	if err != nil {
		return err
	}
	if err := s.hashPassword(ctx, &a, password); err != nil {
		return err
	}
	_, err = s.changeAccount(ctx, email, EndOthers, func(b *Account) { b.PasswordHash = a.PasswordHash })
	return err
}

// SetDisabled disables an account or enables it again. While it is disabled no
// token of it is valid and none of its webhooks is told anything; its links go on
// working. Its sessions end. ErrNotFound.
func (s *Store) SetDisabled(ctx context.Context, email string, disabled bool) error {
	ends := EndNone
	if disabled {
		ends = EndOthers
	}
	return s.changeHooks(ctx, func(*hookBook) error {
		_, err := s.changeAccount(ctx, email, ends, func(a *Account) { a.Disabled = disabled })
		return err
	})
}

// RemoveAccount takes an account away with its API tokens, its sessions, its
// webhooks, its pushes and their audit logs; its links end at once. If it is cut short, the
// account stays without power, and a sweep goes on with it. ErrNotFound.
func (s *Store) RemoveAccount(ctx context.Context, email string) error {
	var a Account
	err := s.changeHooks(ctx, func(*hookBook) (err error) {
		a, err = s.changeAccount(ctx, email, EndOthers, func(a *Account) { a.Removing = true })
		return err
	})
	if err != nil {
		return err
	}
	return s.finishRemoval(ctx, a.ID)
}

// finishRemoval purges what an account owns, then the account. Another one may do
// the same meanwhile.
func (s *Store) finishRemoval(ctx context.Context, id AccountID) error {
	for _, live := range []bool{true, false} {
		for {
			ps, err := s.engine.Pushes(ctx, id, live, 0, sweepBatch)
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
	return s.changeHooks(ctx, func(*hookBook) error {
		return instead(s.engine.RemoveAccount(ctx, id), ErrNotFound, nil) // a sweep was quicker
	})
}

func (s *Store) purge(ctx context.Context, ps []Push) error {
	ids := make([]ID, len(ps))
	for i, p := range ps {
		ids[i] = p.ID
	}
	goes := func(p Push) (Push, Entry, error) {
		p.State = Purged
		return p, Entry{}, nil
	}
	_, err := s.changeAll(ctx, ids, goes, func(Push) bool { return true })
	return err
}

func (s *Store) finishRemovals(ctx context.Context) error {
	accounts, err := s.Accounts(ctx)
	if err != nil {
		return err
	}
	for _, a := range accounts {
		if a.Removing {
			err = errors.Join(err, s.finishRemoval(ctx, a.ID))
		}
	}
	return err
}

// Accounts lists every account, oldest first.
func (s *Store) Accounts(ctx context.Context) ([]Account, error) {
	return all(func(last *Account) ([]Account, error) {
		var after AccountID
		if last != nil {
			after = last.ID
		}
		return s.engine.Accounts(ctx, after, listBatch)
	})
}

// all reads a list to its end, batch by batch; more gets the last item read.
func all[T any](more func(last *T) ([]T, error)) (list []T, err error) {
	for {
		var last *T
		if len(list) > 0 {
			last = &list[len(list)-1]
		}
		batch, err := more(last)
		if err != nil {
			return nil, err
		}
		list = append(list, batch...)
		if len(batch) < listBatch {
			return list, nil
		}
	}
}

func (s *Store) account(ctx context.Context, email string) (Account, error) {
	return s.engine.AccountByEmail(ctx, accountKey(email))
}

// accountKey is what an address that somebody typed is looked up by.
func accountKey(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

// changeAccount changes the account of that address, for nobody's session.
func (s *Store) changeAccount(ctx context.Context, email string, ends Ending, change func(*Account)) (Account, error) {
	a, err := s.account(ctx, email)
	if err != nil {
		return Account{}, err
	}
	c, err := s.engine.ChangeAccount(ctx, a.ID, SessionDigest{}, func(a Account) (Account, Turnover, error) {
		change(&a)
		return a, Turnover{Ends: ends}, nil
	})
	return c.Account, err
}

func (s *Store) hashPassword(ctx context.Context, a *Account, password secret.Text) error {
	return s.guess.hash(ctx, func() error {
		a.PasswordHash = seal.HashPassword(password)
		return nil
	})
}

// cleanEmail returns an address as it is kept: in lower case, without a name.
func cleanEmail(email string, bad *InvalidError) string {
	email = accountKey(email)
	a, err := mail.ParseAddress(email)
	if err != nil || a.Address != email || len(email) > MaxEmail || strings.ContainsFunc(email, unicode.IsControl) {
		bad.Add("email", "is not an e-mail address")
	}
	return email
}

func checkPassword(p secret.Text, bad *InvalidError) {
	text := p.Reveal()
	switch {
	case !utf8.ValidString(text):
		bad.Add("password", "is not valid UTF-8")
	case utf8.RuneCountInString(text) < MinPassword:
		bad.Add("password", "is too short (minimum is 10 characters)")
	}
	checkLength("password", len(text), MaxPassword, bad)
}

// before reports whether t is set and not after now.
func before(t, now time.Time) bool { return !t.IsZero() && !t.After(now) }
