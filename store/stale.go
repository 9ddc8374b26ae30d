package store

import (
	"context"
	"errors"

	"pushbox/store/record"
)

// maxStale is how often an operation begins again because another server has replaced the
// keys meanwhile. That happens twice in a rotation.
const maxStale = 4

// sealing runs op, which seals something and has the engine keep it. Keys that it may have
// used are not dropped before it ends. If another server has replaced them, nothing of op was
// kept, and it runs again: it must begin by reading and sealing anew. Calls may be nested:
// then the outermost op runs again.
func sealing[T any](ctx context.Context, s *Store, op func(ctx context.Context) (T, error)) (v T, err error) {
	defer s.epochs.leave(s.epochs.enter())
	if _, nested := record.SealedUnder(ctx); nested {
		return op(ctx)
	}
	for range maxStale {
		v, err = op(record.SealUnder(ctx, s.ring.Load().RowVersion()))
		if !errors.Is(err, record.ErrStaleKeys) {
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

// instead returns other where err is is, else err.
func instead(err, is, other error) error {
	if errors.Is(err, is) {
		return other
	}
	return err
}

func invalidField(field, message string) error {
	return &record.InvalidError{Fields: map[string][]string{field: {message}}}
}
