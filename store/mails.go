package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"pushbox/internal/secret"
	"pushbox/store/clock"
)

// MailPush sends the link of a live push by mail. When it returns, the mails are
// durably in the outbox; they are not sent if the push ends before.
//
// Errors: ErrNotFound; ErrDenied for everyone but the owner; *InvalidError, also for a
// push that has expired; a *QuotaError; ErrFull; ErrClock while the clock is in doubt.
func (s *Store) MailPush(ctx context.Context, by Actor, t Token, m MailRequest) (PushInfo, error) {
	defer s.epochs.leave(s.epochs.enter())
	p, err := s.find(ctx, t)
	if err != nil {
		return PushInfo{}, err
	}
	if !p.ownedBy(by) {
		return PushInfo{}, ErrDenied
	}
	at := s.time.Read()
	if at.Jumped {
		return PushInfo{}, ErrClock
	}
	var bad InvalidError
	to := s.recipients(by, &m, &bad)
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

// mailEntry makes the audit entry of a request to send mail, with the mails.
func (s *Store) mailEntry(p PushInfo, by Actor, m MailRequest, to []string) Entry {
	batch := &MailBatch{Quotas: s.quotas(by, p.At, len(to))}
	for _, address := range to {
		batch.Messages = append(batch.Messages, s.sealMail(p, m, address))
	}
	return Entry{Kind: EntryMail, At: p.At, Sealed: s.sealActor(p.ID, by, strings.Join(to, ", ")), Mail: batch}
}

// quotas returns the quotas that a number of mails counts against.
func (s *Store) quotas(by Actor, now time.Time, mails int) []Quota {
	o := s.options().Mail
	q := Quota{Of: by.Account, Day: uint64(max(0, now.UnixMilli())) / uint64(day.Milliseconds()), Add: uint64(mails), Most: uint64(o.PerAccount)}
	all := q
	all.Of, all.Most = 0, uint64(o.PerInstance)
	return []Quota{q, all}
}

// countMail runs put, which puts a batch of mail into the outbox, and counts the
// messages there.
func (s *Store) countMail(batch *MailBatch, at clock.Instant, put func() error) error {
	if batch == nil {
		return put()
	}
	s.outbox.waiting.Add(int64(len(batch.Messages)))
	err := put()
	var quota *QuotaError
	if errors.As(err, &quota) {
		quota.RetryAfter = day - time.Duration(at.Now.UnixMilli()%day.Milliseconds())*time.Millisecond
	}
	if err != nil {
		s.outbox.release(len(batch.Messages))
		return err
	}
	signal(s.outbox.changed[ByMail])
	return nil
}

// A Mail is what a message by mail says, with the state of its push when it is opened.
type Mail struct {
	ID       string      // the same for each try, and unique
	To       secret.Text // an address
	Base     string      // the address of the server: the link begins with it
	Language string      // empty: that of the instance

	Push   PushInfo // with its Token
	Sender string   // the address of the push's owner
}

// sealMail makes the message with the mail to an address. It names the push and holds no
// link.
func (s *Store) sealMail(p PushInfo, m MailRequest, address string) Message {
	l := Mail{ID: randomText(noticeIDSize), To: secret.New(address), Base: m.Base, Language: m.Language}
	msg := Message{Route: ByMail, To: uint64(p.Owner), CreatedAt: p.At, NextAt: p.At}
	msg.Sealed = s.ring.Load().SealMessage(msg.place(), l.encode(p.ID))
	return msg
}

func (m Mail) encode(push ID) []byte {
	b := append(append(make([]byte, 0, 256), messageVersion), push[:]...)
	for _, text := range [...]string{m.ID, m.To.Reveal(), m.Base, m.Language} {
		b = appendBytes(b, text)
	}
	return b
}

func decodeMail(b []byte) (push ID, m Mail, err error) {
	r := reader{b: b}
	r.versionIs(messageVersion)
	push = ID(r.take(len(ID{})))
	m.ID, m.To, m.Base, m.Language = string(r.bytes()), r.text(), string(r.bytes()), string(r.bytes())
	return push, m, r.end()
}

// OpenMail opens what a message by mail says. wanted is false if it should not be sent:
// the push has ended, or its owner may not act. ErrCorrupt if it or the link of its
// push does not open;
// ErrClock if a jump of the clock leaves open whether the push has ended.
func (s *Store) OpenMail(ctx context.Context, m Message) (l Mail, wanted bool, err error) {
	var push ID
	plain, err := s.ring.Load().OpenMessage(m.place(), m.Sealed)
	if err == nil {
		push, l, err = decodeMail(plain)
	}
	if err != nil {
		return Mail{}, false, fmt.Errorf("%w: message %d does not open", ErrCorrupt, m.Number)
	}
	p, err := s.engine.Push(ctx, push)
	if err != nil {
		return Mail{}, false, instead(err, ErrNotFound, nil)
	}
	at := s.time.Read()
	ended, doubtful := p.due(at)
	switch {
	case doubtful:
		return Mail{}, false, ErrClock
	case ended || !p.Live():
		return Mail{}, false, nil
	}
	a, err := s.engine.Account(ctx, p.Owner)
	if err != nil {
		return Mail{}, false, instead(err, ErrNotFound, nil)
	}
	link, err := s.openLink(p)
	if err != nil {
		return Mail{}, false, err
	}
	l.Push, l.Sender = PushInfo{Push: p, At: at.Now, Token: link}, a.Email
	return l, a.Active(), nil
}
