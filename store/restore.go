package store

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"
)

// A Restored tells what Restore did.
type Restored struct {
	Pushes int // in all
	Live   int // of them: live in the backup, and ended now, or kept
}

// restoreParallel is how many changes may share a commit.
const restoreParallel = 512

// Restore makes a store that was just opened over a copy of a backup one to go on
// with. Every push that is live in it ends, as by hand, since it may have been
// viewed since the backup was made; or stays live where keepLive says so. Its audit
// log tells either. Files that wait for their last download, sessions, grants and
// messages that wait to be sent are gone.
//
// A *DamageError if the copy is not as it should be; then nothing was changed. Cut
// short, it is to be done again from the backup.
func (s *Store) Restore(ctx context.Context, keepLive bool) (r Restored, err error) {
	if err := verify(ctx, s.engine, s.rootKey()); err != nil {
		return r, err
	}
	for last, more := (ID{}), true; more; {
		ps, err := s.engine.Scan(ctx, last, listBatch)
		if err != nil {
			return r, err
		}
		if err := s.restoreAll(ctx, ps, keepLive); err != nil {
			return r, fmt.Errorf("restore pushes: %w", err)
		}
		for _, p := range ps {
			last = p.ID
			if p.Live() {
				r.Live++
			}
		}
		r.Pushes += len(ps)
		more = len(ps) == listBatch
	}
	return r, errors.Join(s.engine.Forget(ctx), s.freeOrphans(ctx))
}

// restoreAll applies the rule of a restore to pushes, many in one commit.
func (s *Store) restoreAll(ctx context.Context, ps []Push, keepLive bool) error {
	by, at := Actor{UserAgent: "pushbox restore"}, s.time.read()
	if keepLive {
		by.UserAgent += " --keep-live"
	}
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
