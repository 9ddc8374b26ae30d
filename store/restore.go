package store

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"
)

// Restored is what Restore did.
type Restored struct {
	Pushes int // all of them
	Live   int // those that were live in the backup, whether they are kept or not
}

// restoreParallel is how many changes may share a commit.
const restoreParallel = 512

// Restore prepares a store that was opened over a copy of a backup. It ends every live
// push as by a delete, since the push may have been viewed after the backup was made,
// or keeps it live if keepLive is set; its audit log shows which. It removes sessions,
// grants, messages that wait, and files that waited for their last download.
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
	if err := errors.Join(s.engine.Forget(ctx), s.freeOrphans(ctx)); err != nil {
		return r, err
	}
	return r, s.as(restorer(keepLive)).note(ctx, AdminRestore, matter{detail: fmt.Sprintf("%d pushes, %d live in the backup", r.Pushes, r.Live)})
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
func (s *Store) restoreAll(ctx context.Context, ps []Push, keepLive bool) error {
	by, at := restorer(keepLive), s.time.Read()
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(restoreParallel)
	for _, p := range ps {
		g.Go(func() error {
			_, err := s.change(ctx, p.ID, restoreRule(at, s.sealActor(p.ID, by), keepLive))
			return err
		})
	}
	return g.Wait()
}
