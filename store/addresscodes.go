package store

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"math/big"
	"time"

	"pushbox/store/clock"

	"pushbox/internal/secret"
	"pushbox/store/record"
)

// An AddressState says whether the address of an account is confirmed, and which code is pending.
type AddressState struct {
	Email     string
	Confirmed bool
	Reachable bool      // a code can be mailed to it
	CodeUntil time.Time // how long the last mailed code stays valid; zero: none is valid
	Tries     int       // that are left for it
}

// Address returns the state of the address of a session's account. ErrSession.
func (s *Store) Address(ctx context.Context, session secret.Text) (AddressState, error) {
	c, err := s.signedIn(ctx, Actor{}, session)
	if err != nil {
		return AddressState{}, err
	}
	state := AddressState{Email: c.account.Email, Confirmed: !c.account.Unconfirmed, Reachable: s.canMail(c.account)}
	if code := c.account.Code; codeIsGood(code, c.at) {
		state.CodeUntil, state.Tries = code.SentAt.Add(CodeLasts), record.CodeTries-code.Wrong
	}
	return state, nil
}

// errConfirmed says that there is nothing to confirm.
var errConfirmed = errors.New("the address is confirmed already")

// MailCode mails a new code to the address of a session's account, and revokes the code before it.
// When it returns, the mail is durably in the outbox. If the address is confirmed it does nothing.
// The language is one of MailOptions, or empty.
//
// Errors: ErrSession; ErrNotFound if the server sends no mail, or none to such an
// address; *LockedError if there were too many codes; a *QuotaError; ErrFull; ErrClock
// while the clock is in doubt.
func (s *Store) MailCode(ctx context.Context, by Actor, session secret.Text, language string) error {
	return s.keeping(ctx, func(ctx context.Context) error { return s.mailCode(ctx, by, session, language) })
}

func (s *Store) mailCode(ctx context.Context, by Actor, session secret.Text, language string) error {
	c, err := s.signedIn(ctx, by, session)
	switch {
	case err != nil:
		return err
	case !s.canMail(c.account):
		return record.ErrNotFound
	case c.at.Jumped:
		return record.ErrClock
	}
	code, owner, now := newCode(), c.account, c.at.Now
	batch := &record.MailBatch{
		Messages: []record.Message{s.sealMail(owner.ID, now, record.ID{}, Mail{About: MailCode, Language: language, Code: code})},
		Quotas:   s.codeQuotas(owner, now),
	}
	err = s.countMail(batch, c.at, func() error {
		_, err := s.as(c.by).changeAccount(ctx, owner.ID, c.session.Digest, func(a record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
			switch wait := codeWait(a.Code, now); {
			case !a.Active():
				return a, record.SessionChange{}, record.AdminEvent{}, record.ErrSession
			case !a.Unconfirmed:
				return a, record.SessionChange{}, record.AdminEvent{}, errConfirmed
			case wait > 0:
				return a, record.SessionChange{}, record.AdminEvent{}, &record.LockedError{RetryAfter: wait, Limit: record.LimitCodesPerAccount}
			}
			a.Code = nextCode(a.Code, now)
			a.Code.Sum = s.codeSum(a, code)
			return a, record.SessionChange{Mail: batch, Untold: true}, record.AdminEvent{}, nil
		})
		return err
	})
	return instead(err, errConfirmed, nil)
}

// codeQuotas are the quotas for codes, and for password links that were requested without signing
// in. Together they use at most half of the mail that the instance may send, however many accounts
// sign up. Unconfirmed accounts share one half of that, because one client can make many of them.
func (s *Store) codeQuotas(a record.Account, now time.Time) []record.Quota {
	return s.shareOfCodes(a, s.quotas(a.ID, now, a.Email))
}

// shareOfCodes adds to quotas the share that codeQuotas describes.
func (s *Store) shareOfCodes(a record.Account, all []record.Quota) []record.Quota {
	for _, q := range all {
		if q.Whose() == record.QuotaOfInstance {
			half := s.ring.Load().MAC(fmt.Sprintf("codes of the day, confirmed %t", !a.Unconfirmed)) // no url_token has a space
			return append(all, record.Quota{To: half, Day: q.Day, Add: q.Add, Most: (q.Most + 3) / 4})
		}
	}
	return all
}

// ConfirmAddress confirms the address of a session's account with the code that was
// mailed to it. A wrong code counts, and after CodeTries of them the code is used up.
// Where the address is confirmed it does nothing.
//
// Errors: ErrSession; ErrCode; ErrClock while the clock is in doubt.
func (s *Store) ConfirmAddress(ctx context.Context, by Actor, session, code secret.Text) error {
	return s.keeping(ctx, func(ctx context.Context) error { return s.confirmAddress(ctx, by, session, code) })
}

func (s *Store) confirmAddress(ctx context.Context, by Actor, session, code secret.Text) error {
	c, err := s.signedIn(ctx, by, session)
	switch {
	case err != nil:
		return err
	case c.at.Jumped:
		return record.ErrClock
	}
	code = cleanCode(code)
	confirmed, usedUp := s.as(c.by).event(record.AdminAddressConfirm, about(c.account)), s.as(c.by).event(record.AdminCodeRefused, about(c.account))
	done, err := s.as(c.by).changeAccount(ctx, c.account.ID, c.session.Digest, func(a record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
		switch {
		case !a.Active():
			return a, record.SessionChange{}, record.AdminEvent{}, record.ErrSession
		case !a.Unconfirmed, !codeIsGood(a.Code, c.at):
			return a, record.SessionChange{}, record.AdminEvent{}, nil
		case s.isCode(a, code, c.at):
			a.Confirm()
			return a, record.SessionChange{}, confirmed, nil
		}
		if a.Code.Wrong++; a.Code.Wrong < record.CodeTries {
			return a, record.SessionChange{Untold: true}, record.AdminEvent{}, nil
		}
		a.Code.Sum = [16]byte{}
		return a, record.SessionChange{}, usedUp, nil
	})
	if err == nil && done.Account.Unconfirmed {
		return record.ErrCode
	}
	return err
}

// ConfirmAccount confirms the address of an account on the word of an administrator. ErrNotFound;
// ErrDenied for a client.
func (s *Store) ConfirmAccount(ctx context.Context, by Actor, email string) error {
	_, err := s.changeAccount(ctx, by, email, record.AdminAddressConfirm, record.SessionChange{}, (*record.Account).Confirm)
	return err
}

const (
	CodeLasts  = 30 * time.Minute // from when it is made
	codeDigits = 8
	codesApart = time.Minute // between two codes of an account
)

// codeIsGood reports whether a code is still valid at a time.
func codeIsGood(c record.AddressCode, at clock.Instant) bool {
	return c.Sum != [16]byte{} && at.Denies.Before(c.SentAt.Add(CodeLasts))
}

// codeWait is how long an account waits for its next code.
func codeWait(c record.AddressCode, now time.Time) time.Duration {
	switch {
	case c.SentAt.IsZero():
		return 0
	case c.Sent >= record.CodesPerDay && dayOf(c.SentAt) >= dayOf(now):
		return dayLeft(now)
	default:
		return max(0, c.SentAt.Add(codesApart).Sub(now))
	}
}

// nextCode returns the record of another code.
func nextCode(c record.AddressCode, now time.Time) record.AddressCode {
	n := record.AddressCode{SentAt: now, Sent: 1}
	if !c.SentAt.IsZero() && dayOf(c.SentAt) >= dayOf(now) {
		n.Sent += c.Sent
	}
	return n
}

// newCode returns a random code.
func newCode() secret.Text {
	most := new(big.Int).Exp(big.NewInt(10), big.NewInt(codeDigits), nil)
	n, _ := rand.Int(rand.Reader, most) // never fails: crypto/rand ends the program instead
	return secret.New(fmt.Sprintf("%0*d", codeDigits, n))
}

// codeSum is the HMAC of a code for the present address of an account.
func (s *Store) codeSum(a record.Account, code secret.Text) [16]byte {
	return s.ring.Load().MAC(fmt.Sprintf("code of account %d at %s: %s", a.ID, a.Email, code.Reveal())) // no url_token has a space
}

// isCode reports whether a code is the one that confirms the address of an account now.
func (s *Store) isCode(a record.Account, code secret.Text, at clock.Instant) bool {
	sum := s.codeSum(a, code)
	return codeIsGood(a.Code, at) && subtle.ConstantTimeCompare(sum[:], a.Code.Sum[:]) == 1
}
