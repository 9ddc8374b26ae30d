package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"pushbox/internal/secret"
	"pushbox/store/cold"
	"pushbox/store/record"
)

// HookOptions say what the instance's webhook receives, and how many messages may wait.
type HookOptions struct {
	Instance record.EventSet // the events that the webhook of the instance asks for
	Queue    int             // messages that may wait; further ones are dropped
	GiveUp   time.Duration   // after which a message that was not delivered is dropped
}

// An outbox counts the messages that wait. The engine stores them. If several servers share one,
// each counts all messages every second (Store.Follow), and its own changes in between.
type outbox struct {
	most    int64
	waiting atomic.Int64 // including those that a step is about to add
	dropped atomic.Uint64
	changed map[record.Route]chan struct{} // each has a value when there are new messages

	mu     sync.Mutex              // guards byHook
	byHook map[record.HookID]int64 // messages that wait for each webhook; used only to decide which webhooks may add more

	aging sync.Mutex     // guards aged
	aged  record.Message // the next search for old mail begins behind it; zero: at the start
}

func newOutbox(most int) *outbox {
	changed := map[record.Route]chan struct{}{record.ByWebhook: make(chan struct{}, 1), record.ByMail: make(chan struct{}, 1)}
	return &outbox{most: int64(most), changed: changed, byHook: make(map[record.HookID]int64)}
}

// release gives room back.
func (o *outbox) release(n int) { o.waiting.Add(-int64(n)) }

// signal gives a channel of capacity 1 its value, unless it has one.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// OutboxChanged returns a channel that has a value when there are new messages for a route.
func (s *Store) OutboxChanged(by record.Route) <-chan struct{} { return s.outbox.changed[by] }

// Waiting is how many messages wait in the outbox.
func (s *Store) Waiting() int { return max(0, int(s.outbox.waiting.Load())) }

// WaitingBy is how many messages of a route wait in the outbox.
func (s *Store) WaitingBy(by record.Route) (n int) {
	s.outbox.mu.Lock()
	defer s.outbox.mu.Unlock()
	for _, each := range s.outbox.byHook {
		n += int(each)
	}
	if by == record.ByMail {
		return max(0, s.Waiting()-n)
	}
	return n
}

// WaitingFor is how many messages wait for a webhook.
func (s *Store) WaitingFor(id record.HookID) int {
	s.outbox.mu.Lock()
	defer s.outbox.mu.Unlock()
	return int(s.outbox.byHook[id])
}

// Dropped is how many messages to webhooks were dropped since Open, because the outbox was full.
func (s *Store) Dropped() uint64 { return s.outbox.dropped.Load() }

// sendWithin is how long a server has to send a message or to postpone it: longer than a batch
// takes. If the server crashes, another one sends the message after that time.
const sendWithin = 2 * time.Minute

// longestWait is how long a caller waits at most before it asks for messages again.
const longestWait = time.Minute

// DueMessages lists the messages that q selects and that are due now, by the time of their next
// try, and returns how long to wait for more. It sets q.Until. If several servers share one outbox,
// the listed messages are reserved for this server for sendWithin.
func (s *Store) DueMessages(ctx context.Context, q record.MessageQuery) (due []record.Message, wait time.Duration, err error) {
	q.Until = s.time.Read().Now
	q.Lease = q.Until.Add(sendWithin)
	due, next, err := s.engine.DueMessages(ctx, q)
	wait = longestWait
	if !next.IsZero() {
		wait = min(wait, max(0, next.Sub(q.Until)))
	}
	return due, wait, err
}

// EndMessages removes messages that were delivered or are no longer wanted.
func (s *Store) EndMessages(ctx context.Context, gone []record.Message) error {
	_, err := s.endMessages(ctx, gone)
	return err
}

// endMessages is EndMessages that also returns how many of them were in the outbox.
func (s *Store) endMessages(ctx context.Context, gone []record.Message) (n int, err error) {
	if len(gone) == 0 {
		return 0, nil
	}
	n, err = cold.EndMessages(ctx, s.engine, gone)
	if err == nil {
		err = s.uncount(ctx, gone, n)
	}
	s.outbox.release(n)
	return n, err
}

// RetryMessage sets the next try of a message after a wait. If that is too late, it
// gives the message up and returns false.
func (s *Store) RetryMessage(ctx context.Context, m record.Message, wait time.Duration) (again bool, err error) {
	at := s.time.Read()
	next := at.Now.Add(wait)
	if at.Ends.Add(wait).Sub(m.CreatedAt) >= s.patience(m.Route) {
		return false, s.EndMessages(ctx, []record.Message{m})
	}
	return true, instead(cold.RetryMessage(ctx, s.engine, m, next), record.ErrNotFound, nil)
}

// patience is how long a message of a route is retried.
func (s *Store) patience(by record.Route) time.Duration {
	if by == record.ByMail {
		return s.options().Mail.GiveUp
	}
	return s.options().Hooks.GiveUp
}

// GiveUp removes the messages of a route that have waited too long, and returns their number. While
// the clock is in doubt it removes none. RetryMessage gives up most messages to webhooks; GiveUp
// removes those whose next try is overdue by that time.
func (s *Store) GiveUp(ctx context.Context, by record.Route) (given int, err error) {
	if by == record.ByMail {
		return s.giveUpMail(ctx)
	}
	for {
		overdue := s.time.Read().Ends.Add(-s.patience(by))
		old, _, err := s.engine.DueMessages(ctx, record.MessageQuery{Route: by, Until: overdue, Limit: sweepBatch})
		if err != nil || len(old) == 0 {
			return given, err
		}
		n, err := s.endMessages(ctx, old)
		given += n
		if err != nil || n == 0 {
			return given, err
		}
	}
}

// mailPages is how many pages of the outbox one call searches for old mail.
const mailPages = 4

// giveUpMail is GiveUp for mail. The age of mail counts from its creation, since tries do not count
// while the mail server does not answer. So old mail may be anywhere among the due messages: a call
// reads some pages, and the next call continues behind them.
func (s *Store) giveUpMail(ctx context.Context) (given int, err error) {
	s.outbox.aging.Lock()
	defer s.outbox.aging.Unlock()
	for range mailPages {
		at := s.time.Read()
		page, err := cold.Messages(ctx, s.engine, s.outbox.aged, sweepBatch)
		if err != nil {
			return given, err
		}
		due := slices.IndexFunc(page, func(m record.Message) bool { return m.NextAt.After(at.Now) })
		if s.outbox.aged = (record.Message{}); due < 0 && len(page) == sweepBatch {
			s.outbox.aged = page[len(page)-1]
		} else if due >= 0 {
			page = page[:due]
		}
		old := slices.DeleteFunc(page, func(m record.Message) bool {
			return m.Route != record.ByMail || m.CreatedAt.After(at.Ends.Add(-s.patience(record.ByMail)))
		})
		n, err := s.endMessages(ctx, old)
		given += n
		if err != nil || s.outbox.aged.NextAt.IsZero() {
			return given, err
		}
	}
	return given, nil
}

// reserve reserves room for one message to each of the webhooks, and returns those that got it. No
// webhook may use more of the outbox than it leaves to the others. So a webhook whose receiver is
// gone uses at most half of it, and one account cannot crowd out the messages of another.
func (o *outbox) reserve(to []record.HookID) (room []record.HookID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, id := range to {
		if o.byHook[id] < o.most-o.waiting.Load() {
			o.byHook[id]++
			o.waiting.Add(1)
			room = append(room, id)
		}
	}
	return room
}

// unreserve frees room that was reserved.
func (o *outbox) unreserve(room []record.HookID) {
	o.uncount(room)
	o.release(len(room))
}

// uncount takes one message off the count of each of the webhooks.
func (o *outbox) uncount(ids []record.HookID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, id := range ids {
		if o.byHook[id]--; o.byHook[id] <= 0 {
			delete(o.byHook, id)
		}
	}
}

// uncount takes messages that ended off the counts of their webhooks. n of them were in the outbox
// until now; if not all were, it recounts, since it is unknown which had ended before.
func (s *Store) uncount(ctx context.Context, gone []record.Message, n int) error {
	if n < len(gone) {
		_, err := s.recount(context.WithoutCancel(ctx))
		return err
	}
	var ids []record.HookID
	for _, m := range gone {
		if m.Route == record.ByWebhook {
			ids = append(ids, record.HookID(m.To))
		}
	}
	s.outbox.uncount(ids)
	return nil
}

// recount counts the messages in the outbox, and returns their number. It may miss messages that a
// step is adding at that moment, which does little harm.
func (s *Store) recount(ctx context.Context) (all int64, err error) {
	counts, err := s.engine.CountMessages(ctx)
	if err != nil {
		return 0, err
	}
	waiting := make(map[record.HookID]int64)
	for to, n := range counts {
		all += int64(n)
		if to.Route == record.ByWebhook {
			waiting[record.HookID(to.To)] = int64(n)
		}
	}
	s.outbox.mu.Lock()
	defer s.outbox.mu.Unlock()
	s.outbox.byHook = waiting
	return all, nil
}

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

// MadeAt is when the push was made; zero if it was made elsewhere.
func (n Notice) MadeAt() (t time.Time) {
	if !n.Push.Imported() {
		t = createdAt(n.Push)
	}
	return t
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
