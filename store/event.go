package store

import "time"

// An Event is a change of a push that its owner may ask to be sent.
type Event uint8

// The events. The numbers are stored.
const (
	EventTest             Event = iota // a test of whether messages arrive
	EventView                          // a view was counted
	EventLastView                      // it was the last one; sent beside EventView
	EventExpire                        // the push ended; Notice.Cause says why
	EventFailedPassphrase              // a wrong passphrase was given
	EventFreeze                        // it was one too many, and the push is frozen; sent beside EventFailedPassphrase
	EventAnswer                        // a push came that answers a request
	eventCount
)

var eventNames = [...]string{
	EventTest:             "test",
	EventView:             "view",
	EventLastView:         "last_view",
	EventExpire:           "expire",
	EventFailedPassphrase: "failed_passphrase",
	EventFreeze:           "freeze",
	EventAnswer:           "request.answered",
}

// Events lists the events that a webhook can ask for.
func Events() []Event {
	return []Event{EventView, EventLastView, EventExpire, EventFailedPassphrase, EventFreeze, EventAnswer}
}

// ParseEvent returns the event that a webhook asks for by this name, or false.
func ParseEvent(name string) (Event, bool) {
	for _, e := range Events() {
		if e.String() == name {
			return e, true
		}
	}
	return 0, false
}

// String is the event's name on the wire.
func (e Event) String() string {
	if e < eventCount {
		return eventNames[e]
	}
	return ""
}

// An EventSet is the events that a webhook asks for.
type EventSet uint8

// NewEventSet is the set of those events.
func NewEventSet(events ...Event) (s EventSet) {
	for _, e := range events {
		s |= 1 << e
	}
	return s
}

// Has reports whether e is asked for.
func (s EventSet) Has(e Event) bool { return s&(1<<e) != 0 }

// Events lists what is in the set.
func (s EventSet) Events() (list []Event) {
	for _, e := range Events() {
		if s.Has(e) {
			list = append(list, e)
		}
	}
	return list
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
	Event
	cause Cause
	at    time.Time
}

// occurrences returns the events that a change of a push is. Two changes are none: an
// entry for which the audit log has no room, and the purge of a push with its account.
func occurrences(before, after Push, e Entry) (all []occurrence) {
	if after.Seq != before.Seq {
		switch e.Kind {
		case EntryCreation:
			if after.Request != (RequestID{}) {
				all = append(all, occurrence{Event: EventAnswer, at: e.At})
			}
		case EntryView:
			all = append(all, occurrence{Event: EventView, at: e.At})
			if after.Views >= after.ViewLimit {
				all = append(all, occurrence{Event: EventLastView, at: e.At})
			}
		case EntryFailedPassphrase:
			all = append(all, occurrence{Event: EventFailedPassphrase, at: e.At})
		case EntryFreeze:
			all = append(all, occurrence{Event: EventFailedPassphrase, at: e.At}, occurrence{Event: EventFreeze, at: e.At})
		}
	}
	if before.Live() && (after.State == Expired || after.State == Deleted) {
		all = append(all, occurrence{EventExpire, causeOf(before, after), after.ExpiredAt})
	}
	return all
}

// causeOf returns why a push ended.
func causeOf(before, after Push) Cause {
	switch {
	case after.State == Purged:
		return CauseOther
	case after.State == Deleted:
		return CauseHand
	case after.Views > before.Views:
		return CauseViews
	default:
		return CauseTime
	}
}
