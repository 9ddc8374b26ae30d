package store

import (
	"context"
	"errors"
	"time"

	"pushbox/internal/secret"
	"pushbox/store/seal"
)

// A passphraseTrier is who tries the passphrase of a push, as the limits count it.
type passphraseTrier struct {
	client string // what its wrong ones count for
	known  bool   // its passphrase was right before, or it is the owner: strangers do not lock it out
	marked bool   // a mark proves that: it may also open a push that is frozen
}

// passphraseTrier returns who an actor is to the limits of a push. Others may have the
// address of a client whose passphrase was right, so an address alone opens no push that
// is frozen.
func (s *Store) passphraseTrier(by Actor, id ID) passphraseTrier {
	if m := s.markOf(by, pushSubject(id)); !m.IsZero() {
		return passphraseTrier{client: "browser " + m.Reveal(), known: true, marked: true}
	}
	if seen, _ := s.guess.right.Full(string(id[:]) + by.Client); seen {
		return passphraseTrier{client: "known " + by.Client, known: true}
	}
	return passphraseTrier{client: by.Client}
}

// tryPassphrase runs open, which tries the passphrase on a push, if the limits allow
// another guess. Only a wrong one counts, and is recorded before the answer. It is the only
// way to a passphrase, so no guess gets past the limits.
//
// It returns a *PassphraseError if the passphrase is wrong or missing, a *LockedError
// after too many wrong ones, and ErrFrozen. If the push ends meanwhile it returns nil and
// has not opened it.
func (s *Store) tryPassphrase(ctx context.Context, by Actor, p Push, passphrase secret.Text, open func(Push) error) error {
	who := s.passphraseTrier(by, p.ID)
	if p.ownedBy(by) {
		who.known = true
	}
	if err := s.mayTry(p, who); err != nil && (!passphrase.IsZero() || errors.Is(err, ErrFrozen)) {
		return err
	}
	if passphrase.IsZero() {
		return s.missed(p, who)
	}
	return doQueued(ctx, s.guess.passphrases, by.Client, func() error {
		return s.guess.inTurn(string(p.ID[:]), func() error {
			p, err := s.engine.Push(ctx, p.ID) // as the guesses before this one left it
			if err != nil {
				return err
			}
			if over, err := s.over(p); over || err != nil {
				return err
			}
			if err := s.mayTry(p, who); err != nil {
				return err
			}
			err = open(p)
			switch {
			case err == nil:
				s.guess.right.Add(string(p.ID[:]) + by.Client)
			case errors.Is(err, seal.ErrPassphrase):
				return s.recordWrong(ctx, by, p, who)
			}
			return err
		})
	})
}

// mayTry returns nil if another guess is allowed.
func (s *Store) mayTry(p Push, who passphraseTrier) error {
	if p.Frozen && !who.marked {
		return ErrFrozen
	}
	if !who.known {
		if full, wait := s.guess.perPush.FullWithin(string(p.ID[:]), s.strangersWindow(p)); full {
			return &LockedError{RetryAfter: wait, Limit: LimitPassphrasesPerPush}
		}
	}
	if full, wait := s.guess.perClient.FullFor(string(p.ID[:]), who.client); full {
		return &LockedError{RetryAfter: wait, Limit: LimitPassphrasesPerClient}
	}
	return nil
}

// strangersWindow is the time in which strangers have Guessing.PerPush wrong passphrases.
// It doubles each time that the push has had as many, up to ten hours.
func (s *Store) strangersWindow(p Push) time.Duration {
	each := s.opts.Load().Guessing.PerPush
	if each <= 0 || p.Failed == 0 {
		return passphrasesPerPushWindow
	}
	return passphrasesPerPushWindow << min((p.Failed-1)/each, doublings)
}

// recordWrong records a wrong passphrase, and returns the error for the client. It returns
// nil if the push has ended meanwhile. A client that does not wait for the answer is
// counted all the same.
func (s *Store) recordWrong(ctx context.Context, by Actor, p Push, who passphraseTrier) error {
	s.guess.perClient.AddFor(string(p.ID[:]), who.client)
	if !who.known {
		s.guess.perPush.Add(string(p.ID[:]))
	}
	most := s.opts.Load().Guessing.PerLife
	c, err := s.change(context.WithoutCancel(ctx), p.ID, wrongPassphraseRule(s.time.Read(), s.sealActor(p.ID, by), most))
	if err != nil || c.Entry.Kind == 0 {
		return err
	}
	return s.missed(c.Push, who)
}

// missed returns the error for a missing or wrong passphrase, with the tries that are
// left.
func (s *Store) missed(p Push, who passphraseTrier) error {
	e := &PassphraseError{Left: s.guess.perClient.LeftFor(string(p.ID[:]), who.client)}
	if !who.known {
		e.Left = min(e.Left, s.guess.perPush.LeftWithin(string(p.ID[:]), s.strangersWindow(p)))
	}
	if most := s.opts.Load().Guessing.PerLife; most > 0 && !who.marked {
		e.Left = min(e.Left, max(0, most-p.Failed))
	}
	var locked *LockedError
	if errors.As(s.mayTry(p, who), &locked) {
		e.Left, e.RetryAfter = 0, locked.RetryAfter
	}
	return e
}
