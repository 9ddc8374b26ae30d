package store

import (
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"strings"
	"time"

	"pushbox/internal/email"
	"pushbox/internal/limit"
	"pushbox/internal/secret"
	"pushbox/store/record"
	"pushbox/store/seal"
)

// A passphraseTrier is the client that tries the passphrase of a push, as the limits count it.
type passphraseTrier struct {
	client string // the name for which its wrong passphrases count
	known  bool   // it gave the right passphrase before, or is the owner: strangers do not lock it out
	marked bool   // a mark proves that: it may also open a push that is frozen
}

// passphraseTrier returns an actor as the limits of a push count it. Other people may share the
// address of a client that gave the right passphrase, so an address alone cannot open a frozen
// push.
func (s *Store) passphraseTrier(ctx context.Context, by Actor, id record.ID) (passphraseTrier, error) {
	if m := s.markOf(by, pushSubject(id)); !m.IsZero() {
		return passphraseTrier{client: "browser " + m.Reveal(), known: true, marked: true}, nil
	}
	stood, err := s.engine.Tries(ctx, limit.Look, s.triedAt(), s.rightOf(by, id))
	if err == nil && !limit.AllLeft(stood) {
		return passphraseTrier{client: "known " + by.Client, known: true}, nil
	}
	return passphraseTrier{client: by.Client}, err
}

// rightOf returns the tally of right passphrases of a client, which counts one at most.
func (s *Store) rightOf(by Actor, id record.ID) []limit.Tally {
	return []limit.Tally{s.tally(rightPassphrases, string(id[:])+by.Client, 1, remembers)}
}

// countRight counts a right passphrase in place of the one before it, so that the client stays
// known for another while.
func (s *Store) countRight(ctx context.Context, by Actor, id record.ID) error {
	right := s.rightOf(by, id)
	s.uncountTry(ctx, right)
	_, err := s.engine.Tries(ctx, limit.Count, s.triedAt(), right)
	return err
}

// guessesOf returns the tallies of a push that count a wrong passphrase: those of the client, and
// that of strangers unless the client is known.
func (s *Store) guessesOf(p record.Push, who passphraseTrier) (strangers, client []limit.Tally) {
	most := s.opts.Load().Guessing
	if !who.known {
		t := s.tally(passphrasesOfPush, string(p.ID[:]), most.PerPush, s.strangersWindow(p))
		t.Keep = passphrasesPerPushWindow << doublings
		strangers = []limit.Tally{t}
	}
	return strangers, s.clientTallies(passphrasesOfClient, string(p.ID[:]), who.client, most.PerClient, passphrasesPerClientWindow)
}

// tryPassphrase runs open, which tries the passphrase on a push, if the limits allow another guess.
// Only a wrong passphrase counts, and is recorded before the answer. All checks of a passphrase go
// through it, so no guess gets past the limits.
//
// It returns a *PassphraseError if the passphrase is wrong or missing, a *LockedError
// after too many wrong ones, and ErrFrozen. If the push ends meanwhile it returns nil and
// has not opened it.
func (s *Store) tryPassphrase(ctx context.Context, by Actor, p record.Push, passphrase secret.Text, open func(record.Push) error) error {
	who, err := s.passphraseTrier(ctx, by, p.ID)
	if err != nil {
		return err
	}
	if ownedBy(p, by) {
		who.known = true
	}
	if err := s.mayTry(ctx, p, who); err != nil && (!passphrase.IsZero() || errors.Is(err, record.ErrFrozen)) {
		return err
	}
	if passphrase.IsZero() {
		return s.missed(ctx, p, who)
	}
	return doQueued(ctx, s.guess.passphrases, by.Client, func() error {
		return s.guess.inTurn(ctx, string(p.ID[:]), func() error {
			p, err := s.push(ctx, p.ID) // as earlier guesses left it
			if err != nil {
				return err
			}
			if over, err := s.over(p); over || err != nil {
				return err
			}
			if p.Frozen && !who.marked {
				return record.ErrFrozen
			}
			counted, err := s.countGuess(ctx, p, who)
			if err != nil {
				return err
			}
			err = open(p)
			if errors.Is(err, seal.ErrPassphrase) {
				return s.recordWrong(ctx, by, p, who)
			}
			s.uncountTry(ctx, counted)
			if err == nil {
				err = s.countRight(context.WithoutCancel(ctx), by, p.ID)
			}
			return err
		})
	})
}

// mayTry returns nil if another guess is allowed.
func (s *Store) mayTry(ctx context.Context, p record.Push, who passphraseTrier) error {
	if p.Frozen && !who.marked {
		return record.ErrFrozen
	}
	strangers, client := s.guessesOf(p, who)
	stood, err := s.engine.Tries(ctx, limit.Look, s.triedAt(), append(strangers, client...))
	if err != nil {
		return err
	}
	return lockedOut(stood, len(strangers))
}

// countGuess counts a guess as a wrong one, before it is tried, and returns the tallies that it
// counted for. So no guess gets past the limits, even if several servers check guesses.
func (s *Store) countGuess(ctx context.Context, p record.Push, who passphraseTrier) (counted []limit.Tally, err error) {
	strangers, client := s.guessesOf(p, who)
	counted = append(strangers, client...)
	stood, err := s.engine.Tries(ctx, limit.Count, s.triedAt(), counted)
	if err != nil {
		return nil, err
	}
	return counted, lockedOut(stood, len(strangers))
}

// lockedOut returns a *LockedError if a guess is not allowed. The standing of strangers comes
// first.
func lockedOut(stood []limit.Standing, strangers int) error {
	if err := locked(record.LimitPassphrasesPerPush, stood[:strangers]); err != nil {
		return err
	}
	return locked(record.LimitPassphrasesPerClient, stood[strangers:])
}

// strangersWindow is the time in which strangers may try Guessing.PerPush wrong passphrases. It
// doubles with each Guessing.PerPush wrong passphrases of the push, up to ten hours.
func (s *Store) strangersWindow(p record.Push) time.Duration {
	each := s.opts.Load().Guessing.PerPush
	if each <= 0 || p.Failed == 0 {
		return passphrasesPerPushWindow
	}
	return passphrasesPerPushWindow << min((p.Failed-1)/each, doublings)
}

// recordWrong records a wrong passphrase, which was counted, and returns the error for the
// client. It returns nil if the push has ended meanwhile. A client that does not wait for
// the answer is counted all the same.
func (s *Store) recordWrong(ctx context.Context, by Actor, p record.Push, who passphraseTrier) error {
	ctx = context.WithoutCancel(ctx)
	at, most := s.time.Read(), s.opts.Load().Guessing.PerLife
	rule := wrongPassphraseRule(at, s.sealActor(p.ID, by), most)
	c, err := s.change(ctx, p.ID, unlessItFreezes(rule))
	if errors.Is(err, errFreezes) {
		c, err = s.freeze(ctx, p, rule, at)
	}
	if err != nil || c.Entry.Kind == 0 {
		return err
	}
	return s.missed(ctx, c.Push, who)
}

// missed returns the error for a missing or wrong passphrase, with the tries that are
// left.
func (s *Store) missed(ctx context.Context, p record.Push, who passphraseTrier) error {
	strangers, client := s.guessesOf(p, who)
	stood, err := s.engine.Tries(context.WithoutCancel(ctx), limit.Look, s.triedAt(), append(strangers, client...))
	if err != nil {
		return err
	}
	e := &record.PassphraseError{Left: fewest(stood)}
	if most := s.opts.Load().Guessing.PerLife; most > 0 && !who.marked {
		e.Left = min(e.Left, max(0, most-p.Failed))
	}
	var locked *record.LockedError
	if errors.As(lockedOut(stood, len(strangers)), &locked) {
		e.Left, e.RetryAfter = 0, locked.RetryAfter
	}
	return e
}

// asRecipient runs open for a caller that may open a live push: with the address of the mailbox that
// the caller has proved, if the push asks for one. The challenge is used up if open succeeds, and
// stays good if it does not.
//
// It returns ErrNetwork in a network from which the push does not open, ErrRecipient without a
// challenge, and a *RecipientError for one that has run out or is used up, or a wrong code.
func (s *Store) asRecipient(ctx context.Context, by Actor, p record.Push, open func(proved ...string) error) error {
	if !p.Restricted || ownedBy(p, by) {
		return open()
	}
	over, err := s.over(p)
	if over {
		return open()
	}
	if err = cmp.Or(s.Admits(by, p), err); err != nil {
		return err
	}
	of, err := s.recipientOf(p)
	switch {
	case err != nil:
		return err
	case of == "":
		return open()
	case by.Mailbox.Challenge.IsZero():
		return record.ErrRecipient
	}
	c, ok := s.openChallenge(p.ID, by.Mailbox.Challenge, s.time.Read())
	if !ok {
		return &record.RecipientError{}
	}
	return s.guess.inTurn(ctx, fmt.Sprintf("challenge %x", c.nonce), func() error {
		return s.answerChallenge(ctx, p.ID, c, by.Mailbox.Code, isRecipient(of, c.address), func() error { return open(c.address) })
	})
}

// answerChallenge runs open if a code is that of a challenge. Both the use and the try are counted
// before, and given back if they were none.
func (s *Store) answerChallenge(ctx context.Context, id record.ID, c challenge, code secret.Text, fits bool, open func() error) error {
	key := string(id[:]) + string(c.nonce[:])
	used := s.tally(usedChallenges, key, 1, recipientCodesWindow)
	wrong := s.tally(wrongRecipientCodes, key, RecipientCodeTries, recipientCodesWindow)
	stood, err := s.engine.Tries(ctx, limit.Count, s.triedAt(), []limit.Tally{used, wrong})
	switch {
	case err != nil:
		return err
	case !limit.AllLeft(stood):
		return &record.RecipientError{}
	}
	want := s.challengeCode(id, c)
	if subtle.ConstantTimeCompare([]byte(cleanCode(code).Reveal()), []byte(want.Reveal())) != 1 || !c.mailed || !fits {
		s.uncountTry(ctx, []limit.Tally{used})
		return &record.RecipientError{Left: stood[1].Left - 1}
	}
	s.uncountTry(ctx, []limit.Tally{wrong})
	if err = open(); err != nil {
		s.uncountTry(ctx, []limit.Tally{used})
	}
	return err
}

// isRecipient reports whether an address, as email.Fold returns it, is the recipient that a push
// names: an address, or "@" and a domain.
func isRecipient(of, address string) bool {
	if of = email.Fold(of); strings.HasPrefix(of, "@") {
		address = address[max(0, strings.LastIndexByte(address, '@')):]
	}
	return of == address
}

// recipientOf returns the recipient that a live push names; empty: none.
func (s *Store) recipientOf(p record.Push) (string, error) {
	a, err := s.openAccess(p)
	return a.recipient.Reveal(), err
}
