package record

// An Event is a change of a push that its owner may want as a message.
type Event uint8

// The events. The numbers are stored.
const (
	EventTest             Event = iota // a test of whether messages arrive
	EventView                          // a view was counted
	EventLastView                      // it was the last one; sent beside EventView
	EventExpire                        // the push ended; Notice.Cause says why
	EventFailedPassphrase              // a wrong passphrase was given
	EventFreeze                        // the last allowed one was wrong, and the push is frozen; sent beside EventFailedPassphrase
	EventAnswer                        // a request was answered
	EventReminder                      // it ends soon without a view; for mail alone
	EventCount
)

var eventNames = [...]string{
	EventTest:             "test",
	EventView:             "view",
	EventLastView:         "last_view",
	EventExpire:           "expire",
	EventFailedPassphrase: "failed_passphrase",
	EventFreeze:           "freeze",
	EventAnswer:           "request.answered",
	EventReminder:         "reminder",
}

// Events lists the events that a webhook can ask for.
func Events() []Event {
	return []Event{EventView, EventLastView, EventExpire, EventFailedPassphrase, EventFreeze, EventAnswer}
}

// String is the event's name on the wire.
func (e Event) String() string {
	if e < EventCount {
		return eventNames[e]
	}
	return ""
}

// An EventSet is the events that a webhook asks for, or that are mailed to an account.
type EventSet uint8

// NewEventSet is the set of those events.
func NewEventSet(events ...Event) (s EventSet) {
	for _, e := range events {
		s |= 1 << e
	}
	return s
}

// Has reports whether the set has e.
func (s EventSet) Has(e Event) bool { return s&(1<<e) != 0 }

// Events lists the events of the set.
func (s EventSet) Events() (list []Event) {
	for e := range EventCount {
		if s.Has(e) {
			list = append(list, e)
		}
	}
	return list
}
