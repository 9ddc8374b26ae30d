package store

import (
	"time"

	"pushbox/store/record"
)

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
