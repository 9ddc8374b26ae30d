package store

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"pushbox/store/record"
	"pushbox/store/seal"
)

// An AdminEventInfo is an opened event.
type AdminEventInfo struct {
	record.AdminEvent
	By      Actor  // without Referrer, and Client is empty
	ByEmail string // of By.Account; empty if that is no longer known
	Email   string // of Account; empty if that is no longer known
	Detail  string // what else there is to say, such as a size; may be empty
}

// A matter is what an event is about, as far as it is known before the change is made.
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

// openAdminEvent opens an event, and checks that it says what its digest says.
func openAdminEvent(ring *seal.Ring, e record.AdminEvent) (AdminEventInfo, error) {
	plain, err := ring.OpenEvent(e.Digest, e.Sealed)
	r := record.Reader{Rest: plain}
	r.Take(eventSalt)
	i := AdminEventInfo{AdminEvent: e, By: Actor{Role: Role(r.Byte()), Account: record.AccountID(r.Uvarint(1<<64 - 1))}}
	for _, text := range [...]*string{&i.By.IP, &i.By.UserAgent, &i.Email, &i.Detail} {
		*text = string(r.Bytes())
	}
	if err != nil || r.End() != nil || sha256.Sum256(plain) != e.Digest {
		return AdminEventInfo{}, fmt.Errorf("%w: event %d does not open", record.ErrCorrupt, e.Number)
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
