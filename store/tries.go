package store

import (
	"context"
	"errors"
	"math"
	"time"

	"pushbox/internal/limit"
)

// The sorts of tries that are counted.
const (
	passphrasesOfClient uint8 = 1 + iota // wrong ones, by push and client
	passphrasesOfPush                    // wrong ones of strangers, by push
	rightPassphrases                     // by push and client: one makes the client known
	signInsOfClient
	signUpsOfClient
	wrongCredentials // by address, browser or session
	tokensOfAccount
)

// tally returns the tally of a sort for a key.
func (s *Store) tally(of uint8, key string, most int, span time.Duration) limit.Tally {
	key = "tries " + string(rune('0'+of)) + " " + key // no url_token has a space
	return limit.Tally{Of: of, Key: s.ring.Load().MAC(key), Most: most, Span: span}
}

// clientTallies returns the tallies of a sort for what a client does to a subject: one for
// the client, and one for each network around it.
func (s *Store) clientTallies(of uint8, subject, client string, most int, span time.Duration) (ts []limit.Tally) {
	for _, n := range limit.Steps(client) {
		ts = append(ts, s.tally(of, subject+n.Key, most*n.Times, span))
	}
	return ts
}

// triedAt is the time by which tries count. It never runs back, so that a clock which was
// wrong at a start and is put right leaves no try that counts until the wrong time comes.
func (s *Store) triedAt() time.Time { return s.time.Read().Ends }

// countTry counts a try for each tally, or returns a *LockedError of that limit if one of them
// has none left.
func (s *Store) countTry(ctx context.Context, name string, ts []limit.Tally) error {
	stood, err := s.engine.CountTry(ctx, s.triedAt(), ts)
	if err != nil {
		return err
	}
	return locked(name, stood)
}

// lookTries returns what countTry would, and counts nothing.
func (s *Store) lookTries(ctx context.Context, name string, ts []limit.Tally) error {
	stood, err := s.engine.Tries(ctx, s.triedAt(), ts)
	if err != nil {
		return err
	}
	return locked(name, stood)
}

// uncountTry takes back a try that was counted. If that fails the try stays counted, which
// ends nothing but a later try.
func (s *Store) uncountTry(ctx context.Context, ts []limit.Tally) {
	_ = s.engine.UncountTry(context.WithoutCancel(ctx), s.triedAt(), ts)
}

// locked returns a *LockedError if a tally has no try left.
func locked(name string, stood []limit.Standing) error {
	if limit.AllLeft(stood) {
		return nil
	}
	e := &LockedError{Limit: name}
	for _, one := range stood {
		e.RetryAfter = max(e.RetryAfter, one.Wait)
	}
	return e
}

// fewest returns the fewest tries that a tally has left.
func fewest(stood []limit.Standing) int {
	least := math.MaxInt
	for _, one := range stood {
		least = min(least, one.Left)
	}
	return least
}

// A trier is who tries a password or a code, as the limits count it.
type trier struct {
	client string // Actor.Client, for the queue
	tries  string // what its tries count for: the client, or what is known of it
	wrong  string // what its wrong ones count for: the address, or what is known of it
}

// asStranger is a client that was never signed in to the account of that address.
func asStranger(email, client string) trier { return trier{client, client, "address " + email} }

// asKnown is a client that proved before that it may sign in, by a mark or a session. It
// has limits of its own, which no other client uses up.
func asKnown(by, client string) trier { return trier{client, by, by} }

// attempt runs try, which tries a password or a code, if the limits allow another try.
// Each try counts for the client, and one with ErrCredentials also for the address. A
// try for which the queue has no room counts for nothing.
func (s *Store) attempt(ctx context.Context, who trier, try func() error) error {
	most, wrong := s.opts.Load().SignIns.PerClient, s.wrongOf(who)
	return s.queued(ctx, s.clientTallies(signInsOfClient, "", who.tries, most, signInsPerClientWindow), LimitSignInsPerClient, who, func() error {
		return s.tryInTurn(ctx, who, wrong, try)
	})
}

// attemptElsewhere is attempt for a password that another server checks: it takes no place
// in the queue of passwords.
func (s *Store) attemptElsewhere(ctx context.Context, who trier, try func() error) error {
	most, wrong := s.opts.Load().SignIns.PerClient, s.wrongOf(who)
	if err := s.lookTries(ctx, LimitSignInsPerAccount, wrong); err != nil {
		return err
	}
	if err := s.countTry(ctx, LimitSignInsPerClient, s.clientTallies(signInsOfClient, "", who.tries, most, signInsPerClientWindow)); err != nil {
		return err
	}
	return s.tryInTurn(ctx, who, wrong, try)
}

// tryInTurn runs try behind the others of the same trier, and counts it if it is wrong.
func (s *Store) tryInTurn(ctx context.Context, who trier, wrong []limit.Tally, try func() error) error {
	return s.guess.inTurn(ctx, who.wrong, func() error {
		if err := s.countTry(ctx, LimitSignInsPerAccount, wrong); err != nil {
			return err
		}
		err := try()
		if !errors.Is(err, ErrCredentials) {
			s.uncountTry(ctx, wrong)
		}
		return err
	})
}

// wrongOf returns the tallies of what a trier got wrong.
func (s *Store) wrongOf(who trier) []limit.Tally {
	return []limit.Tally{s.tally(wrongCredentials, who.wrong, s.opts.Load().SignIns.PerAccount, signInsPerAccountWindow)}
}

// signUp runs f, which makes an account, if the limits allow the client another sign-up.
func (s *Store) signUp(ctx context.Context, client string, f func() error) error {
	tries := s.clientTallies(signUpsOfClient, "", client, s.opts.Load().SignIns.PerClient, signInsPerClientWindow)
	return s.queued(ctx, tries, LimitSignUps, trier{client: client}, f)
}

// queued counts a try and runs f in the queue of passwords.
func (s *Store) queued(ctx context.Context, tries []limit.Tally, name string, who trier, f func() error) error {
	place, err := s.guess.passwords.Join(who.client)
	if err != nil {
		return busy(err)
	}
	defer place.Leave()
	if who.wrong != "" {
		if err := s.lookTries(ctx, LimitSignInsPerAccount, s.wrongOf(who)); err != nil {
			return err
		}
	}
	if err := s.countTry(ctx, name, tries); err != nil {
		return err
	}
	if err := place.Wait(ctx); err != nil {
		return err
	}
	return f()
}

// countWrong counts an ErrCredentials, and returns err.
func (s *Store) countWrong(ctx context.Context, who trier, err error) error {
	if !errors.Is(err, ErrCredentials) {
		return err
	}
	if _, countErr := s.engine.CountTry(context.WithoutCancel(ctx), s.triedAt(), s.wrongOf(who)); countErr != nil {
		return countErr
	}
	return err
}
