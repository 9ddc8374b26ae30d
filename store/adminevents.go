package store

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

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
