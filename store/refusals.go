package store

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"pushbox/internal/limit"
	"pushbox/store/clock"
	"pushbox/store/record"
)

// How many refusals of clients are events: an attacker must not push other events out of
// the instance log, nor fill the disk. The rest is counted, and one event an hour has the
// count.
const (
	RefusalEventsPerClient = 5  // in an hour, by Actor.Client
	RefusalEvents          = 30 // in an hour, in all

	refusalsWindow = time.Hour
	refusalClients = 1000 // that are remembered
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

// take reports whether a refusal of a client becomes an event; else it counts it.
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

// refused returns err, the outcome of a try to prove who the actor is. If that refuses
// the actor, it adds an event or counts it. What the client sent is no part of the event.
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
	// A client that does not wait for the answer does not get around the event.
	if noteErr := s.as(by).note(context.WithoutCancel(ctx), k, of.with(strings.Trim(of.detail+": "+why, ": "))); noteErr != nil {
		return noteErr
	}
	return err
}

// countRefusals adds an event with the number of refusals that became none. now is for
// the end of the store.
func (s *Store) countRefusals(ctx context.Context, now bool) error {
	left := s.refusals.count(now)
	if left == 0 {
		return nil
	}
	return s.as(Actor{Role: System}).note(ctx, record.AdminMoreRefused, matter{detail: strconv.Itoa(left)})
}
