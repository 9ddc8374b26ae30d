package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"pushbox/config"
	"pushbox/internal/backup"
	"pushbox/internal/hint"
	"pushbox/internal/instance"
	"pushbox/store"
	"pushbox/store/bolt"
)

// backupRetry is how long after a failed backup the next is tried, at first.
const backupRetry = time.Minute

// backupDirHint is for a directory that the server cannot write to.
const backupDirHint = "let the server's user write to backup.dir; under systemd, also name it in ReadWritePaths= of the service (docs/install.md)"

// prepareBackups refuses settings with which every backup would fail. If backups are
// scheduled, it makes their directory, and the data directory if that is above it and
// missing.
func prepareBackups(cfg config.Config, note func(string)) error {
	if _, err := backup.ParseRecipients(cfg.Backup.Recipients, nil); err != nil {
		return hint.With(fmt.Errorf("the setting backup.recipients: %w", err), "give each as age-keygen -y prints it")
	}
	if cfg.Backup.Schedule == 0 {
		return nil
	}
	made, err := instance.MakeDir(cfg.BackupDir())
	if err != nil {
		return hint.With(fmt.Errorf("make the directory for backups: %w", err), "%s", backupDirHint)
	}
	if made {
		note("made the directory for backups " + cfg.BackupDir())
	}
	return nil
}

// keepBackups makes scheduled backups until ctx ends.
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
		Writer: backup.Writer{Recipients: recipients, CheckSpace: bolt.CheckSpace},
		Make: func(ctx context.Context, path string) (string, int64, error) {
			b, err := s.Backup(ctx, store.Actor{Role: store.System}, path, func(int64, int64) {})
			return b.Path, b.Size, err
		},
	}
	return loop(ctx, log, "a backup", nil, func(ctx context.Context) (time.Duration, error) {
		return backUp(ctx, k, log)
	})
}

// backUp makes a backup if one is due. While the store is being compacted, or writes come
// too fast for a copy, it puts the backup off and logs nothing.
func backUp(ctx context.Context, k *backup.Keeper, log zerolog.Logger) (wait time.Duration, err error) {
	r, err := k.Round(ctx)
	if r.Made != "" {
		log.Info().Str("file", r.Made).Int64("bytes", r.Size).Msg("made a backup")
	}
	switch {
	case errors.Is(err, store.ErrBusy):
		return backupRetry, nil
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return backupRetry, fmt.Errorf("%w: %s", err, backupDirHint)
	case err != nil:
		return backupRetry, err
	}
	return r.Wait, nil
}
