package store

import (
	"context"
	"encoding/binary"
	"errors"
	"time"

	"pushbox/internal/secret"
)

// MaxDeliveries is how many tries a webhook keeps: beyond it the oldest go.
const MaxDeliveries = 20

// A Delivery is a try to send a message to a webhook.
type Delivery struct {
	At     time.Time
	Event  Event
	Status int   // of the answer; 0: there was none
	Fault  Fault // why there was none
}

// Delivered reports whether the receiver took the message.
func (d Delivery) Delivered() bool { return d.Status/100 == 2 }

// A Fault says why a webhook did not answer.
type Fault uint8

// The faults. The numbers are stored.
const (
	FaultNone        Fault = iota // it answered
	FaultDenied                   // the settings do not allow its address
	FaultName                     // its name could not be looked up
	FaultTLS                      // its certificate, or its TLS, is not valid
	FaultSlow                     // it did not answer in time
	FaultUnreachable              // it refuses connections, or cannot be reached
	FaultBroken                   // the connection broke
	faultCount
)

var faultNames = [...]string{"", "denied", "name", "tls", "slow", "unreachable", "broken"}

// String is a word for the fault.
func (f Fault) String() string {
	if f < faultCount {
		return faultNames[f]
	}
	return ""
}

const maxStatus = 999

// append appends the record to b.
func (d Delivery) append(b []byte) []byte {
	return binary.AppendUvarint(append(appendTime(b, d.At), byte(d.Event), byte(d.Fault)), uint64(d.Status))
}

// delivery reads what append wrote.
func (r *reader) delivery() Delivery {
	d := Delivery{At: r.time(), Event: Event(r.byte()), Fault: Fault(r.byte()), Status: int(r.uvarint(maxStatus))}
	r.bad = r.bad || d.At.IsZero() || d.Event >= eventCount || d.Fault >= faultCount
	return d
}

// With returns the webhook with more tries, of which it keeps the newest.
func (h Hook) With(tried []Delivery) Hook {
	all := append(append([]Delivery(nil), h.Tried...), tried...)
	h.Tried = all[max(0, len(all)-MaxDeliveries):]
	return h
}

// NoteDeliveries keeps tries to send messages to a webhook, if it still exists.
func (s *Store) NoteDeliveries(ctx context.Context, id HookID, tried []Delivery) error {
	h, ok := s.hooks.Load().find(id)
	if !ok || len(tried) == 0 {
		return nil
	}
	return s.keeping(ctx, func(ctx context.Context) error { return s.engine.NoteDeliveries(ctx, h.Owner, id, tried) })
}

// AddOwnHook is AddHook for the account of a session. The password proves that the account
// is the caller's, and so does a second factor if it has one: who has only the session must
// not have its events for good.
//
// Errors: as those of CreateOwnToken and AddHook; ErrUnconfirmed.
func (s *Store) AddOwnHook(ctx context.Context, by Actor, session, password secret.Text, f Factor, address secret.Text, events []Event) (HookInfo, error) {
	var bad InvalidError
	if checkHook(address, events, &bad); bad.Err() != nil {
		return HookInfo{}, bad.Err()
	}
	c, use, err := s.provenTwice(ctx, by, session, password, f, Account.MFA)
	if err != nil {
		return HookInfo{}, err
	}
	if c.account.Unconfirmed {
		return HookInfo{}, ErrUnconfirmed
	}
	if checkHookCount(s.hooks.Load(), c.account.ID, &bad); bad.Err() != nil { // before the factor is used up
		return HookInfo{}, bad.Err()
	}
	if err := s.countChange(ctx, c.account.ID); err != nil {
		return HookInfo{}, err
	}
	_, err = s.changeOwn(ctx, c, AdminWebhookAdd, "", func(a *Account) (SessionChange, error) {
		return SessionChange{Untold: true}, use(a) // the webhook has the event
	})
	if err != nil {
		return HookInfo{}, err
	}
	return s.AddHook(ctx, c.by, c.account.Email, address, events)
}

// TestHook has send send a test to a webhook of the actor's account, and keeps the outcome. If
// the receiver takes it, a disabled webhook is enabled again. ErrNotFound; *LockedError after
// too many changes.
func (s *Store) TestHook(ctx context.Context, by Actor, id HookID, send func(context.Context, HookTarget) (status int, f Fault)) (Delivery, error) {
	h, err := s.Hook(id)
	if err == nil && (by.Account == 0 || h.Owner != by.Account) {
		err = ErrNotFound
	}
	if err != nil {
		return Delivery{}, err
	}
	if err := s.countChange(ctx, by.Account); err != nil {
		return Delivery{}, err
	}
	d := Delivery{At: s.time.Read().Now, Event: EventTest}
	d.Status, d.Fault = send(ctx, h.HookTarget)
	err = s.NoteDeliveries(ctx, id, []Delivery{d})
	if d.Delivered() && h.Disabled {
		err = errors.Join(err, s.DisableHook(ctx, by, id, false))
	}
	return d, err
}
