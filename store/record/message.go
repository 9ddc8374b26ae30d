package record

import (
	"encoding/binary"
	"fmt"
	"time"
)

// A Route is a way to send messages.
type Route uint8

// The routes. The numbers are stored.
const (
	ByWebhook Route = 1 + iota
	ByMail
	routeCount
)

// A Message waits in the outbox until it is delivered or given up. The step that it reports puts it
// there. It may be delivered more than once. Number and NextAt together are its key.
type Message struct {
	Number    uint64 // assigned by the engine
	Route     Route
	To        uint64    // by webhook: the HookID; 0 for the instance's. By mail: the AccountID of the sender
	CreatedAt time.Time // also the time of its first try
	NextAt    time.Time // the time of its next try
	Attempts  int       // so far
	Sealed    []byte    // the Notice or Mail
}

// A Recipient is where a message goes: its Route and its To.
type Recipient struct {
	Route Route
	To    uint64
}

// A MessageQuery selects messages of the outbox.
type MessageQuery struct {
	Route  Route           // only messages of this route
	Until  time.Time       // only those whose next try is not after this
	Except map[uint64]bool // except those to these (Message.To)
	Each   int             // at most this many to each of the others, the earliest ones; 0: no limit
	Limit  int             // at most this many in all

	// Lease claims the listed messages if several processes share the outbox: until then, claims of
	// other processes do not list them. Zero: only read, also claimed messages. RetryMessage ends a
	// lease.
	Lease time.Time
}

// AppendBinary appends the message's record to b. Number and NextAt are not part of it:
// they are the key.
func (m Message) AppendBinary(b []byte) ([]byte, error) {
	b = binary.AppendUvarint(append(b, recordVersion, byte(m.Route)), m.To)
	b = binary.AppendUvarint(AppendTime(b, m.CreatedAt), uint64(m.Attempts))
	return AppendBytes(b, m.Sealed), nil
}

// UnmarshalBinary reads a record and leaves Number and NextAt as they are. The
// message shares no memory with b.
func (m *Message) UnmarshalBinary(b []byte) error {
	r := Reader{Rest: b}
	r.Version()
	n := Message{Number: m.Number, NextAt: m.NextAt, Route: Route(r.Byte()), To: r.Uvarint(1<<64 - 1)}
	n.CreatedAt, n.Attempts, n.Sealed = r.Time(), int(r.Uvarint(1<<31-1)), r.Bytes()
	if err := r.End(); err != nil || n.Route == 0 || n.Route >= routeCount {
		return ErrRecord
	}
	*m = n
	return nil
}

// Key is the time of the next try, and the number.
func (m Message) Key() []byte {
	return PairKey(uint64(max(0, m.NextAt.UnixMilli())), m.Number)
}

// Title is the number.
func (m Message) Title() string { return fmt.Sprintf("message %d", m.Number) }

// Belongs returns 0: a message outlives its subject.
func (Message) Belongs() AccountID { return 0 }

func readMessage(key []byte) (m Message, ok bool) {
	if len(key) != 2*8 {
		return m, false
	}
	m.NextAt = time.UnixMilli(int64(binary.BigEndian.Uint64(key))).UTC()
	m.Number = binary.BigEndian.Uint64(key[8:])
	return m, true
}
