package store

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"pushbox/internal/limit"
	"pushbox/store/clock"
	"pushbox/store/cold"
	"pushbox/store/record"
	"pushbox/store/seal"
)

// AdminEvents lists events of the instance log by number: up to limit of those at since or later,
// from the first after the given number. For a removed account the address is the one in its event,
// or empty. With an error it returns the events before the one that cannot be read, which the error
// names.
func (s *Store) AdminEvents(ctx context.Context, since time.Time, after uint64, limit int) ([]AdminEventInfo, error) {
	var list []AdminEventInfo
	emails := make(map[record.AccountID]string)
	for batch, err := range s.adminEvents(ctx, after) {
		for _, e := range batch {
			if e.At.Before(since) {
				continue
			}
			if len(list) == limit {
				return list, nil
			}
			i, err := openAdminEvent(s.ring.Load(), e)
			if err == nil && i.Email == "" {
				i.Email, err = s.emailOf(ctx, e.Account, emails)
			}
			if err == nil {
				i.ByEmail, err = s.emailOf(ctx, i.By.Account, emails)
			}
			if err != nil {
				return list, err
			}
			list = append(list, i)
		}
		if err != nil {
			return list, err
		}
	}
	return list, nil
}

// adminEvents reads all events after the given number. With an error it returns the events before
// the damaged one.
func (s *Store) adminEvents(ctx context.Context, after uint64) func(func([]record.AdminEvent, error) bool) {
	return batches(func(last record.AdminEvent) ([]record.AdminEvent, error) {
		from := max(after, last.Number)
		list, err := cold.AdminEvents(ctx, s.engine, from, listBatch)
		if errors.Is(err, record.ErrCorrupt) {
			return s.adminEventsOneByOne(ctx, from)
		}
		return list, err
	})
}

// adminEventsOneByOne reads events until one is damaged, and names that one.
func (s *Store) adminEventsOneByOne(ctx context.Context, after uint64) (list []record.AdminEvent, err error) {
	for len(list) < listBatch {
		one, err := cold.AdminEvents(ctx, s.engine, after, 1)
		switch {
		case err != nil && after == 0: // the log need not begin with 1
			return list, fmt.Errorf("the first event: %w", err)
		case err != nil:
			return list, fmt.Errorf("event %d: %w", after+1, err) // numbers have no gap
		case len(one) == 0:
			return list, nil
		}
		list, after = append(list, one...), one[0].Number
	}
	return list, nil
}

// LastAdminEvent returns the number of the newest event of the instance log; 0 if there is
// none.
func (s *Store) LastAdminEvent(ctx context.Context) (number uint64, err error) {
	return cold.LastAdminEvent(ctx, s.engine)
}

// emailOf returns the address of an account; empty if it has gone.
func (s *Store) emailOf(ctx context.Context, id record.AccountID, known map[record.AccountID]string) (string, error) {
	email, ok := known[id]
	if ok || id == 0 {
		return email, nil
	}
	a, err := cold.Account(ctx, s.engine, id)
	if err != nil {
		return "", instead(err, record.ErrNotFound, nil)
	}
	known[id] = a.Email
	return a.Email, nil
}

// checkAdminEvents reports each event that does not open. ring returns the key ring, which
// may be renewed meanwhile.
func checkAdminEvents(ctx context.Context, e record.Engine, ring func() *seal.Ring, report func(problem string)) error {
	list := batches(func(last record.AdminEvent) ([]record.AdminEvent, error) {
		return cold.AdminEvents(ctx, e, last.Number, listBatch)
	})
	for batch, err := range list {
		if errors.Is(err, record.ErrCorrupt) { // the engine's own check names it
			return nil
		}
		if err != nil {
			return err
		}
		for _, e := range batch {
			if _, err := openAdminEvent(ring(), e); err != nil {
				report(fmt.Sprintf("event %d: it cannot be decrypted", e.Number))
			}
		}
	}
	return nil
}

// NoteReload adds to the instance log that the configuration was read again and is in
// force, with the names of the settings that changed; or that it was refused.
func (s *Store) NoteReload(ctx context.Context, by Actor, refused bool, changed []string) error {
	k := record.AdminReload
	if refused {
		k = record.AdminReloadRefused
	}
	return s.as(by).note(ctx, k, matter{detail: strings.Join(changed, ", ")})
}

// An AdminEventInfo is an opened event.
type AdminEventInfo struct {
	record.AdminEvent
	By      Actor  // without Referrer, and Client is empty
	ByEmail string // of By.Account; empty if that is no longer known
	Email   string // of Account; empty if that is no longer known
	Detail  string // further details, such as a size; may be empty
}

// A matter is the subject of an event, as far as it is known before the change is made.
type matter struct {
	account record.AccountID
	email   string
	subject uint64
	detail  string
}

const eventSalt = 16 // random bytes: without the key, a digest must not confirm a guess of the text

// sealAdminEvent makes an event of now.
func (s *Store) sealAdminEvent(ring *seal.Ring, by Actor, k record.AdminKind, m matter) record.AdminEvent {
	plain := make([]byte, eventSalt, 256)
	_, _ = rand.Read(plain) // never fails: crypto/rand ends the program instead
	plain = binary.AppendUvarint(append(plain, byte(by.Role)), uint64(by.Account))
	for _, text := range [...]string{by.IP, cut(by.UserAgent), m.email, cut(m.detail)} {
		plain = record.AppendBytes(plain, text)
	}
	e := record.AdminEvent{Kind: k, At: s.time.Read().Now, Account: m.account, Subject: m.subject, Digest: sha256.Sum256(plain)}
	e.Sealed = ring.SealEvent(e.Digest, plain)
	return e
}

// openAdminEvent opens an event, and checks its text against its digest.
func openAdminEvent(ring *seal.Ring, e record.AdminEvent) (AdminEventInfo, error) {
	plain, err := ring.OpenEvent(e.Digest, e.Sealed)
	r := record.Reader{Rest: plain}
	r.Take(eventSalt)
	i := AdminEventInfo{AdminEvent: e, By: Actor{Role: Role(r.Byte()), Account: record.AccountID(r.Uvarint(1<<64 - 1))}}
	for _, text := range [...]*string{&i.By.IP, &i.By.UserAgent, &i.Email, &i.Detail} {
		*text = string(r.Bytes())
	}
	if err != nil || r.End() != nil || sha256.Sum256(plain) != e.Digest {
		return AdminEventInfo{}, fmt.Errorf("%w: event %d cannot be decrypted", record.ErrCorrupt, e.Number)
	}
	return i, nil
}

// An AdminLine is an event of the instance log as programs read it: an object in the API, and a
// line of what `pushbox events --json` prints and of an export. It has no empty keys.
type AdminLine struct {
	Number       uint64           `json:"number"`
	Time         string           `json:"time"` // RFC 3339 in UTC, with milliseconds
	Event        string           `json:"event"`
	Actor        string           `json:"actor"`                   // operator, system, admin, account, or anonymous
	ActorID      record.AccountID `json:"actor_id,omitempty"`      // the account that acted
	ActorAccount string           `json:"actor_account,omitempty"` // its address, where that is not Account
	IP           string           `json:"ip,omitempty"`
	UserAgent    string           `json:"user_agent,omitempty"`
	AccountID    record.AccountID `json:"account_id,omitempty"`
	Account      string           `json:"account,omitempty"` // its address
	Token        record.TokenID   `json:"token,omitempty"`
	Webhook      record.HookID    `json:"webhook,omitempty"`
	Detail       string           `json:"detail,omitempty"`
}

// Line returns the event for programs.
func (i AdminEventInfo) Line() AdminLine {
	l := AdminLine{
		Number: i.Number, Time: i.At.UTC().Format("2006-01-02T15:04:05.000Z"), Event: i.Kind.String(),
		Actor: i.By.Kind(), ActorID: i.By.Account, IP: i.By.IP, UserAgent: i.By.UserAgent,
		AccountID: i.Account, Account: i.Email, Detail: i.Detail,
	}
	if i.By.Account != i.Account {
		l.ActorAccount = i.ByEmail
	}
	switch i.Kind {
	case record.AdminTokenCreate, record.AdminTokenRevoke:
		l.Token = record.TokenID(i.Subject)
	case record.AdminWebhookAdd, record.AdminWebhookRemove, record.AdminWebhookDisable, record.AdminWebhookEnable:
		l.Webhook = record.HookID(i.Subject)
	}
	return l
}

// How many refusals of clients become events: an attacker must not crowd other events out of the
// instance log, nor fill the disk. Further refusals are counted, and one event an hour has their
// number.
const (
	RefusalEventsPerClient = 5  // in an hour, by Actor.Client
	RefusalEvents          = 30 // in an hour, in all

	refusalsWindow = time.Hour
	refusalClients = 1000 // clients that are remembered
)

// refusals bound which refusals are events.
type refusals struct {
	perClient, inAll *limit.Window

	mu      sync.Mutex
	left    int           // without an event since the last count
	counted time.Duration // when the last count was, by elapsed
	elapsed limit.Clock
}

func newRefusals(c clock.Clock) *refusals {
	return &refusals{
		perClient: limit.NewWindow(RefusalEventsPerClient, refusalsWindow, refusalClients, c.Elapsed),
		inAll:     limit.NewWindow(RefusalEvents, refusalsWindow, 1, c.Elapsed),
		counted:   c.Elapsed(), elapsed: c.Elapsed,
	}
}

// take reports whether a refusal of a client becomes an event; otherwise it counts the refusal.
func (r *refusals) take(client string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	one, _ := r.perClient.FullFor(client)
	all, _ := r.inAll.Full("")
	if one || all {
		r.left++
		return false
	}
	r.perClient.AddFor(client)
	r.inAll.Add("")
	return true
}

// count returns how many refusals became no event since the last count; 0 if that was
// less than an hour ago, unless now is set.
func (r *refusals) count(now bool) (left int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left == 0 || !now && r.elapsed()-r.counted < refusalsWindow {
		return 0
	}
	left, r.left, r.counted = r.left, 0, r.elapsed()
	return left
}

// refused returns err, the outcome of an authentication. If err refuses the actor, it adds an event
// or counts the refusal. The event does not contain what the client sent.
func (s *Store) refused(ctx context.Context, by Actor, k record.AdminKind, of record.Account, err error) error {
	return s.refusedOf(ctx, by, k, about(of), err)
}

// refusedOf is refused with a detail.
func (s *Store) refusedOf(ctx context.Context, by Actor, k record.AdminKind, of matter, err error) error {
	var why string
	var cause *record.RefusedError
	switch {
	case errors.As(err, &cause):
		why = cause.Why
	case errors.Is(err, errCopied):
		why = errCopied.Error()
	case errors.Is(err, record.ErrCredentials), errors.Is(err, record.ErrToken):
	case errors.Is(err, record.ErrLocked):
		why = record.ErrLocked.Error()
	default:
		return err
	}
	if !s.refusals.take(by.Client) {
		return err
	}
	// A client cannot avoid the event by not waiting for the answer.
	if noteErr := s.as(by).note(context.WithoutCancel(ctx), k, of.with(strings.Trim(of.detail+": "+why, ": "))); noteErr != nil {
		return noteErr
	}
	return err
}

// countRefusals adds an event with the number of refusals that have no event. now is set when the
// store closes.
func (s *Store) countRefusals(ctx context.Context, now bool) error {
	left := s.refusals.count(now)
	if left == 0 {
		return nil
	}
	return s.as(Actor{Role: System}).note(ctx, record.AdminMoreRefused, matter{detail: strconv.Itoa(left)})
}
