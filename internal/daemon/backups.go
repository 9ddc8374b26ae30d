package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"pushbox/config"
	"pushbox/internal/backup"
	"pushbox/internal/hint"
	"pushbox/internal/instance"
	"pushbox/store"
	"pushbox/store/bolt"
	"pushbox/store/record"
)

// backupRetry is how long after a failed backup the next is tried, at first.
const backupRetry = time.Minute

const backupDirHint = "let the server's user write to backup.dir; under systemd, also name it in ReadWritePaths= of the service (docs/install.md)"

// prepareBackups refuses settings with which every backup would fail. If backups are
// scheduled, it makes their directory, and the data directory if that is above it and
// missing.
func prepareBackups(cfg config.Config, note func(string)) error {
	if _, err := backup.ParseRecipients(cfg.Backup.Recipients, nil); err != nil {
		return hint.With(fmt.Errorf("the setting backup.recipients: %w", err), "give each as age-keygen -y prints it")
	}
	if cfg.Backup.Schedule == 0 {
		if len(cfg.Backup.After) > 0 {
			note("backup.after never runs, since backup.schedule is 0")
		}
		return nil
	}
	if info, err := os.Stat(cfg.BackupDir()); err == nil && !info.IsDir() {
		return hint.With(fmt.Errorf("the setting backup.dir: %s is a file, and not a directory", cfg.BackupDir()), "name a directory in backup.dir")
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

// backups makes the scheduled backups. A nil one makes none.
type backups struct {
	keeper *backup.Keeper // nil: none are scheduled
	after  []string       // runs after each; empty: nothing does
	log    zerolog.Logger

	mu  sync.Mutex
	now backupState
}

type backupState struct {
	last         time.Time // when the newest one was begun; zero: there is none
	fault        string    // why the last one failed; empty: none failed since the last success
	done, failed uint64    // since the server started

	afterFault            string // why the last run of backup.after failed; empty: it did not
	afterDone, afterFails uint64 // runs of it
}

func newBackups(cfg config.Config, s *store.Store, log zerolog.Logger) (*backups, error) {
	b := &backups{log: log, after: cfg.Backup.After}
	if cfg.Backup.Schedule == 0 {
		return b, nil
	}
	recipients, err := backup.ParseRecipients(cfg.Backup.Recipients, nil)
	if err != nil {
		return nil, err
	}
	b.keeper = &backup.Keeper{
		Dir: cfg.BackupDir(), Every: cfg.Backup.Schedule, Keep: cfg.Backup.Keep, Now: time.Now,
		Writer: backup.Writer{Recipients: recipients, CheckSpace: bolt.CheckSpace},
		Make: func(ctx context.Context, path string) (backup.Copy, error) {
			b, err := s.Backup(ctx, store.Actor{Role: store.System}, path, func(int64, int64) {})
			return backup.Copy{Path: b.Path, Size: b.Size, Key: b.Key}, err
		},
	}
	b.now.last, err = b.keeper.Newest()
	return b, err
}

// state returns the results of the backups so far.
func (b *backups) state() backupState {
	if b == nil {
		return backupState{}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now
}

func (b *backups) keep(ctx context.Context) error {
	if b == nil || b.keeper == nil {
		return nil
	}
	return loop(ctx, b.log, "a backup", nil, b.round)
}

// round makes a backup if one is due. While the store is being compacted, or writes come
// too fast for a copy, it puts the backup off and logs nothing.
func (b *backups) round(ctx context.Context) (wait time.Duration, err error) {
	r, err := b.keeper.Round(ctx)
	switch {
	case errors.Is(err, record.ErrBusy):
		return backupRetry, nil
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		err = fmt.Errorf("%w: %s", err, backupDirHint)
	}
	b.note(r, err)
	if r.Made != "" {
		b.log.Info().Str("file", r.Made).Int64("bytes", r.Size).Str("key", r.Key).Msg("made a backup")
		b.follow(ctx, r.Made)
	}
	if err != nil {
		return backupRetry, err
	}
	return r.Wait, nil
}

func (b *backups) note(r backup.Round, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.Made != "" {
		b.now.last, b.now.done, b.now.fault = r.At, b.now.done+1, ""
	}
	if err != nil {
		b.now.failed, b.now.fault = b.now.failed+1, err.Error()
	}
}
