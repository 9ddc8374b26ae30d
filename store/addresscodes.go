package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"pushbox/internal/email"
	"pushbox/internal/limit"
	"pushbox/internal/secret"
	"pushbox/store/clock"
	"pushbox/store/cold"
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

// A Mailbox is what a named recipient gives to open a push: a challenge, which MailRecipientCode
// returned, and the code that was mailed for it.
type Mailbox struct{ Challenge, Code secret.Text }

// The bounds of codes for named recipients.
const (
	RecipientCodeLasts  = 15 * time.Minute // from when it is made
	RecipientCodeTries  = 5                // wrong codes that a challenge takes
	recipientCodeDigits = 6

	recipientCodesWindow  = time.Hour
	recipientCodes        = 5  // in that time: for an address, from all clients together
	recipientCodesOfOne   = 3  // for an address, that one client asks for
	recipientCodesOfAll   = 20 // for all addresses, that one client asks for
	recipientCodesPerMail = 20 // in a day: for an address, from all pushes together
)

// A challenge asks for a code that was mailed for a push. The store keeps none: one HMAC
// authenticates it, and another one makes the code. A challenge for which no code was mailed looks
// the same, and no code opens it.
type challenge struct {
	nonce   [nonceSize]byte
	at      time.Time
	mailed  bool // only the HMAC says so
	address string
}

// encode returns the text of a challenge of a push.
func (s *Store) encodeChallenge(id record.ID, c challenge) secret.Text {
	sum := s.challengeSum(id, c)
	b := binary.BigEndian.AppendUint64(c.nonce[:], uint64(c.at.UnixMilli()))
	return secret.New(base64.RawURLEncoding.EncodeToString(append(append(b, sum[:]...), c.address...)))
}

// openChallenge reads a challenge of a push that has not run out. ok is false for any other text.
func (s *Store) openChallenge(id record.ID, text secret.Text, at clock.Instant) (c challenge, ok bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text.Reveal())
	if err != nil || len(b) <= len(c.nonce)+8+16 || text.Len() > base64.RawURLEncoding.EncodedLen(len(b)) { // it may have line breaks
		return c, false
	}
	r := record.Reader{Rest: b}
	c.nonce = [nonceSize]byte(r.Take(nonceSize))
	c.at = time.UnixMilli(int64(binary.BigEndian.Uint64(r.Take(8)))).UTC()
	sum := r.Take(16)
	c.address = string(r.Rest)
	for _, c.mailed = range []bool{true, false} {
		want := s.challengeSum(id, c)
		if subtle.ConstantTimeCompare(sum, want[:]) == 1 {
			return c, at.Denies.Before(c.at.Add(RecipientCodeLasts))
		}
	}
	return c, false
}

func (s *Store) challengeSum(id record.ID, c challenge) [16]byte {
	return s.ring.Load().MAC(fmt.Sprintf("challenge %x of push %x for %s at %d, mailed %t", c.nonce, id[:], c.address, c.at.UnixMilli(), c.mailed)) // no url_token has a space
}

// challengeCode is the code that opens a push, if it was mailed.
func (s *Store) challengeCode(id record.ID, c challenge) secret.Text {
	sum := s.ring.Load().MAC(fmt.Sprintf("code for challenge %x of push %x for %s at %d", c.nonce, id[:], c.address, c.at.UnixMilli())) // no url_token has a space
	return secret.New(fmt.Sprintf("%0*d", recipientCodeDigits, binary.BigEndian.Uint64(sum[:8])%1_000_000))
}

// MailRecipientCode mails a code to an address if the push names it as its recipient, and returns the
// challenge that the code answers. Nothing tells whether a code was mailed: for any other address,
// and past the limits that other clients can use up, it returns a challenge that no code answers.
//
// Errors: ErrNotFound, also for a push that has ended or names no recipient; an *EarlyError; ErrNetwork;
// *InvalidError for a text that is no address; a *LockedError after too many of the client; ErrClock
// while the clock is in doubt.
func (s *Store) MailRecipientCode(ctx context.Context, by Actor, t Token, address, language string) (secret.Text, error) {
	return sealing(ctx, s, func(ctx context.Context) (secret.Text, error) {
		return s.mailRecipientCode(ctx, by, t, strings.TrimSpace(address), language)
	})
}

func (s *Store) mailRecipientCode(ctx context.Context, by Actor, t Token, address, language string) (secret.Text, error) {
	p, err := s.find(ctx, t)
	if err != nil {
		return secret.Text{}, err
	}
	over, err := s.over(p)
	if err != nil {
		return secret.Text{}, err
	}
	of, err := s.recipientOf(p)
	err = cmp.Or(s.Admits(by, p), err)
	at := s.time.Read()
	switch {
	case err != nil:
		return secret.Text{}, err
	case over || of == "":
		return secret.Text{}, record.ErrNotFound
	case !email.IsSendable(address):
		return secret.Text{}, invalidField(FieldRecipient, "must be an e-mail address such as ann@example.com")
	case at.Jumped:
		return secret.Text{}, record.ErrClock
	}
	c := challenge{at: at.Now, address: email.Fold(address)}
	if err := s.tries(ctx, limit.Count, record.LimitCodesPerRecipient, s.codesOfClient(p.ID, by.Client, c.address)); err != nil {
		return secret.Text{}, err
	}
	stood, err := s.engine.Tries(ctx, limit.Count, s.triedAt(), []limit.Tally{s.tally(codesOfRecipient, string(p.ID[:])+c.address, recipientCodes, recipientCodesWindow)})
	if err != nil {
		return secret.Text{}, err
	}
	_, _ = rand.Read(c.nonce[:]) // never fails: crypto/rand ends the program instead
	if c.mailed = isRecipient(of, c.address) && limit.AllLeft(stood); c.mailed {
		if of[0] != '@' {
			address = of // as its sender spelled it
		}
		c.mailed, err = s.mailChallenge(ctx, p, c, at, Mail{About: MailRecipient, To: secret.New(address), Language: language})
	}
	if err == nil && !c.mailed {
		_, err = s.engine.KeepTime(ctx, at.Ends) // commit here too, so that timing does not reveal whether a code was mailed
	}
	return s.encodeChallenge(p.ID, c), err
}

// codesOfClient returns the tallies of codes that a client asks for.
func (s *Store) codesOfClient(id record.ID, client, address string) []limit.Tally {
	of := string(id[:])
	last := s.tally(codesOfClient, "last "+of+address+" "+client, 1, codesApart)
	last.Keep = recipientCodesWindow
	one := s.clientTallies(codesOfClient, "one "+of+address+" ", client, recipientCodesOfOne, recipientCodesWindow)
	return append(append(one, s.clientTallies(codesOfClient, "all "+of, client, recipientCodesOfAll, recipientCodesWindow)...), last)
}

// mailChallenge mails the code of a challenge in the name of the owner of the push. It reports false
// if no mail may be sent now.
func (s *Store) mailChallenge(ctx context.Context, p record.Push, c challenge, at clock.Instant, m Mail) (bool, error) {
	m.Code = s.challengeCode(p.ID, c)
	batch := &record.MailBatch{Messages: []record.Message{s.sealMail(p.Owner, c.at, p.ID, m)}, Quotas: s.recipientQuotas(p, c), Sender: p.Owner}
	err := s.countMail(batch, at, func() error {
		_, err := s.as(Actor{Role: System}).changeAccount(ctx, p.Owner, record.SessionDigest{}, func(a record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
			return a, record.SessionChange{Mail: batch, Untold: true}, record.AdminEvent{}, nil
		})
		return err
	})
	for _, refused := range []error{record.ErrQuota, record.ErrFull, record.ErrUnconfirmed, record.ErrToken, record.ErrNotFound} {
		if errors.Is(err, refused) {
			return false, nil
		}
	}
	return err == nil, err
}

// recipientQuotas are the quotas of a code for a named recipient. All of an account have half of its
// mails, and those of one push half of that, so that strangers with a link do not use up what the
// owner sends. They do not count against the other mail of the address.
func (s *Store) recipientQuotas(p record.Push, c challenge) []record.Quota {
	all := s.shareOfCodes(record.Account{ID: p.Owner}, s.ownQuotas(p.Owner, c.at, 1))
	for name, most := range map[string]int{
		fmt.Sprintf("codes for recipients of account %d", p.Owner): (s.options().Mail.PerAccount + 1) / 2,
		fmt.Sprintf("codes for recipients of push %x", p.ID[:]):    (s.options().Mail.PerAccount + 3) / 4,
		"codes for the recipient " + c.address:                     recipientCodesPerMail,
	} {
		all = append(all, record.Quota{To: s.ring.Load().MAC(name), Day: dayOf(c.at), Add: 1, Most: uint64(most)}) // no url_token has a space
	}
	return all
}

// namedRecipient returns the recipient that a new push names, and adds to bad what is wrong with it.
func (s *Store) namedRecipient(by Actor, in NewPush, bad *record.InvalidError) secret.Text {
	to := strings.TrimSpace(in.Recipient.Reveal())
	switch {
	case to == "":
	case len(s.options().Mail.Languages) == 0:
		bad.Add(FieldRecipient, "cannot be used: this server sends no mail")
	case by.Account == 0:
		bad.Add(FieldRecipient, "needs an account: send an API token")
	case !email.IsSendable(to) && !(to[0] == '@' && email.IsSendable("any"+to)):
		bad.Add(FieldRecipient, "must be one e-mail address such as ann@example.com, without a name, or a domain such as @example.com")
	}
	return secret.New(to)
}

// isConfirmed returns ErrUnconfirmed if the address of the actor's account is not confirmed: no mail is
// sent in its name.
func (s *Store) isConfirmed(ctx context.Context, by Actor) error {
	a, err := cold.Account(ctx, s.engine, by.Account)
	if err == nil && a.Unconfirmed {
		err = record.ErrUnconfirmed
	}
	return instead(err, record.ErrNotFound, record.ErrToken)
}
