package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"pushbox/internal/secret"
	"pushbox/store/record"
)

// messagePlace returns the place that a message is sealed for, so that it cannot be opened for
// another recipient.
func messagePlace(m record.Message) []byte {
	b := binary.BigEndian.AppendUint64([]byte{byte(m.Route)}, m.To)
	return binary.BigEndian.AppendUint64(b, uint64(m.CreatedAt.UnixMilli()))
}

// A Notice is the content of a message by webhook.
type Notice struct {
	ID        string // the same for each try, and unique
	Event     record.Event
	At        time.Time
	Push      record.ID
	Kind      record.Kind
	Views     int // counted by then
	ViewLimit int
	Cause     Cause
	IP        string // of the client that caused it; empty if none did
	UserAgent string

	// Only for a webhook of the push's owner.
	Name     secret.Text
	URLToken secret.Text      // while the push is live; once it has ended its handle; none with EventAnswer
	Request  record.RequestID // that the push answers; zero: none
}

// NewNoticeID returns a new ID of a notice.
func NewNoticeID() string { return "msg_" + randomText(noticeIDSize) }

const noticeIDSize = 16 // random bytes

// messageVersion is the version of the content of a message. Version 1, in schema 5 and before,
// contained links.
const messageVersion = 2

// encode leaves out the URLToken: no message holds a link.
func (n Notice) encode() []byte {
	b := append(make([]byte, 0, 256), messageVersion, byte(n.Event), byte(n.Cause), byte(n.Kind))
	b = record.AppendTime(append(b, n.Push[:]...), n.At)
	b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(n.Views)), uint64(n.ViewLimit))
	for _, text := range [...]string{n.ID, n.IP, n.UserAgent, n.Name.Reveal()} {
		b = record.AppendBytes(b, text)
	}
	return b
}

func decodeNotice(b []byte) (Notice, error) {
	r := record.Reader{Rest: b}
	r.VersionIs(messageVersion)
	n := readNotice(&r)
	n.Name = r.Text()
	return n, r.End()
}

// readNotice reads the first parts of a notice.
func readNotice(r *record.Reader) Notice {
	n := Notice{Event: record.Event(r.Byte()), Cause: Cause(r.Byte()), Kind: record.Kind(r.Byte()), Push: record.ID(r.Take(len(record.ID{}))), At: r.Time()}
	n.Views, n.ViewLimit = int(r.Uvarint(1<<31-1)), int(r.Uvarint(1<<31-1))
	n.ID, n.IP, n.UserAgent = string(r.Bytes()), string(r.Bytes()), string(r.Bytes())
	if n.Event >= record.EventCount || n.Cause >= causeCount {
		r.Bad = true
	}
	return n
}

// OpenNotice opens the content of a message by webhook, with the link of its push if that is live
// and its owner has the webhook. ErrCorrupt if it does not open.
func (s *Store) OpenNotice(ctx context.Context, m record.Message) (n Notice, err error) {
	plain, err := s.ring.Load().OpenMessage(messagePlace(m), m.Sealed)
	if err == nil {
		n, err = decodeNotice(plain)
	}
	if err != nil {
		return Notice{}, fmt.Errorf("%w: message %d cannot be decrypted", record.ErrCorrupt, m.Number)
	}
	if m.To == 0 || n.Event == record.EventTest {
		return n, nil
	}
	if n.Event != record.EventAnswer {
		n.URLToken = secret.New(Handle(n.Push).String())
	}
	p, err := s.push(ctx, n.Push)
	n.Request = p.Request
	switch {
	case errors.Is(err, record.ErrNotFound):
		return n, nil
	case err != nil:
		return Notice{}, err
	case p.Live() && n.Event != record.EventAnswer:
		link, err := s.openLink(p)
		n.URLToken = link.Text
		return n, err
	default:
		return n, nil
	}
}
