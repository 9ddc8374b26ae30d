package store

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"pushbox/internal/email"
	"pushbox/internal/limit"
	"pushbox/internal/secret"
	"pushbox/store/cold"
	"pushbox/store/record"
)

const (
	// MaxAccountName is the most characters of the name that recipients see.
	MaxAccountName = 64

	maxLanguage = 16 // bytes

	// ChangesPerAccount is how many changes of its wishes and webhooks a client can make for its
	// account in an hour: each is an event, and the limit keeps an account from pushing the events
	// of others out of the instance log.
	ChangesPerAccount = 30

	changesWindow = time.Hour
)

// Wishes are what the user of an account chooses for it.
type Wishes struct {
	Name     string          // what recipients see of the user; empty: nothing
	Language string          // the tag of that of its pages and mails; empty: that of the browser
	Mails    record.EventSet // of MailedEvents
}

// SetWishes replaces the wishes of the account of a session.
//
// Errors: *InvalidError; ErrSession; *LockedError after too many changes.
func (s *Store) SetWishes(ctx context.Context, by Actor, session secret.Text, w Wishes) error {
	var bad record.InvalidError
	w.Name = strings.Join(strings.Fields(w.Name), " ")
	checkAccountName(w.Name, &bad)
	checkLength(FieldLanguage, len(w.Language), maxLanguage, &bad)
	if w.Mails&^record.NewEventSet(MailedEvents()...) != 0 {
		bad.Add("mails", "has an event that is not mailed")
	}
	if err := bad.Err(); err != nil {
		return err
	}
	c, err := s.signedIn(ctx, by, session)
	if err != nil {
		return err
	}
	if w == (Wishes{c.account.Name, c.account.Language, c.account.Mails}) {
		return nil
	}
	if err := s.countChange(ctx, c.account.ID); err != nil {
		return err
	}
	_, err = s.changeOwn(ctx, c, record.AdminAccountEdit, "", func(a *record.Account) (record.SessionChange, error) {
		a.Name, a.Language, a.Mails = w.Name, w.Language, w.Mails
		return record.SessionChange{}, nil
	})
	return instead(err, record.ErrCredentials, record.ErrSession) // the password has changed since
}

// countChange counts a change that a client makes for its account.
func (s *Store) countChange(ctx context.Context, of record.AccountID) error {
	made := s.tally(changesOfAccount, strconv.FormatUint(uint64(of), 10), ChangesPerAccount, changesWindow)
	return s.tries(ctx, limit.Count, record.LimitChangesPerAccount, []limit.Tally{made})
}

// checkAccountName refuses a name that could pass for more than a name: for markup, for an
// address, or for a text that runs the other way. It is shown with the address of its account.
func checkAccountName(name string, bad *record.InvalidError) {
	unseen := func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) || email.IsUnseen(r) }
	plain := email.Plain(name)
	switch {
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unseen):
		bad.Add(FieldName, "has characters that cannot be shown")
	case strings.ContainsAny(plain, `<>()[]@/\`) || slices.ContainsFunc(strings.Fields(plain), isLikeHost):
		bad.Add(FieldName, "must not have an address or one of these characters: < > ( ) [ ] @ / \\")
	case utf8.RuneCountInString(name) > MaxAccountName:
		bad.Add(FieldName, "is too long (maximum is 64 characters)")
	}
}

// isLikeHost reports whether mail programs may make a link of a word: it has a dot with
// two letters behind it, at least. J.R. is an initial.
func isLikeHost(word string) bool {
	labels := strings.FieldsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '.' && r != '-' })
	return slices.ContainsFunc(labels, func(l string) bool {
		for before, after, found := strings.Cut(l, "."); found; before, after, found = strings.Cut(after, ".") {
			next, _, _ := strings.Cut(after, ".")
			if before != "" && utf8.RuneCountInString(next) > 1 {
				return true
			}
		}
		return false
	})
}

// A Sender is how recipients see an account. The name is not checked by anyone, so it never
// appears without the address.
type Sender struct{ Name, Email string }

// String is the address, behind the name if there is one.
func (s Sender) String() string {
	if s.Name == "" {
		return s.Email
	}
	return s.Name + " (" + s.Email + ")"
}

// senderOf is how recipients see the account.
func senderOf(a record.Account) Sender { return Sender{a.Name, email.Shown(a.Email)} }

// sender is whom recipients of a push see before they open it: no one, unless the account of
// its owner has a name and a confirmed address.
func (s *Store) sender(ctx context.Context, p record.Push) (Sender, error) {
	if p.Owner == 0 || p.IsAnswer() {
		return Sender{}, nil
	}
	a, err := cold.Account(ctx, s.engine, p.Owner)
	if err != nil || a.Name == "" || a.Unconfirmed || !a.Active() {
		return Sender{}, instead(err, record.ErrNotFound, nil)
	}
	return senderOf(a), nil
}

// forgetWishes removes what only the person of the account's address wished.
func forgetWishes(a *record.Account) { a.Name, a.Language, a.Mails = "", "", 0 }
