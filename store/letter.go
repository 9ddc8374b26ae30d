package store

import (
	"context"
	"fmt"
	"time"

	"pushbox/internal/secret"
)

// A Letter is what a message by mail says, and what is true of its push when it is
// opened.
type Letter struct {
	ID       string      // the same for each try, and of no other
	To       secret.Text // an address
	Link     secret.Text
	Language string // empty: that of the instance

	Sender    string    // address of the push's owner
	ExpiresAt time.Time // when the push ends
	Views     int       // that are left
	Protected bool      // by a passphrase
}

// letter seals a letter to an address.
func (s *Store) letter(p PushInfo, m Mailing, address string) Message {
	b := append(make([]byte, 0, 256), recordVersion)
	b = append(b, p.ID[:]...)
	for _, text := range [...]string{randomText(noticeIDSize), address, m.Link(p).Reveal(), m.Language} {
		b = appendBytes(b, text)
	}
	msg := Message{Route: ByMail, To: uint64(p.Owner), CreatedAt: p.At, NextAt: p.At}
	msg.Sealed = s.ring.Load().SealMessage(p.At, msg.place(), b)
	return msg
}

func decodeLetter(b []byte) (push ID, l Letter, err error) {
	r := reader{b: b}
	r.version()
	push = ID(r.take(len(ID{})))
	l.ID, l.To = string(r.bytes()), secret.New(string(r.bytes()))
	l.Link, l.Language = secret.New(string(r.bytes())), string(r.bytes())
	return push, l, r.end()
}

// OpenLetter opens what a message by mail says. wanted is false where it is not to be
// sent any more: the push has ended, or whoever sends it may not act. ErrCorrupt if it
// does not open, ErrClock where a jump of the clock leaves open whether the push has
// ended.
func (s *Store) OpenLetter(ctx context.Context, m Message) (l Letter, wanted bool, err error) {
	var push ID
	plain, err := s.ring.Load().OpenMessage(m.place(), m.Sealed)
	if err == nil {
		push, l, err = decodeLetter(plain)
	}
	if err != nil {
		return Letter{}, false, fmt.Errorf("%w: message %d does not open", ErrCorrupt, m.Number)
	}
	p, err := s.engine.Push(ctx, push)
	if err != nil {
		return Letter{}, false, instead(err, ErrNotFound, nil)
	}
	ended, doubtful := s.time.read().due(p)
	switch {
	case doubtful:
		return Letter{}, false, ErrClock
	case ended || !p.Live():
		return Letter{}, false, nil
	}
	a, err := s.engine.Account(ctx, p.Owner)
	if err != nil {
		return Letter{}, false, instead(err, ErrNotFound, nil)
	}
	l.Sender, l.ExpiresAt, l.Views, l.Protected = a.Email, p.ExpiresAt, p.ViewsRemaining(), p.Protected
	return l, a.Active(), nil
}

// Posted has a value when there is new mail in the outbox.
func (s *Store) Posted() <-chan struct{} { return s.posted }

// DueLetters lists mail to be tried now, earliest first, and tells how long it is until
// there may be more.
func (s *Store) DueLetters(ctx context.Context, limit int) (due []Message, wait time.Duration, err error) {
	return s.DueMessages(ctx, func(m Message) bool { return m.Route != ByMail }, limit)
}

// GiveUpMail forgets mail that has waited too long, and tells how many there were. A
// clock in doubt gives up none.
func (s *Store) GiveUpMail(ctx context.Context) (given int, err error) {
	before := s.time.read().ends.Add(-s.options().Mail.GiveUp)
	others := func(m Message) bool { return m.Route != ByMail || m.CreatedAt.After(before) }
	for {
		old, _, err := s.engine.DueMessages(ctx, s.time.read().now, others, sweepBatch)
		if err != nil || len(old) == 0 {
			return given, err
		}
		n, err := s.endMessages(ctx, old)
		s.outbox.release(n)
		if given += n; err != nil || n == 0 {
			return given, err
		}
	}
}
