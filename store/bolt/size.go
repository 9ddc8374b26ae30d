package bolt

import (
	"context"

	"pushbox/store"
)

// Sized returns the push, and how many bytes its sealed payload has; 0 where there is
// none. store.ErrNotFound if there is no such push.
func (db *DB) Sized(ctx context.Context, id store.ID) (p store.Push, payload int, err error) {
	err = db.view(ctx, func(t *tx) error {
		payload = len(t.get(payloads, id[:]))
		p, err = t.push(id)
		return err
	})
	return p, payload, err
}
