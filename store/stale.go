package store

import (
	"context"
	"errors"
)

// maxStale is how often an operation begins again because another server has replaced the
// keys meanwhile. That happens twice in a rotation.
const maxStale = 4

// sealedUnder is the key of what sealing puts into a context.
type sealedUnder struct{}

// SealedUnder returns the version of the row keys that were the newest when the operation of
// ctx began to seal what it keeps; ok is false if it seals nothing. All that it seals is under
// the keys of that moment or later ones. An engine that several servers share keeps nothing of
// an operation once this server uses newer row keys, and returns ErrStaleKeys: another server
// may have sealed everything anew already, and drop the older keys.
func SealedUnder(ctx context.Context) (version uint16, ok bool) {
	version, ok = ctx.Value(sealedUnder{}).(uint16)
	return version, ok
}

// sealing runs op, which seals something and has the engine keep it. Keys that it may have
// used are not dropped before it ends. If another server has replaced them, nothing of op was
// kept, and it runs again: it must begin by reading and sealing anew. Calls may be nested:
// then the outermost op runs again.
func sealing[T any](ctx context.Context, s *Store, op func(ctx context.Context) (T, error)) (v T, err error) {
	defer s.epochs.leave(s.epochs.enter())
	if _, nested := SealedUnder(ctx); nested {
		return op(ctx)
	}
	for range maxStale {
		v, err = op(context.WithValue(ctx, sealedUnder{}, s.ring.Load().RowVersion()))
		if !errors.Is(err, ErrStaleKeys) {
			return v, err
		}
	}
	return v, err
}

// keeping is sealing for an operation without a result.
func (s *Store) keeping(ctx context.Context, op func(ctx context.Context) error) error {
	_, err := sealing(ctx, s, func(ctx context.Context) (struct{}, error) { return struct{}{}, op(ctx) })
	return err
}
