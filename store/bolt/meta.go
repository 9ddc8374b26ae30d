package bolt

import (
	"bytes"
	"context"
	"time"
)

// KeyRing returns the sealed key ring; nil in a new store.
func (db *DB) KeyRing(ctx context.Context) (sealed []byte, err error) {
	err = db.view(ctx, func(t *tx) error {
		sealed = bytes.Clone(t.get(meta, []byte(metaKeyRing)))
		return nil
	})
	return sealed, err
}

// SetKeyRing replaces the sealed key ring.
func (db *DB) SetKeyRing(ctx context.Context, sealed []byte) error {
	return db.do(ctx, 0, func(t *tx) error {
		return t.put(meta, []byte(metaKeyRing), sealed)
	})
}

// LatestTime is the time last kept by SetLatestTime, in whole milliseconds;
// zero in a new store.
func (db *DB) LatestTime(ctx context.Context) (at time.Time, err error) {
	err = db.view(ctx, func(t *tx) error {
		ms, err := t.latestTime()
		if err == nil && ms > 0 {
			at = time.UnixMilli(int64(ms)).UTC()
		}
		return err
	})
	return at, err
}

// SetLatestTime keeps at, in whole milliseconds, if it is after the time kept.
func (db *DB) SetLatestTime(ctx context.Context, at time.Time) error {
	return db.do(ctx, 0, func(t *tx) error {
		kept, err := t.latestTime()
		if err != nil || milliseconds(at) <= kept {
			return err
		}
		return t.put(meta, []byte(metaLatestTime), uint64Key(milliseconds(at)))
	})
}

// latestTime is the time kept; 0 for none.
func (t *tx) latestTime() (uint64, error) {
	v := t.get(meta, []byte(metaLatestTime))
	if v == nil {
		return 0, nil
	}
	return number(meta, v)
}
