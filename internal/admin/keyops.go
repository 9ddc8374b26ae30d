package admin

import (
	"context"

	"pushbox/store"
)

// The operations on the master key.
var (
	// KeyID tells which master key the store is open under, without telling the key.
	KeyID = Op[None, Key]{name: "key/id", do: keyID}
	// KeyRotate puts a new master key in the place of the one that is in use:
	// store.ErrDenied if its file cannot be replaced.
	KeyRotate = Op[Rotation, store.KeyRotation]{name: "key/rotate", do: keyRotate}
)

func keyID(_ context.Context, s *store.Store, _ None) (Key, error) {
	return Key{ID: s.KeyID()}, nil
}

func keyRotate(ctx context.Context, s *store.Store, in Rotation) (store.KeyRotation, error) {
	return s.RotateKey(ctx, in.DiscardOld)
}

func checkDeep(ctx context.Context, s *store.Store, _ None, tell Progress) (DeepResult, error) {
	problems, c, err := s.CheckDeep(ctx, tell)
	return DeepResult{Problems: problems, Coverage: c}, err
}
