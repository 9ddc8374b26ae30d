package store

import (
	"encoding/binary"
	"fmt"
	"time"

	"pushbox/internal/secret"
)

// A Route is a way by which messages leave.
type Route uint8

// The routes. The numbers are stored.
const (
	ByWebhook Route = 1 + iota
	ByMail
	routeCount
)

// A Message waits in the outbox until it was delivered or is given up. It is put
// there in the step that makes true what it says, and may be delivered more than
// once. Its number and the time of its next try together name it.
type Message struct {
	Number    uint64 // among all; given by the engine
	Route     Route
	To        uint64    // by webhook: the HookID; 0 for the instance's. By mail: the AccountID of whoever sends it
	CreatedAt time.Time // also the time of its first try
	NextAt    time.Time // when it is tried next
	Attempts  int       // so far
	Sealed    []byte    // what it says
}

// AppendBinary appends the message's record to b. Number and NextAt are not part of
// it: they are the key.
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

// place is what a message is sealed for, so that it opens for nobody else.
func (m Message) place() []byte {
	b := binary.BigEndian.AppendUint64([]byte{byte(m.Route)}, m.To)
	return binary.BigEndian.AppendUint64(b, uint64(m.CreatedAt.UnixMilli()))
}

// A Notice is what a message by webhook says of an event.
type Notice struct {
	ID        string // the same for each try, and of no other message
	Event     Event
	At        time.Time
	Push      ID
	Kind      Kind
	Views     int // counted by then
	ViewLimit int
	Cause     Cause
	IP        string // of whoever caused it; empty where nobody did
	UserAgent string

	Token, Name secret.Text // only for a webhook of the push's owner
}

// NewNoticeID returns an ID for a message.
func NewNoticeID() string { return "msg_" + randomText(noticeIDSize) }

const noticeIDSize = 16 // random bytes

func (n Notice) encode() []byte {
	b := append(make([]byte, 0, 256), recordVersion, byte(n.Event), byte(n.Cause), byte(n.Kind))
	b = appendTime(append(b, n.Push[:]...), n.At)
	b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(n.Views)), uint64(n.ViewLimit))
	for _, text := range [...]string{n.ID, n.IP, n.UserAgent, n.Token.Reveal(), n.Name.Reveal()} {
		b = appendBytes(b, text)
	}
	return b
}

func decodeNotice(b []byte) (Notice, error) {
	r := reader{b: b}
	r.version()
	n := Notice{Event: Event(r.byte()), Cause: Cause(r.byte()), Kind: Kind(r.byte()), Push: ID(r.take(len(ID{}))), At: r.time()}
	n.Views, n.ViewLimit = int(r.uvarint(1<<31-1)), int(r.uvarint(1<<31-1))
	n.ID, n.IP, n.UserAgent = string(r.bytes()), string(r.bytes()), string(r.bytes())
	n.Token, n.Name = secret.New(string(r.bytes())), secret.New(string(r.bytes()))
	if err := r.end(); err != nil || n.Event >= eventCount || n.Cause >= causeCount {
		return Notice{}, errRecord
	}
	return n, nil
}

// OpenNotice opens what a message by webhook says. ErrCorrupt if it does not open.
func (s *Store) OpenNotice(m Message) (Notice, error) {
	plain, err := s.ring.Load().OpenMessage(m.place(), m.Sealed)
	if err == nil {
		n, err := decodeNotice(plain)
		if err == nil {
			return n, nil
		}
	}
	return Notice{}, fmt.Errorf("%w: message %d does not open", ErrCorrupt, m.Number)
}
