package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"pushbox/internal/email"
	"pushbox/internal/secret"
	"pushbox/store/clock"
	"pushbox/store/cold"
	"pushbox/store/record"
)

// MailPush sends the link of a live push by mail. When it returns, the mails are
// durably in the outbox; they are not sent if the push ends before.
//
// Errors: ErrNotFound; ErrDenied for everyone but the owner; *InvalidError, also for a
// push that has expired; ErrUnconfirmed; a *QuotaError; ErrFull; ErrClock while the clock
// is in doubt.
func (s *Store) MailPush(ctx context.Context, by Actor, t Token, m MailRequest) (PushInfo, error) {
	return sealing(ctx, s, func(ctx context.Context) (PushInfo, error) { return s.mailPush(ctx, by, t, m) })
}

func (s *Store) mailPush(ctx context.Context, by Actor, t Token, m MailRequest) (PushInfo, error) {
	p, err := s.find(ctx, t)
	if err != nil {
		return PushInfo{}, err
	}
	if !ownedBy(p, by) {
		return PushInfo{}, record.ErrDenied
	}
	at := s.time.Read()
	if at.Jumped {
		return PushInfo{}, record.ErrClock
	}
	var bad record.InvalidError
	to := s.recipients(by, &m, &bad)
	checkPushMail(p, to, &bad)
	policy, err := s.PolicyOf(ctx, by)
	if err != nil {
		return PushInfo{}, err
	}
	policy.checkMail(to, &bad)
	if len(to) == 0 && bad.Fields == nil {
		bad.Add(FieldMailTo, "is required")
	}
	if err := bad.Err(); err != nil {
		return PushInfo{}, err
	}
	info := PushInfo{Push: p, At: at.Now, Token: t, Mailed: len(to)}
	e := s.mailEntry(info, by, m, to)
	err = s.countMail(e.Mail, at, func() error {
		c, err := s.change(ctx, p.ID, mailRule(by, at, e))
		if info.Push = c.Push; err == nil && c.Entry.Mail == nil {
			return invalidField(FieldMailTo, "cannot be sent: the push has expired")
		}
		return err
	})
	return info, err
}

// checkPushMail refuses mail with a link that would lack its key.
func checkPushMail(p record.Push, to []string, bad *record.InvalidError) {
	if p.ClientEncrypted && len(to) > 0 {
		bad.Add(FieldMailTo, "cannot be sent: the push is encrypted end to end, and only its sender has the key of the link")
	}
}

// mailEntry makes the audit entry of a request to send mail, with the mails.
func (s *Store) mailEntry(p PushInfo, by Actor, m MailRequest, to []string) record.Entry {
	batch := &record.MailBatch{Quotas: s.quotas(by.Account, p.At, to...), Sender: by.Account}
	for _, address := range to {
		l := Mail{About: MailLink, To: secret.New(address), Base: m.Base, Language: m.Language}
		batch.Messages = append(batch.Messages, s.sealMail(p.Owner, p.At, p.ID, l))
	}
	return record.Entry{Kind: record.EntryMail, At: p.At, Sealed: s.sealActor(p.ID, by, strings.Join(to, ", ")), Mail: batch}
}

// requestMail makes the mails with the link of a request; nil for none.
func (s *Store) requestMail(r record.Request, m *MailRequest, to []string) *record.MailBatch {
	if len(to) == 0 {
		return nil
	}
	batch := &record.MailBatch{Quotas: s.quotas(r.Owner, r.CreatedAt, to...), Sender: r.Owner}
	for _, address := range to {
		l := Mail{About: MailAsk, To: secret.New(address), Base: m.Base, Language: m.Language}
		batch.Messages = append(batch.Messages, s.sealMail(r.Owner, r.CreatedAt, record.ID(r.ID), l))
	}
	return batch
}

// A MailSubject says what a mail is about.
type MailSubject uint8

// The subjects of mails. The numbers are stored.
const (
	MailLink        MailSubject = 1 + iota // the link of a push, to its recipients
	MailFreeze                             // that a push is frozen, to its owner
	MailCode                               // the code that confirms an address, to the account
	MailAnswer                             // that a request was answered, to its owner
	MailPassword                           // the link that sets a password, to the account
	MailFirstView                          // the first view of a push, to its owner
	MailLastView                           // its last view, to its owner
	MailExpired                            // that its views or its time are over, to its owner
	MailGuessed                            // a wrong passphrase, to its owner
	MailLinkMade                           // that an administrator made a link for another password, to the account
	MailFactorsGone                        // that an administrator removed its second factor, to the account
	MailAsk                                // the link of a request, to those who shall answer
	MailRecipient                          // the code that opens a push, to its named recipient
	MailReminder                           // that a push ends soon without a view, to its owner
	mailSubjectCount
)

// A Mail is the content of a message by mail, with the state of its push when it is opened.
type Mail struct {
	About    MailSubject
	ID       string      // the same for each try, and unique
	To       secret.Text // an address
	Base     string      // base address of the link; empty: the mail has none
	Language string      // empty: the language of the instance
	Code     secret.Text // the code of MailCode and MailRecipient, or of the link of MailPassword
	First    bool        // for MailPassword: the account has no password yet; not stored
	At       time.Time   // when it was put into the outbox

	Push   PushInfo     // for a link with its Token
	Asked  RequestToken // for MailAsk, with the end of the request in Push.ExpiresAt
	Sender string       // for a link and for MailRecipient: the owner of the push or the request, as Sender.String
}

// sealMail makes the message for a mail of an account, which may be about a push. The message holds
// no link.
func (s *Store) sealMail(of record.AccountID, at time.Time, push record.ID, l Mail) record.Message {
	l.ID = randomText(noticeIDSize)
	msg := record.Message{Route: record.ByMail, To: uint64(of), CreatedAt: at, NextAt: at}
	msg.Sealed = s.ring.Load().SealMessage(messagePlace(msg), l.encode(push))
	return msg
}

func (m Mail) encode(push record.ID) []byte {
	b := append(append(make([]byte, 0, 256), messageVersion, byte(m.About)), push[:]...)
	for _, text := range [...]string{m.ID, m.To.Reveal(), m.Base, m.Language, m.Code.Reveal()} {
		b = record.AppendBytes(b, text)
	}
	return b
}

func decodeMail(b []byte) (push record.ID, m Mail, err error) {
	r := record.Reader{Rest: b}
	r.VersionIs(messageVersion)
	m.About, push = MailSubject(r.Byte()), record.ID(r.Take(len(record.ID{})))
	m.ID, m.To, m.Base, m.Language, m.Code = string(r.Bytes()), r.Text(), string(r.Bytes()), string(r.Bytes()), r.Text()
	if m.About == 0 || m.About >= mailSubjectCount {
		r.Bad = true
	}
	return push, m, r.End()
}

// OpenMail opens the content of a message by mail. wanted is false if it should not be sent: the
// account may not act, or may not send mail; the push has ended, or is no longer frozen; the code
// is no longer valid. ErrCorrupt if it or the link of its push does not open; ErrClock if a jump of
// the clock leaves open whether the push has ended.
func (s *Store) OpenMail(ctx context.Context, m record.Message) (l Mail, wanted bool, err error) {
	var push record.ID
	plain, err := s.ring.Load().OpenMessage(messagePlace(m), m.Sealed)
	if err == nil {
		push, l, err = decodeMail(plain)
	}
	if err != nil {
		return Mail{}, false, fmt.Errorf("%w: message %d cannot be decrypted", record.ErrCorrupt, m.Number)
	}
	a, err := cold.Account(ctx, s.engine, record.AccountID(m.To))
	if err != nil {
		return Mail{}, false, instead(err, record.ErrNotFound, nil)
	}
	l.At = m.CreatedAt
	if a.Language != "" && l.About != MailLink && l.About != MailAsk && l.About != MailCode && l.About != MailRecipient { // which the browser asked for has its language
		l.Language = a.Language
	}
	if l.About == MailPassword {
		l.To, l.First = secret.New(a.Email), a.Invited()
		id, until, sum, ok := passwordCode(l.Code)
		return l, ok && id == a.ID && s.setsPassword(a, until, sum, s.time.Read()), nil
	}
	if l.About == MailLinkMade || l.About == MailFactorsGone { // also while the account is disabled
		l.To = secret.New(a.Email)
		return l, !a.Removing && !a.Unconfirmed, nil
	}
	if !a.Active() || a.Unconfirmed != (l.About == MailCode) {
		return Mail{}, false, nil
	}
	if l.About == MailCode {
		l.To = secret.New(a.Email)
		return l, s.isCode(a, l.Code, s.time.Read()), nil
	}
	if l.About == MailAsk {
		return s.aboutRequest(ctx, l, record.RequestID(push), a)
	}
	for event, about := range newsSubjects {
		if about == l.About {
			return s.openNews(ctx, l, push, a, event)
		}
	}
	return s.aboutPush(ctx, l, push, a)
}

// aboutPush is OpenMail for a mail about a push of an account.
func (s *Store) aboutPush(ctx context.Context, l Mail, push record.ID, owner record.Account) (_ Mail, wanted bool, err error) {
	p, err := s.push(ctx, push)
	if err != nil {
		return Mail{}, false, instead(err, record.ErrNotFound, nil)
	}
	at := s.time.Read()
	ended, doubtful := isDue(p, at)
	switch {
	case doubtful:
		return Mail{}, false, record.ErrClock
	case ended || !p.Live() || p.Owner != owner.ID:
		return Mail{}, false, nil
	}
	l.Push = PushInfo{Push: p, At: at.Now}
	switch l.About {
	case MailFreeze:
		l.To = secret.New(owner.Email)
		return l, p.Frozen, nil
	case MailAnswer:
		l.To = secret.New(owner.Email)
		return l, true, nil
	}
	l.Sender = senderOf(owner).String()
	if l.About == MailRecipient {
		return l, at.Denies.Before(l.At.Add(RecipientCodeLasts)), nil
	}
	a, err := s.openAccess(p)
	if err == nil {
		l.Push.Recipient = a.recipient
		l.Push.Token, err = s.openLink(p)
	}
	return l, err == nil, err
}

// aboutRequest is OpenMail for a mail with the link of a request of an account.
func (s *Store) aboutRequest(ctx context.Context, l Mail, id record.RequestID, owner record.Account) (_ Mail, wanted bool, err error) {
	r, err := cold.Request(ctx, s.engine, id)
	if err != nil {
		return Mail{}, false, instead(err, record.ErrNotFound, nil)
	}
	at := s.time.Read()
	switch {
	case r.Owner != owner.ID || !r.Live(at.Ends):
		return Mail{}, false, nil
	case !r.Live(at.Denies):
		return Mail{}, false, record.ErrClock
	}
	q, err := s.openRequest(r, at)
	l.Push.ExpiresAt, l.Asked, l.Sender = r.ExpiresAt, q.Token, senderOf(owner).String()
	return l, true, err
}

// CanMail reports whether mail about its pushes can be sent to an account.
func (s *Store) CanMail(a record.Account) bool { return !a.Unconfirmed && s.canMail(a) }

// canMail reports whether mail can be sent to an account: its address may be one that the settings
// do not allow.
func (s *Store) canMail(a record.Account) bool {
	return len(s.options().Mail.Languages) > 0 && email.IsSendable(a.Email)
}

// ownerMail makes a mail to the owner of a push; nil if none is sent. A failure here never stops
// the change that the mail is about.
func (s *Store) ownerMail(ctx context.Context, p record.Push, about MailSubject, at clock.Instant) *record.MailBatch {
	if p.Owner == 0 || at.Jumped {
		return nil
	}
	owner, err := cold.Account(ctx, s.engine, p.Owner)
	if err != nil || !owner.Active() || owner.Unconfirmed || !s.canMail(owner) {
		return nil
	}
	return &record.MailBatch{
		Messages: []record.Message{s.sealMail(p.Owner, at.Now, p.ID, Mail{About: about})},
		Quotas:   s.quotas(p.Owner, at.Now, owner.Email), Sender: p.Owner, Optional: true,
	}
}

// telling runs an administrator's change of another person's account, with a mail that informs the
// account. It runs the change without a mail if none can be sent.
func (s *Store) telling(ctx context.Context, by Actor, a record.Account, about MailSubject, do func(*record.MailBatch) error) error {
	return s.keeping(ctx, func(ctx context.Context) error {
		at := s.time.Read()
		if at.Jumped || by.Account == a.ID || a.Removing || !s.CanMail(a) {
			return do(nil)
		}
		// the address's quota is not charged, so that an administrator cannot exhaust it.
		mail := &record.MailBatch{Messages: []record.Message{s.sealMail(a.ID, at.Now, record.ID{}, Mail{About: about})}, Quotas: s.ownQuotas(a.ID, at.Now, 1)}
		err := s.countMail(mail, at, func() error { return do(mail) })
		if errors.Is(err, record.ErrQuota) || errors.Is(err, record.ErrFull) {
			return do(nil)
		}
		return err
	})
}

// errFreezes says that a change would freeze a push.
var errFreezes = errors.New("the push would be frozen")

// unlessItFreezes returns errFreezes instead of making a change that freezes a push. Only the rule
// can decide that, because other clients may try passphrases at the same time, also at other
// servers.
func unlessItFreezes(r record.Rule) record.Rule {
	return func(p record.Push) (record.Push, record.Entry, error) {
		next, e, err := r(p)
		if err == nil && e.Kind == record.EntryFreeze {
			return p, record.Entry{}, errFreezes
		}
		return next, e, err
	}
}

// freeze makes a change that may freeze a push, with the mail that tells its owner. Only the change
// that freezes the push sends the mail.
func (s *Store) freeze(ctx context.Context, p record.Push, r record.Rule, at clock.Instant) (c record.Change, err error) {
	mail := s.ownerMail(ctx, p, MailFreeze, at)
	err = s.countMail(mail, at, func() (err error) {
		c, err = s.change(ctx, p.ID, func(p record.Push) (record.Push, record.Entry, error) {
			next, e, err := r(p)
			if e.Kind == record.EntryFreeze {
				e.Mail = mail
			}
			return next, e, err
		})
		return err
	})
	if err == nil && mail != nil && c.Entry.Mail != mail { // it went without the mail, or froze nothing
		s.outbox.release(len(mail.Messages))
	}
	return c, err
}
