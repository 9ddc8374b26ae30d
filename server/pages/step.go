package pages

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"

	"pushbox/internal/secret"
	"pushbox/server/action"
	"pushbox/server/display"
	"pushbox/store"
	"pushbox/store/record"
)

// notFoundIfExpired returns errExpired for a push that has expired or was deleted, which has the
// same page as an unknown one.
func notFoundIfExpired(p store.PushInfo) error {
	if p.Live() && p.At.Before(p.ExpiresAt) {
		return nil
	}
	return action.ErrExpired
}

// A stepView is the step: the page before a push.
type stepView struct {
	Path      string // the path that opens the push
	Kind      string
	Limits    limitsView
	Before    viewHistory
	Protected bool
	Frozen    bool
	Encrypted bool          // by the sender: a script shows the form if the link has a key
	Own       bool          // the reader owns the push: no view is counted
	Made      bool          // the reader's browser made it, and a view is counted
	Answer    bool          // it answers a request
	Sender    store.Sender  // zero: the page does not show it
	Number    string        // to type; empty: none
	OpensAt   *display.Time // it cannot be opened before; nil: it can be now
	Closes    *timeLeft     // how long it stays open after its first view; nil: that view does not change when it ends
	Outside   bool          // it opens only from networks that the reader is not in
	Mailbox   *mailboxForm  // nil: the reader proves none
	Again     bool          // this browser has just opened it, and opens the same view again
	Attempt   attempt
}

// A limitsView has the limits of a push.
type limitsView struct {
	Views int // remaining views
	Left  timeLeft
	Until display.Time
}

func newLimitsView(p store.PushInfo) limitsView {
	return limitsView{Views: p.ViewsRemaining(), Left: newTimeLeft(p.ExpiresAt.Sub(p.At)), Until: display.NewTime(p.ExpiresAt)}
}

// A viewHistory has the number and the times of earlier views, the latest first.
type viewHistory struct {
	Count int
	Last  []display.Time
}

func newViewHistory(h store.ViewHistory) viewHistory {
	shown := viewHistory{Count: h.Count}
	for _, at := range h.Last {
		shown.Last = append(shown.Last, display.NewExactTime(at)) // two views may be within a minute
	}
	return shown
}

// An attempt is the outcome of trying a passphrase.
type attempt struct {
	Status  int
	Number  bool   // it was not the right number, so no passphrase was tried
	Key     string // of its message; empty: none was tried
	Left    int    // how many more wrong ones are allowed
	Limited bool   // false: any number is allowed
	Wait    time.Duration
	Again   display.Time // when the wait is over; zero: there is none
	Mailbox *mailboxForm // what a named recipient sent; nil: nothing
}

// Seconds is how long to wait before the next try.
func (a attempt) Seconds() int { return action.Problem{Retry: a.Wait}.Seconds() }

// noAttempt means that there was no attempt.
var noAttempt = attempt{Status: http.StatusOK}

// newAttempt turns an error of opening a push into an attempt. It reports false for an error that
// is not about the passphrase. missing says that no passphrase was given.
func newAttempt(err error, missing bool) (attempt, bool) {
	var (
		wrong  *record.PassphraseError
		locked *record.LockedError
	)
	switch {
	case errors.Is(err, record.ErrEarly), errors.Is(err, record.ErrNetwork), errors.Is(err, record.ErrRecipient):
		return attempt{Status: http.StatusForbidden}, true
	case errors.Is(err, record.ErrFrozen):
		return attempt{Status: http.StatusForbidden, Key: "step_frozen"}, true
	case errors.As(err, &locked):
		return attempt{Status: http.StatusTooManyRequests, Key: "step_locked", Limited: true, Wait: locked.RetryAfter}, true
	case !errors.As(err, &wrong):
		return attempt{}, false
	}
	a := attempt{Status: http.StatusForbidden, Key: "step_wrong", Left: wrong.Left, Limited: wrong.Left != math.MaxInt, Wait: wrong.RetryAfter}
	if missing {
		a.Key = "step_missing"
	}
	return a, true
}

// stepPage describes the push behind a link. It opens nothing and leaves no trace.
func (s *Set) stepPage(r *action.Request) (action.Reply, error) {
	if v, ok := s.justOpened(r); ok {
		return action.Show(http.StatusOK, "step", stepView{Path: revealPath(v.Token), Kind: v.Kind.String(), Encrypted: v.ClientEncrypted, Again: true}), nil
	}
	return s.stepAfter(r, noAttempt)
}

// stepAfter returns the page after an attempt to open the push.
func (s *Set) stepAfter(r *action.Request, a attempt) (action.Reply, error) {
	v, err := s.look(r)
	if err != nil {
		return action.Reply{}, err
	}
	return s.newStepPage(r, v, a)
}

// look returns the push that the path names, if it can still be opened.
func (s *Set) look(r *action.Request) (store.Viewing, error) {
	v, err := s.Store.Look(r.Context(), r.URLToken)
	if err == nil {
		err = notFoundIfExpired(v.PushInfo)
	}
	return v, err
}

func (s *Set) newStepPage(r *action.Request, v store.Viewing, a attempt) (action.Reply, error) {
	err := s.Store.Admits(r.Actor, v.Push)
	outside := errors.Is(err, record.ErrNetwork)
	if err != nil && !outside {
		return action.Reply{}, err
	}
	if outside {
		a.Status = http.StatusForbidden
	}
	if a.Wait > 0 {
		a.Again = display.NewExactTime(v.At.Add(a.Wait))
	}
	number := ""
	opens := opensLater(v.PushInfo)
	box := a.Mailbox
	switch {
	case asksForMailbox(r, v.PushInfo):
		box = cmp.Or(box, &mailboxForm{})
		box.Minutes = int(store.RecipientCodeLasts.Minutes())
	case opens == nil && asksForNumber(r, v.PushInfo):
		number = revealNumber(v.PushInfo)
	}
	rep := action.Show(a.Status, "step", stepView{
		Path: revealPath(v.Token), Kind: v.Kind.String(),
		Limits: newLimitsView(v.PushInfo), Before: newViewHistory(v.Before),
		Protected: v.Protected, Frozen: v.Frozen, Encrypted: v.ClientEncrypted, Own: owns(r, v.PushInfo), Made: usesOwnView(r, v.PushInfo), Answer: v.IsAnswer(), Sender: v.Sender, Number: number, OpensAt: opens, Outside: outside, Mailbox: box, Attempt: a,
		Closes: closesSoon(v.PushInfo),
	})
	rep.Header = action.Problem{Status: a.Status, Retry: a.Wait}.Headers()
	return rep, nil
}

// opensLater returns from when a push can be opened; nil: it can be now.
func opensLater(p store.PushInfo) *display.Time {
	if !p.Early(p.At) {
		return nil
	}
	return display.OptionalTime(p.OpensAt)
}

// closes returns how long after its first view a push ends; nil: that view does not change when it ends.
func closes(p store.PushInfo) *timeLeft {
	if p.CloseAfter == 0 {
		return nil
	}
	n, unit := inLargestUnit(p.CloseAfter)
	return &timeLeft{unit, n}
}

// closesSoon is closes for a push that its next view, which is the first one, leaves open, and brings the end of forward.
func closesSoon(p store.PushInfo) *timeLeft {
	if p.Views > 0 || p.ViewLimit == 1 || !p.At.Add(p.CloseAfter).Before(p.ExpiresAt) {
		return nil
	}
	return closes(p)
}

// numberField is the field of the form that opens a push with the number that people type.
const numberField = "number"

// asksForNumber reports whether the reader has to type a number. The owner, who uses no view, has not.
func asksForNumber(r *action.Request, p store.PushInfo) bool { return p.TypedReveal && !owns(r, p) }

// revealNumber returns the number to type for a push: always the same one, of three digits. It is
// no secret, as the page shows it. It only stops programs that press what they find.
func revealNumber(p store.PushInfo) string {
	last := p.ID[len(p.ID)-2:]
	return strconv.Itoa(100 + int(binary.BigEndian.Uint16(last))%900)
}

// typedDigits returns the digits that a person typed, without white space. Keyboards for Chinese
// and Japanese have wide ones.
func typedDigits(text secret.Text) string {
	return strings.Map(func(c rune) rune {
		switch {
		case unicode.IsSpace(c):
			return -1
		case c >= '０' && c <= '９':
			return c - '０' + '0'
		default:
			return c
		}
	}, text.Reveal())
}

// usesOwnView reports whether the sender of a push would use a view of it: this browser made it, for no account.
func usesOwnView(r *action.Request, p store.PushInfo) bool { return madeHere(r) && !owns(r, p) }

// owns reports whether the reader owns the push: the reader sent it or asked for it.
func owns(r *action.Request, p store.PushInfo) bool {
	return r.Actor.Account != 0 && r.Actor.Account == p.Owner
}
