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

// notifications are the messages to webhooks about one change of a push.
type notifications struct {
	store         *Store
	subscriptions *subscriptions
	wanted        int             // messages that the last run of the rule asked for
	reserved      []record.HookID // the recipients of those with room in the outbox, in the same order
}

// notify adds messages to the entry of a rule, for the webhooks that ask for its events. If no
// webhook asks for any event, it returns the rule unchanged, and nil.
func (s *Store) notify(r record.Rule) (record.Rule, *notifications) {
	n := s.notifications()
	if n == nil {
		return r, nil
	}
	return func(p record.Push) (record.Push, record.Entry, error) {
		next, e, err := r(p)
		if err == nil {
			n.compose(p, next, &e)
		}
		return next, e, err
	}, n
}

// notifications returns nil if no webhook asks for any event.
func (s *Store) notifications() *notifications {
	subscribed := s.hooks.Load()
	if subscribed.quiet() {
		return nil
	}
	return &notifications{store: s, subscriptions: subscribed}
}

// compose makes the messages of a change. It may run several times; the last run
// counts.
func (n *notifications) compose(before, after record.Push, e *record.Entry) {
	n.store.outbox.unreserve(n.reserved)
	n.wanted, n.reserved = 0, nil
	for _, o := range occurrences(before, after, *e) {
		to := n.subscriptions.asking(before.Owner, o.Event)
		if len(to) == 0 {
			continue
		}
		room := n.store.outbox.reserve(to)
		n.wanted, n.reserved = n.wanted+len(to), append(n.reserved, room...)
		for _, id := range room {
			e.Messages = append(e.Messages, n.store.message(id, n.store.notice(after, *e, o, id), after.UpdatedAt))
		}
	}
}

// end counts the outcome of the change.
func (n *notifications) end(c record.Change, err error) {
	if n == nil {
		return
	}
	kept := 0
	if err == nil {
		kept = len(c.Entry.Messages)
		n.store.outbox.dropped.Add(uint64(n.wanted - kept))
	}
	n.store.outbox.unreserve(n.reserved[kept:])
	if kept > 0 {
		signal(n.store.outbox.changed[record.ByWebhook])
	}
}

// notice makes the notice of an event for a webhook. Only a webhook of the push's owner gets the
// name, and the link when the message is opened.
func (s *Store) notice(p record.Push, e record.Entry, o occurrence, to record.HookID) Notice {
	n := Notice{
		ID: NewNoticeID(), Event: o.Event, At: o.at, Push: p.ID, Kind: p.Kind,
		Views: p.Views, ViewLimit: p.ViewLimit, Cause: o.cause,
	}
	if o.cause != CauseTime && e.Sealed != nil {
		if who, err := s.openEntry(p.ID, e); err == nil {
			n.IP, n.UserAgent = who.IP, who.UserAgent
		}
	}
	if to != 0 {
		if d, err := s.openDetails(p); err == nil { // else the event is sent without it
			n.Name = d.name
		}
	}
	return n
}

// message seals a notice for a webhook.
func (s *Store) message(to record.HookID, n Notice, made time.Time) record.Message {
	m := record.Message{Route: record.ByWebhook, To: uint64(to), CreatedAt: made, NextAt: made}
	m.Sealed = s.ring.Load().SealMessage(messagePlace(m), n.encode())
	return m
}

// ParseEvent returns the event that a webhook asks for by this name, or false.
func ParseEvent(name string) (record.Event, bool) {
	for _, e := range record.Events() {
		if e.String() == name {
			return e, true
		}
	}
	return 0, false
}

// A Cause says why a push ended.
type Cause uint8

// The causes. The numbers are stored.
const (
	CauseNone  Cause = iota // it did not end
	CauseViews              // its view limit
	CauseTime               // its time limit
	CauseHand               // a delete
	CauseOther              // it went with its account
	causeCount
)

var causeNames = [...]string{CauseNone: "", CauseViews: "views", CauseTime: "time", CauseHand: "deleted", CauseOther: "other"}

// String is the cause's name on the wire; empty for CauseNone.
func (c Cause) String() string {
	if c < causeCount {
		return causeNames[c]
	}
	return ""
}

// Causes lists what can have ended a push.
func Causes() []Cause { return []Cause{CauseViews, CauseTime, CauseHand, CauseOther} }

// An occurrence is an event and when it was.
type occurrence struct {
	record.Event
	cause Cause
	at    time.Time
}

// occurrences returns the events that a change of a push causes. Two changes cause none: an entry
// for which the audit log has no room, and the purge of a push with its account.
func occurrences(before, after record.Push, e record.Entry) (all []occurrence) {
	if after.Seq != before.Seq {
		switch e.Kind {
		case record.EntryCreation:
			if after.Request != (record.RequestID{}) {
				all = append(all, occurrence{Event: record.EventAnswer, at: e.At})
			}
		case record.EntryView:
			all = append(all, occurrence{Event: record.EventView, at: e.At})
			if after.Views >= after.ViewLimit {
				all = append(all, occurrence{Event: record.EventLastView, at: e.At})
			}
		case record.EntryFailedPassphrase:
			all = append(all, occurrence{Event: record.EventFailedPassphrase, at: e.At})
		case record.EntryFreeze:
			all = append(all, occurrence{Event: record.EventFailedPassphrase, at: e.At}, occurrence{Event: record.EventFreeze, at: e.At})
		}
	}
	if before.Live() && (after.State == record.Expired || after.State == record.Deleted) {
		all = append(all, occurrence{record.EventExpire, causeOf(before, after), after.ExpiredAt})
	}
	return all
}

// causeOf returns why a push ended.
func causeOf(before, after record.Push) Cause {
	switch {
	case after.State == record.Purged:
		return CauseOther
	case after.State == record.Deleted:
		return CauseHand
	case after.Views > before.Views:
		return CauseViews
	default:
		return CauseTime
	}
}

const (
	// MaxAccountName is the most characters of the name that recipients see.
	MaxAccountName = 64

	maxLanguage = 16 // bytes

	// ChangesPerAccount is how many changes of wishes and webhooks a client can make for its
	// account in an hour. Each writes an event: the limit keeps an account from crowding others'
	// events out of the instance log.
	ChangesPerAccount = 30

	changesWindow = time.Hour
)

// Wishes are the choices of an account's user.
type Wishes struct {
	Name     string          // the name that recipients see; empty: none
	Language string          // the language tag of its pages and mails; empty: the browser's language
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

// checkAccountName refuses a name that could look like more than a name: like markup, an address,
// or text in the opposite direction. Pages show it with the address of its account.
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

// isLikeHost reports whether mail programs may turn a word into a link: it has a dot and at least
// two letters behind it. So J.R. is allowed.
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

// sender returns the sender that recipients of a push see before they open it. It is zero unless
// the owner's account has a name and a confirmed address.
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

// forgetWishes removes the wishes of the person who had the account's old address.
func forgetWishes(a *record.Account) { a.Name, a.Language, a.Mails = "", "", 0 }
