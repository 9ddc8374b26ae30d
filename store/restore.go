package store

import (
	"context"
	"errors"
	"fmt"

	"pushbox/store/record"

	"golang.org/x/sync/errgroup"
)

// Restored is what Restore did.
type Restored struct {
	Pushes int // all of them
	Live   int // those that were live in the backup, whether they are kept or not
}

// mostParallel is how many changes of changeEach may share a commit.
const mostParallel = 512

// Restore prepares a store that was opened over a copy of a backup. It ends every live
// push as by a delete, since the push may have been viewed after the backup was made,
// or keeps it live if keepLive is set; its audit log shows which. It ends all requests, and
// removes sessions, grants, messages that wait, and files that waited for their last download.
//
// ErrCorrupt if a check of the copy finds a problem; then nothing was changed. A
// Restore that was cut short must begin again from the backup.
func (s *Store) Restore(ctx context.Context, keepLive bool) (r Restored, err error) {
	if err := verify(ctx, s.engine, s.ring.Load()); err != nil {
		return r, err
	}
	for ps, err := range s.scan(ctx) {
		if err != nil {
			return r, err
		}
		if err := s.restoreAll(ctx, ps, keepLive); err != nil {
			return r, fmt.Errorf("restore pushes: %w", err)
		}
		for _, p := range ps {
			if p.Live() {
				r.Live++
			}
		}
		r.Pushes += len(ps)
	}
	if err := errors.Join(s.endRequests(ctx), s.engine.Forget(ctx), s.freeOrphans(ctx)); err != nil {
		return r, err
	}
	return r, s.as(restorer(keepLive)).note(ctx, record.AdminRestore, matter{detail: fmt.Sprintf("%d pushes, %d live in the backup", r.Pushes, r.Live)})
}

// restorer returns the actor of a restore.
func restorer(keepLive bool) Actor {
	by := Actor{Role: Operator, UserAgent: "pushbox restore"}
	if keepLive {
		by.UserAgent += " --keep-live"
	}
	return by
}

// restoreAll applies the rule of a restore to pushes, many in one commit.
func (s *Store) restoreAll(ctx context.Context, ps []record.Push, keepLive bool) error {
	by, at := restorer(keepLive), s.time.Read()
	return s.changeEach(ctx, ps, func(id record.ID) record.Rule { return restoreRule(at, s.sealActor(id, by), keepLive) })
}

// changeEach changes each push that still exists by a rule of its own, many in one commit.
func (s *Store) changeEach(ctx context.Context, ps []record.Push, rule func(record.ID) record.Rule) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(mostParallel)
	for _, p := range ps {
		g.Go(func() error {
			_, err := s.change(ctx, p.ID, rule(p.ID))
			return instead(err, record.ErrNotFound, nil)
		})
	}
	return g.Wait()
}
