package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"pushbox/internal/secret"
)

// A Route is a way to send messages.
type Route uint8

// The routes. The numbers are stored.
const (
	ByWebhook Route = 1 + iota
	ByMail
	routeCount
)

// A Message waits in the outbox until it is delivered or given up. The step that it
// reports also puts it there. It may be delivered more than once. Number and NextAt
// together name it.
type Message struct {
	Number    uint64 // given by the engine
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
	Route  Route           // messages of this route alone
	Until  time.Time       // whose next try is not after this
	Except map[uint64]bool // but none to these (Message.To)
	Each   int             // and at most this many to each of the others, the earliest ones; 0: no limit
	Limit  int             // and at most this many in all

	// Lease claims what is listed, where several processes have one outbox: until then no
	// claim of another process lists it. Zero: only look, at those of others, too. RetryMessage ends a
	// lease.
	Lease time.Time
}

// AppendBinary appends the message's record to b. Number and NextAt are not part of it:
// they are the key.
func (m Message) AppendBinary(b []byte) ([]byte, error) {
	b = binary.AppendUvarint(append(b, recordVersion, byte(m.Route)), m.To)
	b = binary.AppendUvarint(appendTime(b, m.CreatedAt), uint64(m.Attempts))
	return appendBytes(b, m.Sealed), nil
}

// UnmarshalBinary reads a record and leaves Number and NextAt as they are. The
// message shares no memory with b.
func (m *Message) UnmarshalBinary(b []byte) error {
	r := reader{b: b}
	r.version()
	n := Message{Number: m.Number, NextAt: m.NextAt, Route: Route(r.byte()), To: r.uvarint(1<<64 - 1)}
	n.CreatedAt, n.Attempts, n.Sealed = r.time(), int(r.uvarint(1<<31-1)), r.bytes()
	if err := r.end(); err != nil || n.Route == 0 || n.Route >= routeCount {
		return errRecord
	}
	*m = n
	return nil
}

// place returns what a message is sealed for, so that it opens for no other recipient.
func (m Message) place() []byte {
	b := binary.BigEndian.AppendUint64([]byte{byte(m.Route)}, m.To)
	return binary.BigEndian.AppendUint64(b, uint64(m.CreatedAt.UnixMilli()))
}

// A Notice is what a message by webhook says.
type Notice struct {
	ID        string // the same for each try, and unique
	Event     Event
	At        time.Time
	Push      ID
	Kind      Kind
	Views     int // counted by then
	ViewLimit int
	Cause     Cause
	IP        string // of the client that caused it; empty if none did
	UserAgent string

	// Only for a webhook of the push's owner.
	Name     secret.Text
	URLToken secret.Text // while the push is live; once it has ended its handle; none with EventAnswer
	Request  RequestID   // that the push answers; zero: none
}

// NewNoticeID returns a new ID of a notice.
func NewNoticeID() string { return "msg_" + randomText(noticeIDSize) }

const noticeIDSize = 16 // random bytes

// messageVersion is the version of what a message says. Version 1, of schema 5 and before,
// had links in it.
const messageVersion = 2

// encode leaves out the URLToken: no message holds a link.
func (n Notice) encode() []byte {
	b := append(make([]byte, 0, 256), messageVersion, byte(n.Event), byte(n.Cause), byte(n.Kind))
	b = appendTime(append(b, n.Push[:]...), n.At)
	b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(n.Views)), uint64(n.ViewLimit))
	for _, text := range [...]string{n.ID, n.IP, n.UserAgent, n.Name.Reveal()} {
		b = appendBytes(b, text)
	}
	return b
}

func decodeNotice(b []byte) (Notice, error) {
	r := reader{b: b}
	r.versionIs(messageVersion)
	n := r.notice()
	n.Name = r.text()
	return n, r.end()
}

// notice reads the parts that a notice begins with.
func (r *reader) notice() Notice {
	n := Notice{Event: Event(r.byte()), Cause: Cause(r.byte()), Kind: Kind(r.byte()), Push: ID(r.take(len(ID{}))), At: r.time()}
	n.Views, n.ViewLimit = int(r.uvarint(1<<31-1)), int(r.uvarint(1<<31-1))
	n.ID, n.IP, n.UserAgent = string(r.bytes()), string(r.bytes()), string(r.bytes())
	if n.Event >= eventCount || n.Cause >= causeCount {
		r.bad = true
	}
	return n
}

// OpenNotice opens what a message by webhook says, with the link of its push if that is
// live and its owner has the webhook. ErrCorrupt if it does not open.
func (s *Store) OpenNotice(ctx context.Context, m Message) (n Notice, err error) {
	plain, err := s.ring.Load().OpenMessage(m.place(), m.Sealed)
	if err == nil {
		n, err = decodeNotice(plain)
	}
	if err != nil {
		return Notice{}, fmt.Errorf("%w: message %d does not open", ErrCorrupt, m.Number)
	}
	if m.To == 0 || n.Event == EventTest {
		return n, nil
	}
	if n.Event != EventAnswer {
		n.URLToken = secret.New(Handle(n.Push).String())
	}
	p, err := s.engine.Push(ctx, n.Push)
	n.Request = p.Request
	switch {
	case errors.Is(err, ErrNotFound):
		return n, nil
	case err != nil:
		return Notice{}, err
	case p.Live() && n.Event != EventAnswer:
		link, err := s.openLink(p)
		n.URLToken = link.Text
		return n, err
	default:
		return n, nil
	}
}
