package store

import (
	"context"
	"encoding/base32"
	"fmt"
	"unicode/utf8"

	"pushbox/internal/email"
	"pushbox/internal/secret"
	"pushbox/store/cold"
	"pushbox/store/record"
)

// AddAccount adds an account, for any actor. Its address counts as confirmed. *InvalidError;
// ErrExists if the address has an account.
func (s *Store) AddAccount(ctx context.Context, by Actor, email string, password secret.Text) (record.Account, error) {
	return s.addAccount(ctx, record.Account{Email: email}, password, s.as(by).createAccount, s.passwordHasher(by))
}

// AddAdmin is AddAccount for an administrator. ErrDenied for a client.
func (s *Store) AddAdmin(ctx context.Context, by Actor, email string, password secret.Text) (record.Account, error) {
	if !by.administers() {
		return record.Account{}, record.ErrDenied
	}
	return s.addAccount(ctx, record.Account{Email: email, Admin: true}, password, s.as(by).createAccount, s.passwordHasher(by))
}

// SignUp is AddAccount for a client that makes an account for itself, whose address is not
// confirmed: *LockedError after too many sign-ups of the client.
func (s *Store) SignUp(ctx context.Context, by Actor, email string, password secret.Text) (record.Account, error) {
	one := record.Account{Email: email, Unconfirmed: true}
	return s.addAccount(ctx, one, password, s.as(by).createAccount, func(ctx context.Context, hash func() error) error {
		return s.signUp(ctx, by.Client, hash)
	})
}

// FirstCode returns the code for making the first account: the same at each server and after each
// start, as long as there is no account. It is zero if there is an account. If all accounts are
// removed later, the code changes, so each code works only once.
func (s *Store) FirstCode(ctx context.Context) (secret.Text, error) {
	has, err := s.HasAccounts(ctx)
	if err != nil || has {
		return secret.Text{}, err
	}
	last, err := cold.LastAccount(ctx, s.engine)
	if err != nil {
		return secret.Text{}, err
	}
	mac := s.ring.Load().MAC(fmt.Sprintf("first account after %d", last)) // no url_token has a space
	return secret.New(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(mac[:])), nil
}

// AddFirstAccount is AddAccount if there is no account, else ErrExists. The account becomes an
// administrator, because its user has the code of FirstCode.
func (s *Store) AddFirstAccount(ctx context.Context, by Actor, email string, password secret.Text) (record.Account, error) {
	return s.addAccount(ctx, record.Account{Email: email, Admin: true}, password, s.as(by).createFirstAccount, s.passwordHasher(by))
}

// A hasher calls hash, which hashes a password, when its turn comes.
type hasher func(ctx context.Context, hash func() error) error

// passwordHasher is limited only by the queue.
func (s *Store) passwordHasher(by Actor) hasher {
	return func(ctx context.Context, hash func() error) error {
		return doQueued(ctx, s.guess.passwords, by.Client, hash)
	}
}

func (s *Store) addAccount(ctx context.Context, a record.Account, password secret.Text, create func(context.Context, record.Account) (record.AccountID, error), run hasher) (record.Account, error) {
	var bad record.InvalidError
	a.Email, a.CreatedAt = cleanEmail(a.Email, &bad), s.time.Read().Now
	checkPassword(password, &bad)
	if err := bad.Err(); err != nil {
		return record.Account{}, err
	}
	err := run(ctx, func() error {
		a.PasswordHash = s.options().Argon2.HashPassword(password)
		return nil
	})
	if err != nil {
		return record.Account{}, err
	}
	a.ID, err = create(ctx, a)
	return a, err
}

// HasAccounts reports whether there is an account.
func (s *Store) HasAccounts(ctx context.Context) (bool, error) {
	list, err := cold.Accounts(ctx, s.engine, 0, 1)
	return len(list) > 0, err
}

// SetPassword replaces an account's password and ends its sessions; with endTokens, its
// API tokens and webhooks too. *InvalidError, ErrNotFound, or ErrDenied for a client.
func (s *Store) SetPassword(ctx context.Context, by Actor, email string, password secret.Text, endTokens bool) error {
	var bad record.InvalidError
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
	ends := record.SessionChange{Revoke: record.RevokeOthers, EndTokens: endTokens}
	return s.endingTokens(ctx, endTokens, func() error {
		_, err := s.changeAccount(ctx, by, email, record.AdminPassword, ends, func(b *record.Account) { b.PasswordHash = a.PasswordHash })
		return err
	})
}

// SetAdmin makes an account an administrator, or a member again. The last administrator stays one
// unless evenLast. ErrNotFound; ErrLastAdmin; ErrDenied for a client.
func (s *Store) SetAdmin(ctx context.Context, by Actor, email string, admin, evenLast bool) error {
	kind := record.AdminRevoke
	if admin {
		kind = record.AdminGrant
	}
	_, err := s.changeAccount(ctx, by, email, kind, record.SessionChange{EvenLast: evenLast}, func(a *record.Account) { a.Admin = admin })
	return err
}

// SetDisabled disables an account, or enables it again. A disabled account has no
// sessions, its API tokens are not valid, and its webhooks are sent nothing; links to
// its pushes keep working. ErrNotFound; ErrLastAdmin; ErrDenied for a client.
func (s *Store) SetDisabled(ctx context.Context, by Actor, email string, disabled bool) error {
	kind, ends := record.AdminAccountEnable, record.SessionChange{}
	if disabled {
		kind, ends.Revoke = record.AdminAccountDisable, record.RevokeOthers
	}
	return s.changeHooks(ctx, func(*subscriptions) error {
		_, err := s.changeAccount(ctx, by, email, kind, ends, func(a *record.Account) { a.Disabled = disabled })
		return err
	})
}

// RenameAccount gives an account another address, which counts as confirmed. All that the account
// owns stays, except the wishes of its user: the new address may belong to another person.
// *InvalidError; ErrNotFound; ErrExists if another account has that address; ErrDenied for a
// client.
func (s *Store) RenameAccount(ctx context.Context, by Actor, email, to string) error {
	var bad record.InvalidError
	to = cleanEmail(to, &bad)
	if err := bad.Err(); err != nil {
		return err
	}
	if !by.administers() {
		return record.ErrDenied
	}
	a, err := s.account(ctx, email)
	if err != nil {
		return err
	}
	return s.keeping(ctx, func(ctx context.Context) error {
		event := s.as(by).event(record.AdminAccountRename, matter{account: a.ID, email: to, detail: "it was " + a.Email})
		_, err := s.as(by).changeAccount(ctx, a.ID, record.SessionDigest{}, func(a record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
			a.Email, a.Identities = to, a.Identities.Without(ByProxy)
			a.Confirm()
			forgetWishes(&a)
			return a, record.SessionChange{}, event, nil
		})
		return err
	})
}

// EndAccess ends all sessions of an account, and with tokens its API tokens and webhooks too.
// ErrNotFound; ErrDenied for a client.
func (s *Store) EndAccess(ctx context.Context, by Actor, email string, tokens bool) error {
	return s.endingTokens(ctx, tokens, func() error {
		_, err := s.changeAccount(ctx, by, email, record.AdminAccessEnd, record.SessionChange{Revoke: record.RevokeOthers, EndTokens: tokens}, func(*record.Account) {})
		return err
	})
}

// AccountByID returns an account, or ErrNotFound.
func (s *Store) AccountByID(ctx context.Context, id record.AccountID) (record.Account, error) {
	return cold.Account(ctx, s.engine, id)
}

// Accounts lists every account, oldest first.
func (s *Store) Accounts(ctx context.Context) ([]record.Account, error) {
	return all(func(last record.Account) ([]record.Account, error) {
		return cold.Accounts(ctx, s.engine, last.ID, listBatch)
	})
}

// adminBeside returns an administrator other than id, or ErrLastAdmin.
func (s *Store) adminBeside(ctx context.Context, id record.AccountID) (record.AccountID, error) {
	for list, err := range batches(func(last record.Account) ([]record.Account, error) {
		return cold.Accounts(ctx, s.engine, last.ID, listBatch)
	}) {
		if err != nil {
			return 0, err
		}
		for _, a := range list {
			if a.ID != id && a.Administers() {
				return a.ID, nil
			}
		}
	}
	return 0, record.ErrLastAdmin
}

func (s *Store) account(ctx context.Context, email string) (record.Account, error) {
	return cold.AccountByEmail(ctx, s.engine, accountKey(email))
}

// accountKey returns the form of a typed address that is the key of an account.
func accountKey(address string) string { return email.Fold(address) }

// changeAccount changes the account of an address, for an administrator. The event has kind k.
func (s *Store) changeAccount(ctx context.Context, by Actor, email string, k record.AdminKind, ends record.SessionChange, change func(*record.Account)) (record.Account, error) {
	if !by.administers() {
		return record.Account{}, record.ErrDenied
	}
	a, err := s.account(ctx, email)
	if err != nil {
		return record.Account{}, err
	}
	return sealing(ctx, s, func(ctx context.Context) (record.Account, error) {
		event := s.as(by).event(k, about(a).with(endsTokens(ends)))
		c, err := s.as(by).changeAccount(ctx, a.ID, record.SessionDigest{}, func(a record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
			change(&a)
			return a, ends, event, nil
		})
		return c.Account, err
	})
}

// endsTokens says in an event whether API tokens and webhooks end.
func endsTokens(c record.SessionChange) string {
	if c.EndTokens {
		return "and its API tokens and webhooks ended"
	}
	return ""
}

func (s *Store) hashPassword(ctx context.Context, by Actor, a *record.Account, password secret.Text) error {
	return s.passwordHasher(by)(ctx, func() error {
		a.PasswordHash = s.options().Argon2.HashPassword(password)
		return nil
	})
}

// cleanEmail returns an address as accounts keep it.
func cleanEmail(address string, bad *record.InvalidError) string {
	address = accountKey(address)
	switch {
	case !email.IsAddress(address):
		bad.Add("email", "is not an e-mail address")
	case !email.IsClear(address):
		bad.Add("email", unclear)
	}
	return address
}

// unclear says why an address is refused that could be confused with another one.
const unclear = "has characters that look like others, or that are invisible"

func checkPassword(p secret.Text, bad *record.InvalidError) {
	text := p.Reveal()
	switch {
	case !utf8.ValidString(text):
		bad.Add(FieldPassword, "is not valid UTF-8")
	case utf8.RuneCountInString(text) < record.MinPassword:
		bad.Add(FieldPassword, "is too short (minimum is 10 characters)")
	}
	checkLength(FieldPassword, len(text), record.MaxPassword, bad)
}
