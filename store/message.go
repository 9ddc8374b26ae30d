package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"pushbox/internal/email"
	"pushbox/store/clock"

	"pushbox/store/cold"

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

// NoteDeliveries records tries to send messages to a webhook, if it still exists.
func (s *Store) NoteDeliveries(ctx context.Context, id record.HookID, tried []record.Delivery) error {
	h, ok := s.hooks.Load().find(id)
	if !ok || len(tried) == 0 {
		return nil
	}
	return s.keeping(ctx, func(ctx context.Context) error { return cold.NoteDeliveries(ctx, s.engine, h.Owner, id, tried) })
}

// AddOwnHook is AddHook for the account of a session. The password proves that the account is the
// caller's, and so does a second factor if it has one: a client that has only stolen the session
// must not receive the account's events for good.
//
// Errors: as those of CreateOwnToken and AddHook; ErrUnconfirmed.
func (s *Store) AddOwnHook(ctx context.Context, by Actor, session, password secret.Text, f Factor, address secret.Text, events []record.Event) (HookInfo, error) {
	var bad record.InvalidError
	if checkHook(address, events, &bad); bad.Err() != nil {
		return HookInfo{}, bad.Err()
	}
	c, use, err := s.provenTwice(ctx, by, session, password, f, record.Account.MFA)
	if err != nil {
		return HookInfo{}, err
	}
	if c.account.Unconfirmed {
		return HookInfo{}, record.ErrUnconfirmed
	}
	return sealing(ctx, s, func(ctx context.Context) (HookInfo, error) {
		h, target := s.newHook(c.account, address, events)
		err := s.changeHooks(ctx, func(*subscriptions) error {
			if err := s.countChange(ctx, c.account.ID); err != nil {
				return err
			}
			done, err := s.changeOwn(ctx, c, record.AdminWebhookAdd, eventNames(h.Events), func(a *record.Account) (record.SessionChange, error) {
				return record.SessionChange{Hook: &h}, use(a) // in one transaction: the session may have ended meanwhile
			})
			h.ID = done.Hook
			return err
		})
		return HookInfo{Hook: h, HookTarget: target}, err
	})
}

// TestHook calls send to send a test to a webhook of the actor's account, and records the outcome.
// If the receiver accepts it, a disabled webhook is enabled again. ErrNotFound; *LockedError after
// too many changes.
func (s *Store) TestHook(ctx context.Context, by Actor, id record.HookID, send func(context.Context, HookTarget) (status int, f record.Fault)) (record.Delivery, error) {
	h, err := s.Hook(id)
	if err == nil && (by.Account == 0 || h.Owner != by.Account) {
		err = record.ErrNotFound
	}
	if err != nil {
		return record.Delivery{}, err
	}
	if err := s.countChange(ctx, by.Account); err != nil {
		return record.Delivery{}, err
	}
	d := record.Delivery{At: s.time.Read().Now, Event: record.EventTest}
	d.Status, d.Fault = send(ctx, h.HookTarget)
	err = s.NoteDeliveries(ctx, id, []record.Delivery{d})
	if d.Delivered() && h.Disabled {
		err = errors.Join(err, s.DisableHook(ctx, by, id, false))
	}
	return d, err
}

// MailOptions say whether mail is sent, and how much.
type MailOptions struct {
	Languages     []string      // of mails; none: no mail is sent
	MaxRecipients int           // of one request
	PerAccount    int           // mails in a day
	PerInstance   int           // mails in a day, of all accounts together
	PerAddressee  int           // mails in a day to one address, from all accounts together; 0: no limit
	GiveUp        time.Duration // after which a mail that was not delivered is dropped
}

// A MailRequest asks for the link of a push to be sent by mail.
type MailRequest struct {
	To       secret.Text // addresses without names, separated by commas
	Language string      // one of MailOptions; empty: that of the instance
	Base     string      // the address of the server: links begin with it
}

func (s *Store) addressee(address string) record.Addressee {
	return s.ring.Load().MAC("mail to " + strings.ToLower(address)) // no url_token has a space
}

// recipients returns the addresses that a request names, each once, and adds to bad what
// is wrong with the request.
func (s *Store) recipients(by Actor, m *MailRequest, bad *record.InvalidError) (to []string) {
	if m == nil {
		return nil
	}
	asked := map[string]bool{FieldMailTo: !blank(m.To.Reveal()), FieldMailLanguage: m.Language != ""}
	for field, given := range asked {
		switch {
		case !given:
		case len(s.options().Mail.Languages) == 0:
			bad.Add(field, "cannot be used: this server sends no mail")
		case m.Base == "":
			bad.Add(field, "cannot be used: this server has no base_url for links in mail")
		case by.Account == 0:
			bad.Add(field, "needs an account: send an API token")
		case field == FieldMailLanguage && !slices.Contains(s.options().Mail.Languages, m.Language):
			bad.Add(field, "must be one of "+strings.Join(s.options().Mail.Languages, ", "))
		case field == FieldMailTo:
			to = s.addresses(m.To, bad)
		}
	}
	return to
}

// addresses reads addresses, separated by commas, each once.
func (s *Store) addresses(text secret.Text, bad *record.InvalidError) (to []string) {
	most := s.options().Mail.MaxRecipients
	seen := make(map[string]bool)
	n := 0
	for item := range strings.SplitSeq(text.Reveal(), ",") {
		if n++; n > maxListed {
			break // too many, even if they are valid
		}
		address := strings.TrimSpace(item)
		switch key := strings.ToLower(address); {
		case address == "": // an extra comma
		case !email.IsSendable(address):
			bad.Add(FieldMailTo, fmt.Sprintf("are not all e-mail addresses: number %d is not an address such as ann@example.com, without a name", n))
		case !seen[key]:
			seen[key], to = true, append(to, address)
		}
	}
	if len(to) > most || n > maxListed {
		bad.Add(FieldMailTo, fmt.Sprintf("are too many: at most %d", most))
	}
	if len(to) == 0 && bad.Fields[FieldMailTo] == nil {
		bad.Add(FieldMailTo, "has no e-mail address")
	}
	return to
}

// maxListed is how many items of a list are read, with repeated ones and extra commas.
const maxListed = 1000

func blank(text string) bool { return strings.TrimSpace(text) == "" }

// quotas returns the quotas that an account's mails to different addresses count against.
func (s *Store) quotas(of record.AccountID, now time.Time, to ...string) []record.Quota {
	all := s.ownQuotas(of, now, len(to))
	if most := s.options().Mail.PerAddressee; most > 0 {
		for _, address := range to {
			all = append(all, record.Quota{To: s.addressee(address), Day: dayOf(now), Add: 1, Most: uint64(most)})
		}
	}
	return all
}

// ownQuotas returns the quotas of the account and the instance, without those of addresses.
func (s *Store) ownQuotas(of record.AccountID, now time.Time, mails int) []record.Quota {
	o, today := s.options().Mail, dayOf(now)
	return []record.Quota{
		{Of: of, Day: today, Add: uint64(mails), Most: uint64(o.PerAccount)},
		{Day: today, Add: uint64(mails), Most: uint64(o.PerInstance)},
	}
}

// dayOf is the number of a day since 1970, in UTC.
func dayOf(t time.Time) uint64 {
	return uint64(max(0, t.UnixMilli())) / uint64(record.Day.Milliseconds())
}

// dayLeft is the time left in the day of t.
func dayLeft(t time.Time) time.Duration {
	return record.Day - time.Duration(t.UnixMilli()%record.Day.Milliseconds())*time.Millisecond
}

// countMail runs put, which puts a batch of mail into the outbox, and counts the waiting messages.
func (s *Store) countMail(batch *record.MailBatch, at clock.Instant, put func() error) error {
	if batch == nil {
		return put()
	}
	s.outbox.waiting.Add(int64(len(batch.Messages)))
	err := put()
	var quota *record.QuotaError
	if errors.As(err, &quota) {
		quota.RetryAfter = dayLeft(at.Now)
	}
	if err != nil {
		s.outbox.release(len(batch.Messages))
		return err
	}
	signal(s.outbox.changed[record.ByMail])
	return nil
}

// clearQuotas removes the counts of mail to addresses that are from earlier days, unless the
// clock is in doubt.
func (s *Store) clearQuotas(ctx context.Context, at clock.Instant) error {
	today := dayOf(at.Now)
	if at.Now != at.Ends || s.counted == today {
		return nil
	}
	var last record.Addressee
	for more := true; more; {
		var err error
		if last, more, err = cold.ClearQuotas(ctx, s.engine, last, clearBatch, today); err != nil {
			return err
		}
	}
	s.counted = today
	return nil
}
