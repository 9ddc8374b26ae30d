package store

import (
	"context"

	"pushbox/internal/secret"
)

// A TOTPSetup is a second factor that is offered and not yet in use.
type TOTPSetup struct {
	Secret secret.Text // base32, to be typed
	URL    secret.Text // otpauth://totp/…, to be shown as a QR code
}

// NewTOTP offers a second factor to the account that a session is of. Nothing is
// kept: what comes back to EnableTOTP is taken. ErrSession.
func (s *Store) NewTOTP(ctx context.Context, session secret.Text) (TOTPSetup, error) {
	c, err := s.signedIn(ctx, session)
	if err != nil {
		return TOTPSetup{}, err
	}
	key := newTOTP()
	return TOTPSetup{Secret: key, URL: totpURL(issuer(s.options().Issuer), c.account.Email, key)}, nil
}

// EnableTOTP gives the account that a session is of its second factor, of which
// code is one, and returns its recovery codes, which cannot be seen again. All its
// sessions end, the one that asks too, as a password alone opened them: one begins
// in their place.
//
// Errors: as those of ChangePassword, ErrCredentials also where it is not the
// code; *InvalidError if totpSecret is not as NewTOTP makes them; ErrExists if the
// account has a second factor; ErrClock while the clock is in doubt.
func (s *Store) EnableTOTP(ctx context.Context, by Actor, session, password, totpSecret secret.Text, code string) (n NewSession, recovery []secret.Text, err error) {
	key, badKey := parseTOTP(totpSecret)
	n, err = s.renewed(ctx, by, session, password, func(c caller) accountChange {
		var digests string
		recovery, digests = newRecovery(c.account.ID)
		sealed, step := s.sealTOTP(c.account.ID, key), totpStep(key, cleanCode(code), s.time.read().now, 0)
		return func(a Account) (Account, error) {
			switch {
			case badKey != nil:
				return a, badKey
			case a.MFA():
				return a, ErrExists
			case step == 0:
				return a, ErrCredentials
			}
			a.TOTP, a.TOTPStep, a.Recovery = sealed, step, digests
			return a, nil
		}
	})
	if err != nil {
		return NewSession{}, nil, err
	}
	return n, recovery, nil
}

// DisableTOTP takes the second factor and its recovery codes from the account
// that a session is of, if it has one. Errors as those of ChangePassword.
func (s *Store) DisableTOTP(ctx context.Context, by Actor, session, password secret.Text) error {
	return s.confirmed(ctx, by, session, password, func(caller) AccountRule {
		return func(a Account) (Account, Turnover, error) {
			a.dropTOTP()
			return a, Turnover{}, nil
		}
	})
}

// NewRecoveryCodes replaces the recovery codes of the account that a session is
// of. Errors as those of ChangePassword, and ErrNotFound if it has no second
// factor.
func (s *Store) NewRecoveryCodes(ctx context.Context, by Actor, session, password secret.Text) (recovery []secret.Text, err error) {
	err = s.confirmed(ctx, by, session, password, func(c caller) AccountRule {
		var digests string
		recovery, digests = newRecovery(c.account.ID)
		return func(a Account) (Account, Turnover, error) {
			if !a.MFA() {
				return a, Turnover{}, ErrNotFound
			}
			a.Recovery = digests
			return a, Turnover{}, nil
		}
	})
	if err != nil {
		return nil, err
	}
	return recovery, nil
}

// ResetTOTP takes the second factor and its recovery codes from an account, for
// somebody who lost both. Its sessions go on. ErrNotFound.
func (s *Store) ResetTOTP(ctx context.Context, email string) error {
	_, err := s.changeAccount(ctx, email, EndNone, (*Account).dropTOTP)
	return err
}

// maxIssuer is how many characters of a server's name go into a QR code.
const maxIssuer = 64

// issuer is what authenticator apps call a server of that name.
func issuer(name string) string {
	if name == "" {
		return "pushbox"
	}
	if r := []rune(name); len(r) > maxIssuer {
		return string(r[:maxIssuer])
	}
	return name
}

func (a *Account) dropTOTP() { a.TOTP, a.TOTPStep, a.Recovery = "", 0, "" }
