package daemon

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"

	"pushbox/internal/admin"
	"pushbox/store"
	"pushbox/store/record"
)

const (
	eventsEvery = time.Second     // between two polls of the instance log
	lastLook    = 5 * time.Second // time for the last poll at the end
)

// A follower logs the events of the instance log that are new: who did what, and the number
// by which `pushbox events` shows the rest. Addresses, names and texts stay out of the log.
type follower struct {
	store *store.Store
	log   zerolog.Logger
	last  uint64 // number of the last event that is not new
}

func newFollower(ctx context.Context, s *store.Store, log zerolog.Logger) (*follower, error) {
	last, err := s.LastAdminEvent(ctx)
	return &follower{s, log, last}, err
}

func (d *daemon) follow(ctx context.Context) error {
	if d.events == nil {
		return nil
	}
	return d.events.run(ctx)
}

func (f *follower) run(ctx context.Context) error {
	err := loop(ctx, f.log, "reading the instance log", nil, f.look)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastLook)
	defer cancel()
	if _, last := f.look(ctx); last != nil && !errors.Is(last, record.ErrUnavailable) {
		f.log.Error().Err(last).Msg("reading the instance log failed")
	}
	return err
}

func (f *follower) look(ctx context.Context) (wait time.Duration, err error) {
	for {
		page, err := admin.Events.Do(ctx, f.store, admin.EventQuery{After: f.last})
		for _, e := range page.Events {
			f.tell(e)
			f.last = e.Number
		}
		if err != nil || !page.More {
			return eventsEvery, err
		}
	}
}

func (f *follower) tell(e store.AdminLine) {
	line := f.log.Info().Str("event", e.Event).Uint64("event_number", e.Number).Str("actor", e.Actor)
	if e.AccountID != 0 {
		line = line.Uint64("account_id", uint64(e.AccountID))
	}
	if e.Token != 0 {
		line = line.Uint64("token_id", uint64(e.Token))
	}
	if e.Webhook != 0 {
		line = line.Uint64("webhook_id", uint64(e.Webhook))
	}
	line.Msg("an event of the instance log")
}
