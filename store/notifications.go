package store

import (
	"time"

	"pushbox/store/record"
)

// notifications are the messages to webhooks about one change of a push.
type notifications struct {
	store         *Store
	subscriptions *subscriptions
	wanted        int             // messages that the last run of the rule called for
	reserved      []record.HookID // the recipients of those with room in the outbox, in the same order
}

// notify adds messages to the entry of a rule, for the webhooks that ask for what it
// does. Where no webhook asks for anything, it returns the rule as it is, and nil.
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

// notifications returns none where no webhook asks for anything.
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

// notice makes what a webhook is told of an event. Only a webhook of the push's owner
// gets its name, and its link when the message is opened.
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

// occurrences returns the events that a change of a push is. Two changes are none: an
// entry for which the audit log has no room, and the purge of a push with its account.
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
