package admin

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"pushbox/store"
)

// backup makes a copy. Nobody would remove that of a caller who has gone: a start of
// the store does, but that may be long hence.
func backup(ctx context.Context, s *store.Store, _ None, tell Progress) (BackupResult, error) {
	b, err := s.Backup(ctx, "", tell)
	if err != nil {
		return BackupResult{}, err
	}
	path, err := filepath.Abs(b.Path)
	if err = errors.Join(err, ctx.Err()); err != nil {
		return BackupResult{}, errors.Join(err, os.Remove(b.Path))
	}
	return BackupResult{Path: path, Size: b.Size, At: b.At}, nil
}
