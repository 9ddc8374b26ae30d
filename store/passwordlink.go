package store

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"pushbox/internal/secret"
	"pushbox/store/clock"
	"pushbox/store/cold"
	"pushbox/store/record"
)

// How long links that set a password are valid.
const (
	ResetLasts  = time.Hour          // for an account with a password
	InviteLasts = 7 * 24 * time.Hour // for an account without a password
)

// A PasswordLink lets its holder set the password of an account once. An HMAC of the present
// password and address authenticates it, so the store keeps no links.
type PasswordLink struct {
	Code  secret.Text      // the end of its path
	Of    record.AccountID // the account that it is for
	Email string           // of the account
	First bool             // the account has no password yet: it was invited
	Anew  bool             // the address is not confirmed: a new account takes the place of this one
	Until time.Time
}

// passwordCodeSize is the length of a code in bytes: account, end in seconds, HMAC.
const passwordCodeSize = 8 + 8 + 16

// passwordLink makes the link of an account.
func (s *Store) passwordLink(a record.Account, now time.Time) PasswordLink {
	l := PasswordLink{Of: a.ID, Email: a.Email, First: a.Invited(), Until: now.Add(ResetLasts)}
	if l.First {
		l.Until = now.Add(InviteLasts)
	}
	b := binary.BigEndian.AppendUint64(make([]byte, 0, passwordCodeSize), uint64(a.ID))
	b = binary.BigEndian.AppendUint64(b, uint64(l.Until.Unix()))
	l.Until = time.Unix(l.Until.Unix(), 0).UTC()
	sum := s.passwordSum(a, l.Until)
	l.Code = secret.New(base64.RawURLEncoding.EncodeToString(append(b, sum[:]...)))
	return l
}

// passwordSum changes with the password, which ends a link. While the address is not confirmed it
// does not change: a stranger who made the account must not be able to end the link that the owner
// of the address asked for. That link ends when it is used.
func (s *Store) passwordSum(a record.Account, until time.Time) [16]byte {
	if a.Unconfirmed {
		a.PasswordHash = ""
	}
	return s.ring.Load().MAC(fmt.Sprintf("password of account %d at %s until %d, before %s %q", a.ID, a.Email, until.Unix(), a.PasswordHash, string(a.Identities))) // no url_token has a space
}

// passwordCode reads a code. ok is false for any other text.
func passwordCode(code secret.Text) (id record.AccountID, until time.Time, sum [16]byte, ok bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(code.Reveal())
	if err != nil || len(b) != passwordCodeSize || len(code.Reveal()) != base64.RawURLEncoding.EncodedLen(passwordCodeSize) { // it may have line breaks
		return 0, time.Time{}, sum, false
	}
	seconds := int64(binary.BigEndian.Uint64(b[8:]))
	return record.AccountID(binary.BigEndian.Uint64(b)), time.Unix(seconds, 0).UTC(), [16]byte(b[16:]), true
}

// setsPassword reports whether a code can set the password of an account now.
func (s *Store) setsPassword(a record.Account, until time.Time, sum [16]byte, at clock.Instant) bool {
	want := s.passwordSum(a, until)
	return subtle.ConstantTimeCompare(sum[:], want[:]) == 1 && at.Denies.Before(until) && a.Active()
}

// ReadPasswordLink returns the link of a code. ErrCode if the code is wrong or has expired.
func (s *Store) ReadPasswordLink(ctx context.Context, code secret.Text) (PasswordLink, error) {
	id, until, sum, ok := passwordCode(code)
	if !ok {
		return PasswordLink{}, record.ErrCode
	}
	a, err := cold.Account(ctx, s.engine, id)
	if err != nil {
		return PasswordLink{}, instead(err, record.ErrNotFound, record.ErrCode)
	}
	if !s.setsPassword(a, until, sum, s.time.Read()) {
		return PasswordLink{}, record.ErrCode
	}
	return PasswordLink{Code: code, Of: a.ID, Email: a.Email, First: a.Invited(), Anew: a.Unconfirmed, Until: until}, nil
}

// MakePasswordLink makes a link for an administrator, who passes it on. A mail informs the account.
// ErrNotFound; ErrDenied for a client, and for an account that may not act; ErrOwnAccount.
func (s *Store) MakePasswordLink(ctx context.Context, by Actor, email string) (l PasswordLink, err error) {
	if !by.administers() {
		return l, record.ErrDenied
	}
	a, err := s.account(ctx, email)
	if err != nil {
		return l, err
	}
	switch {
	case by.isOwn(a):
		return l, record.ErrOwnAccount
	case !a.Active():
		return l, record.ErrDenied
	}
	err = s.telling(ctx, by, a, MailLinkMade, func(mail *record.MailBatch) error {
		if mail == nil {
			return s.as(by).note(ctx, record.AdminPasswordLink, about(a))
		}
		return s.mailAbout(ctx, a, mail, s.as(by).event(record.AdminPasswordLink, about(a)))
	})
	if err != nil {
		return l, err
	}
	return s.passwordLink(a, s.time.Read().Now), nil
}

// Invite adds an account without a password, and returns the link that sets one.
// *InvalidError; ErrExists; ErrDenied for a client.
func (s *Store) Invite(ctx context.Context, by Actor, email string, admin bool) (PasswordLink, error) {
	if !by.administers() {
		return PasswordLink{}, record.ErrDenied
	}
	var bad record.InvalidError
	a := record.Account{Email: cleanEmail(email, &bad), CreatedAt: s.time.Read().Now, Admin: admin}
	if err := bad.Err(); err != nil {
		return PasswordLink{}, err
	}
	id, err := s.as(by).createAccount(ctx, a)
	if err != nil {
		return PasswordLink{}, err
	}
	a.ID = id
	return s.passwordLink(a, a.CreatedAt), nil
}

// AskForPassword mails a link that sets the password of an account. If there is no such account, or
// it may not act or signs in elsewhere, AskForPassword behaves as if it had mailed one. base is the
// address of the server.
//
// Errors: ErrNotFound if the server sends no mail; *LockedError after too many for a client; a
// *QuotaError; ErrBusy; ErrFull; ErrClock while the clock is in doubt.
func (s *Store) AskForPassword(ctx context.Context, by Actor, email, base, language string) error {
	if len(s.options().Mail.Languages) == 0 || base == "" {
		return record.ErrNotFound
	}
	return s.signUp(ctx, by.Client, func() error {
		return s.keeping(ctx, func(ctx context.Context) error { return s.askForPassword(ctx, by, email, base, language) })
	})
}

func (s *Store) askForPassword(ctx context.Context, by Actor, email, base, language string) error {
	at := s.time.Read()
	if at.Jumped {
		return record.ErrClock
	}
	a, err := s.account(ctx, email)
	if err = instead(err, record.ErrNotFound, nil); err != nil {
		return err
	}
	if !a.Active() || a.SignsInElsewhere() || !s.canMail(a) || a.ID == 0 {
		_, err := s.engine.KeepTime(ctx, at.Ends) // commit here too, so that timing does not reveal whether the account exists
		return err
	}
	err = s.mailPasswordLink(ctx, by, a, at, Mail{Base: base, Language: language}, s.forgottenQuotas(a, at.Now))
	if quota := (*record.QuotaError)(nil); errors.As(err, &quota) {
		_, keepErr := s.engine.KeepTime(ctx, at.Ends) // nothing was written yet
		return errors.Join(err, keepErr)
	}
	return err
}

// maxForgotten is how many password links an address gets in a day on requests without a sign-in.
const maxForgotten = 5

// forgottenQuotas are the quotas of such a link. It does not count against the address's other
// mail, so that a stranger cannot exhaust that. It counts per address, not per account, because
// several accounts may have the address one after another.
func (s *Store) forgottenQuotas(a record.Account, now time.Time) []record.Quota {
	own := record.Quota{To: s.ring.Load().MAC("forgotten password of " + strings.ToLower(a.Email)), Day: dayOf(now), Add: 1, Most: maxForgotten} // no url_token has a space
	return append(s.shareOfCodes(a, s.ownQuotas(a.ID, now, 1)), own)
}

// MailPasswordLink mails the link of MakePasswordLink to the address of the account.
//
// Errors: ErrNotFound; ErrDenied for a client, and for an account that may not act;
// *InvalidError if the server sends no mail, or none to such an address; a *QuotaError; ErrFull;
// ErrClock while the clock is in doubt.
func (s *Store) MailPasswordLink(ctx context.Context, by Actor, email, base, language string) error {
	if !by.administers() {
		return record.ErrDenied
	}
	return s.keeping(ctx, func(ctx context.Context) error {
		a, err := s.account(ctx, email)
		at := s.time.Read()
		switch {
		case err != nil:
			return err
		case !a.Active():
			return record.ErrDenied
		case !s.canMail(a) || base == "":
			return invalidField(FieldMail, "cannot be sent: this server sends no mail, or none to such an address")
		case at.Jumped:
			return record.ErrClock
		}
		return s.mailPasswordLink(ctx, by, a, at, Mail{Base: base, Language: language}, s.quotas(a.ID, at.Now, a.Email))
	})
}

func (s *Store) mailPasswordLink(ctx context.Context, by Actor, a record.Account, at clock.Instant, m Mail, quotas []record.Quota) error {
	m.About, m.Code = MailPassword, s.passwordLink(a, at.Now).Code
	batch := &record.MailBatch{Messages: []record.Message{s.sealMail(a.ID, at.Now, record.ID{}, m)}, Quotas: quotas}
	event := s.as(by).event(record.AdminPasswordLink, about(a).with("by mail"))
	return s.countMail(batch, at, func() error { return s.mailAbout(ctx, a, batch, event) })
}

// mailAbout sends mail with an event of an account, and does not change the account.
func (s *Store) mailAbout(ctx context.Context, a record.Account, mail *record.MailBatch, event record.AdminEvent) error {
	_, err := s.as(Actor{Role: System}).changeAccount(ctx, a.ID, record.SessionDigest{}, func(a record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
		return a, record.SessionChange{Mail: mail}, event, nil
	})
	return err
}

// SetPasswordByLink sets the password of the account that a code is for. All its sessions end; with
// endTokens, its API tokens and webhooks too. Its address is then confirmed, since the link came
// there or from an administrator. If it was not confirmed before, another person may have made the
// account. Then a new account takes its place, with only the password and what administrators set,
// and the old one is removed with all that it owns.
//
// Errors: ErrCode; *InvalidError; ErrBusy; ErrClock while the clock is in doubt.
func (s *Store) SetPasswordByLink(ctx context.Context, by Actor, code, password secret.Text, endTokens bool) error {
	l, err := s.ReadPasswordLink(ctx, code)
	if err != nil {
		return err
	}
	var bad record.InvalidError
	checkPassword(password, &bad)
	if err := bad.Err(); err != nil {
		return err
	}
	if s.time.Read().Jumped {
		return record.ErrClock
	}
	var hashed record.Account
	if err := s.hashPassword(ctx, by, &hashed, password); err != nil {
		return err
	}
	var done record.Account
	err = s.changeHooks(ctx, func(*subscriptions) (err error) {
		done, err = s.setByLink(ctx, by, l, hashed.PasswordHash, endTokens)
		return err
	})
	if err != nil || !done.Removing {
		return instead(err, record.ErrNotFound, record.ErrCode)
	}
	return s.finishRemoval(ctx, Actor{Role: System}, done)
}

// setByLink returns the account that the link was for.
func (s *Store) setByLink(ctx context.Context, by Actor, l PasswordLink, hash string, endTokens bool) (record.Account, error) {
	id, until, sum, _ := passwordCode(l.Code)
	by = by.proved(id)
	return sealing(ctx, s, func(ctx context.Context) (record.Account, error) {
		at := s.time.Read()
		event := s.as(by).event(record.AdminPassword, matter{account: id, email: l.Email, detail: "by a link"})
		afresh := s.as(by).event(record.AdminPassword, matter{email: l.Email, detail: fmt.Sprintf("by a link: a new account in place of account %d, whose address was not confirmed", id)})
		c, err := s.as(by).changeAccount(ctx, id, record.SessionDigest{}, func(a record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
			switch {
			case !s.setsPassword(a, until, sum, at):
				return a, record.SessionChange{}, record.AdminEvent{}, record.ErrCode
			case a.Unconfirmed:
				next := record.Account{Email: a.Email, PasswordHash: hash, CreatedAt: at.Now, Admin: a.Admin, Policy: a.Policy}
				a.Email, a.Identities, a.Removing = fmt.Sprintf("account %d of %s", a.ID, a.Email), "", true
				return a, record.SessionChange{Revoke: record.RevokeOthers, EndTokens: true, EvenLast: next.Admin, Successor: &next}, afresh, nil
			}
			a.PasswordHash = hash
			return a, record.SessionChange{Revoke: record.RevokeOthers, EndTokens: endTokens}, event, nil
		})
		return c.Account, err
	})
}
