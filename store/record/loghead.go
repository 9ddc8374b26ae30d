package record

import (
	"encoding/binary"
	"fmt"
)

// A LogHead has the two ends of the instance log. The chain begins behind the last event that was
// removed, so that a log without its oldest events can still be verified.
type LogHead struct{ Last, Removed LogEnd }

// A LogEnd is the number and the chain of an event; zero for none.
type LogEnd struct {
	Number uint64
	Chain  [32]byte
}

// LogHeadLen is the length of a LogHead's record.
const LogHeadLen = 2 * (8 + 32)

// Append returns the event with its number and its chain, as the next in the log, and the new head.
func (h LogHead) Append(e AdminEvent) (AdminEvent, LogHead) {
	e.Number = h.Last.Number + 1
	e.Chain = e.Link(h.Last.Chain)
	h.Last = e.End()
	return e, h
}

// Excess is how many events exceed MaxAdminEvents: so many of the oldest are removed.
func (h LogHead) Excess() uint64 {
	if n := h.Last.Number - h.Removed.Number; n > MaxAdminEvents {
		return n - MaxAdminEvents
	}
	return 0
}

// End returns the end of a log with this last event.
func (e AdminEvent) End() LogEnd { return LogEnd{e.Number, e.Chain} }

// AppendBinary appends the record of h to b.
func (h LogHead) AppendBinary(b []byte) ([]byte, error) {
	for _, end := range [...]LogEnd{h.Last, h.Removed} {
		b = append(binary.BigEndian.AppendUint64(b, end.Number), end.Chain[:]...)
	}
	return b, nil
}

// UnmarshalBinary reads a record.
func (h *LogHead) UnmarshalBinary(b []byte) error {
	if len(b) != LogHeadLen {
		return fmt.Errorf("the ends of the instance log have %d bytes", len(b))
	}
	for i, end := range [...]*LogEnd{&h.Last, &h.Removed} {
		b := b[i*LogHeadLen/2:]
		end.Number, end.Chain = binary.BigEndian.Uint64(b), [32]byte(b[8:])
	}
	return nil
}

// A LogWalk verifies the chain of an instance log, event by event.
type LogWalk struct {
	head   LogHead
	report func(problem string)
	at     LogEnd // the event before
	broken bool   // the chain of last is not known
}

// NewLogWalk begins a walk. It calls report with a sentence for each event that is missing
// or was changed.
func NewLogWalk(head LogHead, report func(problem string)) *LogWalk {
	return &LogWalk{head: head, report: report, at: head.Removed}
}

// Step takes the next event by number; err says why its record cannot be read.
func (w *LogWalk) Step(e AdminEvent, err error) {
	before := w.at
	if e.Number <= before.Number {
		w.notef("event %d: it was removed once, and is there again", e.Number)
		return
	}
	if e.Number > before.Number+1 {
		w.missing(before.Number+1, e.Number-1)
		w.broken = true
	}
	w.at = e.End()
	switch {
	case err != nil:
		w.notef("event %d: its record is malformed", e.Number)
		w.broken = true
	case !w.broken && e.Link(before.Chain) != e.Chain:
		w.notef("event %d: it was changed", e.Number)
	default:
		w.broken = false
	}
}

// End checks the end of the log. Call it after the last event.
func (w *LogWalk) End() {
	switch {
	case w.at.Number < w.head.Last.Number:
		w.missing(w.at.Number+1, w.head.Last.Number)
	case !w.broken && w.at != w.head.Last:
		w.notef("event %d: it is not the last one that was written", w.at.Number)
	}
}

func (w *LogWalk) notef(format string, args ...any) { w.report(fmt.Sprintf(format, args...)) }

// missing reports that a range of events is missing.
func (w *LogWalk) missing(first, last uint64) {
	if first == last {
		w.notef("event %d: it is missing", first)
		return
	}
	w.notef("events %d to %d: they are missing", first, last)
}
