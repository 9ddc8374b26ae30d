package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"pushbox/store/cold"
	"pushbox/store/record"
	"pushbox/store/seal"
)

// AdminEvents lists events of the instance log by number: up to limit of those at since
// or later, from the first after the given number. An account that has gone has the
// address that its event kept, or none. With an error it returns the events before the
// one that cannot be read, which the error names.
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

// adminEvents reads all events after the given number. With an error come the events
// before the one that is damaged.
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
				report(fmt.Sprintf("event %d: it does not open", e.Number))
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
