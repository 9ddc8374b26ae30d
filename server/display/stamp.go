package display

import (
	"time"
)

// StampLayout is the layout of a time in the API and the log: ISO 8601 in UTC with
// milliseconds.
const StampLayout = "2006-01-02T15:04:05.000Z"

// Stamp writes a time in StampLayout. It formats RFC 3339 and adds the milliseconds: Format
// is much slower with a layout that it has no special case for.
func Stamp(t time.Time) string {
	var room [len(StampLayout)]byte
	b := t.UTC().AppendFormat(room[:0], time.RFC3339)
	ms := t.Nanosecond() / int(time.Millisecond)
	return string(append(b[:len(b)-1], '.', '0'+byte(ms/100), '0'+byte(ms/10%10), '0'+byte(ms%10), 'Z'))
}

// OptionalStamp is nil for the zero time.
func OptionalStamp(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return new(Stamp(t))
}
