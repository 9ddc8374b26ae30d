package store

import (
	"context"
	"fmt"

	"pushbox/store/clock"
	"pushbox/store/record"
	"pushbox/store/seal"
)

// A MovePart is a part of a move.
type MovePart uint8

// The parts of a move, in their order.
const (
	MoveCopies MovePart = iota
	MoveCompares
)

// A MoveWatch is called by a move, from one goroutine, with bytes done and bytes in all of a
// part. The total of the first part is an estimate.
type MoveWatch func(part MovePart, done, total int64)

// Move copies all that an engine keeps into an empty one, and compares the two record by
// record. Nothing else may use them meanwhile. Then it calls last, and keeps the copy for
// good if that returns nil. It returns the number of records.
//
// Errors: ErrExists if the other engine is not empty; ErrSchema if an older version of
// pushbox wrote the first one; ErrKey; ErrCorrupt if the copy differs. After an error the
// first engine is as it was, and what was copied must not be used: DumpEngine.Load says what
// became of it.
func Move(ctx context.Context, from, to record.Engine, key seal.RootKey, last func() error, watch MoveWatch) (n int64, err error) {
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
		return 0, fmt.Errorf("the database to move to %w: it has a key ring, so it is in use or was", record.ErrExists)
	}
	if err := to.Unlock(ctx, ring, nil); err != nil {
		return 0, err
	}
	space, err := from.Space(ctx)
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

// watched calls done with the bytes of the records that were taken.
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
