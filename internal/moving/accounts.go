package moving

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"pushbox/internal/pwpush"
	"pushbox/store"
	"pushbox/store/record"
)

// fatal reports whether an error would meet every further push as well.
func fatal(err error) bool {
	all := []error{record.ErrFull, record.ErrFailed, record.ErrClosed, record.ErrClock, record.ErrCorrupt, context.Canceled, context.DeadlineExceeded}
	return slices.ContainsFunc(all, func(e error) bool { return errors.Is(err, e) })
}

func (m *move) user(ctx context.Context, u pwpush.User) error {
	what := fmt.Sprintf("account %d", u.ID)
	a, err := m.account(ctx, u)
	if fatal(err) {
		return fmt.Errorf("%s: %w", what, err)
	}
	*m.Accounts.of(err)++
	if m.leaveOut(what, err) {
		return nil
	}
	m.owners[u.ID] = a
	switch {
	case u.Admin && a.Admin && err == nil:
		m.Remark(what, "it was an administrator, and stays one here")
	case u.Admin && !a.Admin:
		m.Remark(what, "it was an administrator, but the account here is not: `pushbox user grant admin` makes it one")
	}
	return m.token(ctx, u, a, what)
}

// account keeps the account of a user. With record.ErrExists it returns the one that is there.
func (m *move) account(ctx context.Context, u pwpush.User) (record.Account, error) {
	if u.Unconfirmed {
		return record.Account{}, errUnconfirmed
	}
	in := store.ImportedAccount{Email: u.Email, Bcrypt: u.Password.Reveal(), Admin: u.Admin, CreatedAt: u.CreatedAt}
	if u.MFA {
		totp, err := m.Keys.Open(u.TOTP)
		if err != nil {
			return record.Account{}, fmt.Errorf("second factor: %w", err)
		}
		in.TOTP = totp
	}
	if a, err := m.store.AccountByEmail(ctx, u.Email); !errors.Is(err, record.ErrNotFound) {
		switch {
		case err == nil && !m.Join && !a.CreatedAt.Equal(u.CreatedAt.Truncate(time.Millisecond)): // not by an earlier run
			err = ErrMadeHere
		case err == nil:
			err = record.ErrExists
		}
		return a, err
	}
	if m.DryRun {
		return record.Account{Email: u.Email, Admin: u.Admin}, in.Check()
	}
	a, err := m.store.ImportAccount(ctx, m.Actor, in)
	if err == nil && u.MFA {
		m.Remark(fmt.Sprintf("account %d", u.ID), "its second factor was imported, but its recovery codes could not be: make new ones")
	}
	return a, err
}

func (m *move) token(ctx context.Context, u pwpush.User, a record.Account, what string) error {
	if u.Token.IsZero() {
		return nil
	}
	there, err := m.store.HasToken(ctx, u.Token)
	if there {
		err = record.ErrExists
	}
	if err == nil && !m.DryRun {
		err = m.store.ImportToken(ctx, m.Actor, a, u.Token, "Password Pusher", u.CreatedAt)
	}
	what = "API token of " + what
	if fatal(err) {
		return fmt.Errorf("%s: %w", what, err)
	}
	*m.Tokens.of(err)++
	m.leaveOut(what, err)
	return nil
}

// leaveOut reports a row that is left out, unless an earlier run imported it, and returns whether
// it did.
func (m *move) leaveOut(what string, err error) bool {
	out := err != nil && !errors.Is(err, record.ErrExists)
	if out {
		m.LeftOut(what, err)
	}
	return out
}
