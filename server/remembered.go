package server

import (
	"context"
	"sync"
	"time"

	"pushbox/store"
	"pushbox/store/clock"
)

// remembered returns a function that returns what find returned last, for that long. Only one
// call of find runs at a time. An error is not kept.
func remembered[T any](now clock.Clock, long time.Duration, find func(context.Context) (T, error)) func(context.Context) (T, error) {
	var mu sync.Mutex
	var last T
	var until time.Duration // of the clock; 0: there is no last one
	return func(ctx context.Context) (T, error) {
		mu.Lock()
		defer mu.Unlock()
		if at := now.Elapsed(); until != 0 && at < until {
			return last, nil
		}
		found, err := find(ctx)
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			last, until = found, now.Elapsed()+long
		}
		return found, err
	}
}

// How long administrators see the same: to look at the disk and the database is work.
const (
	keepFindings = 10 * time.Second
	keepActivity = 10 * time.Minute
)

// recent is what administrators were told last.
type recent struct {
	findings func(context.Context) ([]Finding, error)
	activity func(context.Context) (store.Activity, error)
}

func newRecent(s *Server) *recent {
	return &recent{
		findings: remembered(s.clock, keepFindings, func(ctx context.Context) ([]Finding, error) { return s.monitoring.Findings(ctx) }),
		activity: remembered(s.clock, keepActivity, func(ctx context.Context) (store.Activity, error) { return s.latest.Load().countActivity(ctx) }),
	}
}
