package store

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strconv"
	"time"

	"pushbox/internal/limit"
	"pushbox/internal/secret"
	"pushbox/store/record"
)

// The kinds of tries that are counted.
const (
	passphrasesOfClient uint8 = 1 + iota // wrong passphrases, by push and client
	passphrasesOfPush                    // wrong passphrases of strangers, by push
	rightPassphrases                     // by push and client: one makes the client known
	signInsOfClient
	signUpsOfClient
	wrongCredentials // by address, browser or session
	tokensOfAccount
	changesOfAccount
	signInsOfAccount // right sign-ins, by account and client
	codesOfClient    // codes for recipients that a client asks for, by push
	codesOfRecipient // codes for a recipient, by push
	usedChallenges
	wrongRecipientCodes // by challenge
)

// tally returns the tally of a kind for a key.
func (s *Store) tally(of uint8, key string, most int, span time.Duration) limit.Tally {
	key = "tries " + string(rune('0'+of)) + " " + key // no url_token has a space
	return limit.Tally{Of: of, Key: s.ring.Load().MAC(key), Most: most, Span: span}
}

// clientTallies returns the tallies of a kind for the tries of a client at a subject: one for the
// client, and one for each network around it.
func (s *Store) clientTallies(of uint8, subject, client string, most int, span time.Duration) (ts []limit.Tally) {
	for _, n := range limit.Steps(client) {
		ts = append(ts, s.tally(of, subject+n.Key, most*n.Times, span))
	}
	return ts
}

// triedAt is the time by which tries count. It never runs back. Otherwise, after a wrong clock is
// corrected, a try would count until the wrong time comes.
func (s *Store) triedAt() time.Time { return s.time.Read().Ends }

// tries applies a turn to tallies. It returns a *LockedError with the limit's name if one of them
// had no try left.
func (s *Store) tries(ctx context.Context, turn limit.Turn, name string, ts []limit.Tally) error {
	stood, err := s.engine.Tries(ctx, turn, s.triedAt(), ts)
	if err != nil {
		return err
	}
	return locked(name, stood)
}

// uncountTry takes back a try that was counted. If that fails the try stays counted: at worst one
// later try is refused.
func (s *Store) uncountTry(ctx context.Context, ts []limit.Tally) {
	_, _ = s.engine.Tries(context.WithoutCancel(ctx), limit.Uncount, s.triedAt(), ts)
}

// locked returns a *LockedError if a tally has no try left.
func locked(name string, stood []limit.Standing) error {
	if limit.AllLeft(stood) {
		return nil
	}
	e := &record.LockedError{Limit: name}
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

// A trier is the client that tries a password or a code, as the limits count it.
type trier struct {
	client string // Actor.Client, for the queue
	tries  string // the name for which its tries count: the client, or its mark
	wrong  string // the name for which its wrong tries count: the address, or the client's mark
}

// asStranger returns the trier of a client that never signed in to the account of an address.
func asStranger(email, client string) trier { return trier{client, client, "address " + email} }

// asKnown returns the trier of a client that has signed in before, as its mark or session proves.
// It has its own limits, which other clients cannot use up.
func asKnown(by, client string) trier { return trier{client, by, by} }

// attempt runs try, which tries a password or a code, if the limits allow another try. It returns
// the account of a right try; 0 if there is none. Each try counts for the client, and one with
// ErrCredentials also for the address. A right try is given back to the client, so that people
// behind one address do not use up each other's tries. A try does not count if the queue has no
// room.
//
// The order is: limits, queue, the turn of who.wrong, try.
func (s *Store) attempt(ctx context.Context, who trier, try func() (record.AccountID, error)) error {
	return s.countedForClient(ctx, who, func() (record.AccountID, error) {
		return tryQueued(ctx, s.guess.passwords, who, func() (record.AccountID, error) { return s.countedIfWrong(ctx, who, who.wrong, try) })
	})
}

// attemptElsewhere is attempt for a password that another server checks. That server may be slow,
// so these tries have their own queue and their own turns, and a try waits for its turn before it takes a place in that
// queue: other people's tries could not run beside one that waits there.
func (s *Store) attemptElsewhere(ctx context.Context, who trier, try func() (record.AccountID, error)) error {
	return s.countedForClient(ctx, who, func() (record.AccountID, error) {
		return s.countedIfWrong(ctx, who, "elsewhere, "+who.wrong, func() (record.AccountID, error) { return tryQueued(ctx, s.guess.elsewhere, who, try) })
	})
}

// tryQueued runs try in a queue.
func tryQueued(ctx context.Context, q *limit.Queue, who trier, try func() (record.AccountID, error)) (of record.AccountID, err error) {
	err = doQueued(ctx, q, who.client, func() error {
		of, err = try()
		return err
	})
	return of, err
}

// countedForClient runs try, and counts it for the client unless it is right or finds no room.
func (s *Store) countedForClient(ctx context.Context, who trier, try func() (record.AccountID, error)) error {
	if err := s.tries(ctx, limit.Look, record.LimitSignInsPerAccount, s.wrongOf(who)); err != nil {
		return err
	}
	tries := s.triesOf(who.tries)
	end, err := s.guess.beginTry(ctx, who.tries, func() error { return s.tries(ctx, limit.Count, record.LimitSignInsPerClient, tries) })
	if err != nil {
		return err
	}
	defer end()
	of, err := try()
	if errors.Is(err, record.ErrBusy) || err == nil && of != 0 && s.countRightSignIn(ctx, who, of) == nil {
		s.uncountTry(ctx, tries)
	}
	return err
}

// triesOf returns the tallies of a client's tries, or of its mark.
func (s *Store) triesOf(client string) []limit.Tally {
	return s.clientTallies(signInsOfClient, "", client, s.opts.Load().SignIns.PerClient, signInsPerClientWindow)
}

// countRightSignIn counts a right try for the account and client, so that it need not count for all
// tries of the client. Each sign-in writes an event: the limit keeps an account from crowding
// others' events out of the instance log.
func (s *Store) countRightSignIn(ctx context.Context, who trier, of record.AccountID) error {
	subject := "account " + strconv.FormatUint(uint64(of), 10) + " "
	return s.tries(context.WithoutCancel(ctx), limit.Count, record.LimitSignInsPerClient, s.clientTallies(signInsOfAccount, subject, who.tries, s.opts.Load().SignIns.PerClient, signInsPerClientWindow))
}

// countedIfWrong runs try after other tries of the same subject, and counts it for who.wrong if it is wrong.
func (s *Store) countedIfWrong(ctx context.Context, who trier, subject string, try func() (record.AccountID, error)) (of record.AccountID, err error) {
	wrong := s.wrongOf(who)
	err = s.guess.inTurn(ctx, subject, func() error {
		if err := s.tries(ctx, limit.Count, record.LimitSignInsPerAccount, wrong); err != nil {
			return err
		}
		of, err = try()
		if !errors.Is(err, record.ErrCredentials) {
			s.uncountTry(ctx, wrong)
		}
		return err
	})
	return of, err
}

// wrongOf returns the tallies of a trier's wrong tries.
func (s *Store) wrongOf(who trier) []limit.Tally {
	return []limit.Tally{s.tally(wrongCredentials, who.wrong, s.opts.Load().SignIns.PerAccount, signInsPerAccountWindow)}
}

// signUp runs f, which makes an account, in the queue of passwords, if the limits allow the client
// another sign-up. A sign-up does not count if the queue has no room.
func (s *Store) signUp(ctx context.Context, client string, f func() error) error {
	place, err := s.guess.passwords.Join(client)
	if err != nil {
		return busy(err)
	}
	defer place.Leave()
	tries := s.clientTallies(signUpsOfClient, "", client, s.opts.Load().SignIns.PerClient, signInsPerClientWindow)
	if err := s.tries(ctx, limit.Count, record.LimitSignUps, tries); err != nil {
		return err
	}
	if err := place.Wait(ctx); err != nil {
		return err
	}
	return f()
}

// countWrong counts an ErrCredentials, and returns err.
func (s *Store) countWrong(ctx context.Context, who trier, err error) error {
	if !errors.Is(err, record.ErrCredentials) {
		return err
	}
	if _, countErr := s.engine.Tries(context.WithoutCancel(ctx), limit.Count, s.triedAt(), s.wrongOf(who)); countErr != nil {
		return countErr
	}
	return err
}

// A mark is a text that a browser gets when it proves something: that it may sign in to an
// account, or that it has the passphrase of a push. The browser that sends it later is
// known, and the limits of guessing count it apart from strangers: no stranger locks it
// out. A mark opens nothing. It is a nonce with an HMAC, so it names neither account nor
// push, and the store need not keep it.
const (
	nonceSize = 16
	markSize  = nonceSize + 16
)

// MaxMarks is how many marks of an Actor are looked at.
const MaxMarks = 8

// Subjects of marks begin with their kind.
const (
	markAccount = 'a'
	markPush    = 'p'

	markFactor = '2' // no hash begins with it
)

// accountSubject includes the password's hash and whether there is a second factor. So marks become
// invalid when either changes: a client that knew the old password is then a stranger.
func accountSubject(a record.Account) []byte {
	b := binary.BigEndian.AppendUint64([]byte{markAccount}, uint64(a.ID))
	if a.MFA() {
		b = append(b, markFactor)
	}
	return append(b, a.PasswordHash...)
}

func pushSubject(id record.ID) []byte { return append([]byte{markPush}, id[:]...) }

// newMark returns the mark that the actor has for a subject, or a new one.
func (s *Store) newMark(by Actor, subject []byte) secret.Text {
	if m := s.markOf(by, subject); !m.IsZero() {
		return m
	}
	nonce := make([]byte, nonceSize)
	_, _ = rand.Read(nonce) // never fails: crypto/rand ends the program instead
	return s.markWith(nonce, subject)
}

func (s *Store) markWith(nonce, subject []byte) secret.Text {
	sum := s.ring.Load().Mark(subject, nonce)
	return secret.New(record.Encoding.EncodeToString(slices.Concat(nonce, sum[:])))
}

// nonceOf returns the nonce of a mark, which tries count for: it stays when the subject changes.
func nonceOf(mark secret.Text) []byte {
	b, _ := record.Encoding.DecodeString(mark.Reveal()) // markOf has read it
	return b[:min(nonceSize, len(b))]
}

// markOf returns the mark that the actor sent for a subject; zero if there is none.
func (s *Store) markOf(by Actor, subject []byte) secret.Text {
	for _, m := range by.Marks[:min(len(by.Marks), MaxMarks)] {
		b, err := record.Encoding.DecodeString(m.Reveal())
		if err == nil && len(b) == markSize && s.ring.Load().IsMark(subject, b[:nonceSize], b[nonceSize:]) {
			return m
		}
	}
	return secret.Text{}
}

// AddMark returns marks with one more at the front, and without the oldest if there are too many.
func AddMark(marks []secret.Text, m secret.Text) []secret.Text {
	others := slices.DeleteFunc(slices.Clone(marks), func(o secret.Text) bool { return o.Reveal() == m.Reveal() })
	all := append([]secret.Text{m}, others...)
	return all[:min(len(all), MaxMarks)]
}
