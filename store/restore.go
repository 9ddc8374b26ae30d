package store

import (
	"context"
	"errors"
	"fmt"

	"pushbox/store/clock"
	"pushbox/store/cold"
	"pushbox/store/record"
	"pushbox/store/seal"

	"golang.org/x/sync/errgroup"
)

// Restored counts the pushes that Restore changed.
type Restored struct {
	Pushes int // all of them
	Live   int // those that were live in the backup, kept or not
}

// mostParallel is how many changes of changeEach may share a commit.
const mostParallel = 512

// Restore prepares a store that was opened over a copy of a backup. It ends every live push as by a
// delete, since the push may have been viewed after the backup was made, or keeps it live if
// keepLive is set; its audit log shows which. It ends all requests, and removes sessions, grants,
// waiting messages, and the files of expired pushes.
//
// ErrCorrupt if a check of the copy finds a problem; then nothing was changed. After an interrupted
// Restore, the caller must begin again with the backup.
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
	if err := errors.Join(s.endRequests(ctx), cold.Forget(ctx, s.engine), s.freeOrphans(ctx)); err != nil {
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

// changeEach applies a rule to each push that still exists, many in one commit.
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

// A MovePart is a phase of a move.
type MovePart uint8

// The phases of a move, in their order.
const (
	MoveCopies MovePart = iota
	MoveCompares
)

// A move calls a MoveWatch, from one goroutine, with the bytes done and the total of a phase. The
// total of the first phase is an estimate.
type MoveWatch func(part MovePart, done, total int64)

// Move copies all records of an engine into an empty one, and compares the two record by record.
// Nothing else may use them meanwhile. Then it calls last, and commits the copy if that returns
// nil. It returns the number of records.
//
// Errors: ErrExists if the other engine is not empty; ErrSchema if an older version of
// pushbox wrote the first one; ErrKey; ErrCorrupt if the copy differs. After an error the
// first engine is unchanged, and the copy must not be used: see DumpEngine.Load.
func Move(ctx context.Context, from, to record.DumpEngine, key seal.RootKey, last func() error, watch MoveWatch) (n int64, err error) {
	ring, have, err := unlock(ctx, from, key, clock.NewSystem())
	switch {
	case err != nil:
		return 0, err
	case have != presentRing:
		return 0, fmt.Errorf("%w: start this version of pushbox on it once", record.ErrSchema)
	}
	there, err := to.KeyRing(ctx)
	switch {
	case err != nil:
		return 0, err
	case there != nil:
		return 0, fmt.Errorf("the target database %w: it has a key ring, so another installation uses or used it", record.ErrExists)
	}
	if err := to.Unlock(ctx, ring, nil, nil); err != nil {
		return 0, err
	}
	space, err := from.Stats(ctx)
	if err != nil {
		return 0, err
	}
	size := int64(0)
	copied := watched(from.Dump(ctx), func(done int64) {
		size = done
		watch(MoveCopies, done, max(done, space.Size-space.Unused))
	})
	err = to.Load(ctx, copied, func(kept record.Records) (err error) {
		if n, err = SameRecords(from.Dump(ctx), kept, func(done int64) { watch(MoveCompares, done, size) }); err != nil {
			return err
		}
		return last()
	})
	return n, err
}

// watched yields the records and calls done with their bytes.
func watched(all record.Records, done func(bytes int64)) record.Records {
	return func(yield func(record.DumpRecord, error) bool) {
		bytes := int64(0)
		for r, err := range all {
			bytes += int64(len(r.Key) + len(r.Value))
			done(bytes)
			if !yield(r, err) {
				return
			}
		}
	}
}
