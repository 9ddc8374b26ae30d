package store

import (
	"context"
	"errors"
	"strings"
	"time"
)

// MailPush has the link of a live push sent to people. They are durably going to be
// sent then, if the push does not end before.
//
// Errors: ErrNotFound; ErrDenied for anybody but the owner; *InvalidError, for a push
// that has expired, too; a *QuotaError; ErrFull; ErrClock while the clock is in doubt.
func (s *Store) MailPush(ctx context.Context, by Actor, t Token, m Mailing) (PushInfo, error) {
	p, err := s.find(ctx, t)
	if err != nil {
		return PushInfo{}, err
	}
	if !p.ownedBy(by) {
		return PushInfo{}, ErrDenied
	}
	at := s.time.read()
	if at.jumped {
		return PushInfo{}, ErrClock
	}
	to, err := s.recipients(by, &m)
	if err == nil && len(to) == 0 {
		err = invalidField(FieldMailTo, "is required")
	}
	if err != nil {
		return PushInfo{}, err
	}
	info := PushInfo{Push: p, At: at.now, Token: t, Mailed: len(to)}
	e := s.mailEntry(info, by, m, to)
	err = s.posting(e.Post, at, func() error {
		c, err := s.change(ctx, p.ID, mailRule(by, at, e))
		if info.Push = c.Push; err == nil && c.Entry.Post == nil {
			return invalidField(FieldMailTo, "cannot be sent: the push has expired")
		}
		return err
	})
	return info, err
}

// mailRule has mail sent for a live push. One that has expired stays as it is, and no
// mail is sent.
func mailRule(by Actor, at instant, e Entry) Rule {
	return func(p Push) (Push, Entry, error) {
		if !p.ownedBy(by) {
			return p, Entry{}, ErrDenied
		}
		if err := p.settle(at); err != nil {
			return p, Entry{}, err
		}
		if !p.Live() {
			return p, Entry{}, nil
		}
		p.log(e.Kind, at)
		return p, e, nil
	}
}

// mailEntry is the audit entry of a mailing, with the mail itself.
func (s *Store) mailEntry(p PushInfo, by Actor, m Mailing, to []string) Entry {
	post := &Post{Quotas: s.quotas(by, p.At, len(to))}
	for _, address := range to {
		post.Letters = append(post.Letters, s.letter(p, m, address))
	}
	return Entry{Kind: EntryMail, At: p.At, Sealed: s.sealMailing(p.ID, by, strings.Join(to, ", ")), Post: post}
}

// quotas are what so many mails count against.
func (s *Store) quotas(by Actor, now time.Time, mails int) []Quota {
	o := s.options().Mail
	q := Quota{Of: by.Account, Day: uint64(max(0, now.UnixMilli())) / uint64(day.Milliseconds()), Add: uint64(mails), Most: uint64(o.PerAccount)}
	all := q
	all.Of, all.Most = 0, uint64(o.PerInstance)
	return []Quota{q, all}
}

// posting does what puts mail into the outbox, and takes note of it.
func (s *Store) posting(p *Post, at instant, put func() error) error {
	if p == nil {
		return put()
	}
	s.outbox.waiting.Add(int64(len(p.Letters)))
	err := put()
	var quota *QuotaError
	if errors.As(err, &quota) {
		quota.RetryAfter = day - time.Duration(at.now.UnixMilli()%day.Milliseconds())*time.Millisecond
	}
	if err != nil {
		s.outbox.release(len(p.Letters))
		return err
	}
	select {
	case s.posted <- struct{}{}:
	default:
	}
	return nil
}

func invalidField(name, message string) error {
	var bad InvalidError
	bad.Add(name, message)
	return bad.Err()
}
