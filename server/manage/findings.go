package manage

import (
	"context"
	"slices"
	"sync"
	"time"

	"pushbox/config"
	"pushbox/server/action"
	"pushbox/server/intake"
	"pushbox/store"
	"pushbox/store/clock"
	"pushbox/store/record"
)

// A Finding is the result of a check of the installation.
type Finding struct {
	Check string // what was examined
	Grade string // ok, warning, problem or skipped
	Text  string
	Cure  string // the cure; empty: none
}

// remembered returns a function that caches the result of find for a time. Only one call of find
// runs at a time. Errors are not cached.
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

// How long results are cached, because checks of the disk and the database are expensive.
const (
	keepFindings = 10 * time.Second
	keepActivity = 10 * time.Minute
)

// Recent has the last findings for administrators.
type Recent struct {
	findings func(context.Context) ([]Finding, error)
	Activity func(context.Context) (store.Activity, error) // activity of the last days
}

// NewRecent returns a cache that calls findings, and the desk in force for the activity.
func NewRecent(now clock.Clock, findings func(context.Context) ([]Finding, error), desk func() *Desk) *Recent {
	return &Recent{
		findings: remembered(now, keepFindings, findings),
		Activity: remembered(now, keepActivity, func(ctx context.Context) (store.Activity, error) { return desk().countActivity(ctx) }),
	}
}

// ActivityDays is how many days the charts show.
const ActivityDays = 30

// countActivity counts what happened in the last days.
func (s *Desk) countActivity(ctx context.Context) (store.Activity, error) {
	longest := 0
	for _, p := range append(slices.Clip(s.Store.Policies()), s.Store.Policy("")) {
		for _, k := range intake.KindsOf(p) {
			longest = max(longest, k.Days.Max)
		}
	}
	a, err := s.Store.Activity(ctx, ActivityDays, time.Duration(longest)*intake.Day)
	if keeps := s.Config.PurgeAfter; keeps != 0 && keeps < ActivityDays*intake.Day { // some pushes are gone
		a.Created, a.Ended = nil, nil
	}
	return a, err
}

// FindingsNow returns the findings about the installation.
func (s *Desk) FindingsNow(r *action.Request) ([]Finding, error) {
	if s.Findings == nil {
		return nil, record.ErrNotFound
	}
	return s.Recent.findings(r.Context())
}

// CountGrade counts the findings of a grade.
func CountGrade(all []Finding, grade string) (n int) {
	for _, f := range all {
		if f.Grade == grade {
			n++
		}
	}
	return n
}

// SettingsNow returns the settings in force.
func (s *Desk) SettingsNow() ([]config.Value, error) {
	if s.Settings == nil {
		return nil, record.ErrNotFound
	}
	return s.Settings(), nil
}
