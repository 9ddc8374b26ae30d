package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"pushbox/config"
	"pushbox/internal/backup"
	"pushbox/store"
	"pushbox/store/bolt"
)

// backupRetry is how long after a failed backup the next is tried, at first.
const backupRetry = time.Minute

// prepareBackups refuses settings by which no backup could be made, and makes the
// directory for backups where there are to be any. Making it also makes the data
// directory where that is above it, with the same mode.
func prepareBackups(cfg config.Config, note func(string)) error {
	if _, err := backup.ParseRecipients(cfg.Backup.Recipients, nil); err != nil {
		return withHint(fmt.Errorf("the setting backup.recipients: %w", err), "give each as age-keygen -y prints it")
	}
	if cfg.Backup.Schedule == 0 {
		return nil
	}
	made, err := makeDir(cfg.BackupDir())
	if err != nil {
		return fmt.Errorf("make the directory for backups: %w", err)
	}
	if made {
		note("made the directory for backups " + cfg.BackupDir())
	}
	return nil
}

// keepBackups makes backups as the settings say, until ctx ends.
func keepBackups(ctx context.Context, cfg config.Config, s *store.Store, log zerolog.Logger) error {
	if cfg.Backup.Schedule == 0 {
		return nil
	}
	recipients, err := backup.ParseRecipients(cfg.Backup.Recipients, nil)
	if err != nil {
		return err
	}
	k := &backup.Keeper{
		Dir: cfg.BackupDir(), Every: cfg.Backup.Schedule, Keep: cfg.Backup.Keep, Now: time.Now,
		Writer: backup.Writer{Recipients: recipients, Room: bolt.Room},
		Make: func(ctx context.Context, path string) (string, int64, error) {
			b, err := s.Backup(ctx, path, func(int64, int64) {})
			return b.Path, b.Size, err
		},
	}
	return loop(ctx, log, "a backup", nil, func(ctx context.Context) (time.Duration, error) {
		return backUp(ctx, k, log)
	})
}

// backUp makes a backup if one is due. Where the store is compacted, or so much is
// written that no copy can be made, it is tried again without a word.
func backUp(ctx context.Context, k *backup.Keeper, log zerolog.Logger) (wait time.Duration, err error) {
	r, err := k.Round(ctx)
	if r.Made != "" {
		log.Info().Str("file", r.Made).Int64("bytes", r.Size).Msg("made a backup")
	}
	switch {
	case errors.Is(err, store.ErrBusy):
		return backupRetry, nil
	case err != nil:
		return backupRetry, err
	}
	return r.Wait, nil
}
