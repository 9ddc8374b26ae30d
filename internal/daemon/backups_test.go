package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pushbox/config"
	"pushbox/internal/backup"
	"pushbox/internal/hint"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/record"
)

// A board is a log that may be read while it is written. It wakes its readers.
type board struct {
	mu    sync.Mutex
	text  bytes.Buffer
	lines chan struct{}
}

func (b *board) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines <- struct{}{}
	return b.text.Write(p)
}

func (b *board) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// scheduled are the backups of a configuration.
func scheduled(t *testing.T, cfg config.Config, s *store.Store, log zerolog.Logger) *backups {
	t.Helper()
	return env.Must(newBackups(cfg, s, log))(t)
}

// keptFor makes backups until they have written a line of the log, and returns that.
func keptFor(t *testing.T, cfg config.Config, s *store.Store) string {
	t.Helper()
	log := &board{lines: make(chan struct{}, 100)}
	keeper := begin(t.Context(), scheduled(t, cfg, s, zerolog.New(log)).keep)
	select {
	case <-log.lines:
	case <-soon(t).Done():
	}
	if err := keeper.stop(); err != nil {
		t.Error(err)
	}
	return log.String()
}

func TestABackupThatFailsIsAnErrorInTheLogAndIsTriedAgain(t *testing.T) {
	t.Parallel()
	cfg := settingsFor(env.ShortDir(t))
	cfg.Backup.Schedule, cfg.Backup.Dir = 24*time.Hour, filepath.Join(env.ShortDir(t), "not", "mounted")
	s := opened(t, cfg)
	defer closed(t, s)
	if said := keptFor(t, cfg, s); strings.Count(said, "\n") != 1 || !strings.Contains(said, `"level":"error"`) || !strings.Contains(said, "a backup failed") {
		t.Errorf("the log has %s", said)
	}
	for err, told := range map[error]bool{fmt.Errorf("%w: already", record.ErrBusy): false, record.ErrFull: true, syscall.EROFS: true, syscall.EACCES: true} {
		b := &backups{log: zerolog.Nop(), keeper: &backup.Keeper{
			Dir: t.TempDir(), Every: time.Hour, Keep: 1, Now: time.Now,
			Make: func(context.Context, string) (backup.Copy, error) { return backup.Copy{}, err },
		}}
		wait, got := b.round(t.Context())
		if wait != backupRetry || (got != nil) != told || told && !errors.Is(got, err) {
			t.Errorf("%v: it waits %v, %v", err, wait, got)
		}
		hinted := got != nil && strings.Contains(got.Error(), "ReadWritePaths=")
		if wants := errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.EACCES); hinted != wants {
			t.Errorf("%v: it says %v", err, got)
		}
		if now := b.state(); (now.failed == 1) != told || (now.fault != "") != told || now.done != 0 {
			t.Errorf("%v: the state is %+v", err, now)
		}
	}
}

func TestNoBackupIsMadeWhereNoneIsAskedFor(t *testing.T) {
	t.Parallel()
	cfg := settingsFor(env.ShortDir(t))
	s := opened(t, cfg)
	defer closed(t, s)
	env.OK(t, errors.Join(prepareBackups(cfg, func(n string) { t.Error(n) }), scheduled(t, cfg, s, zerolog.Nop()).keep(t.Context())))
	_, err := os.Stat(cfg.BackupDir())
	env.ErrorIs(t, "the directory", err, os.ErrNotExist)
}

func TestTheStateOfBackupsOutlivesARestart(t *testing.T) {
	t.Parallel()
	cfg := settingsFor(env.ShortDir(t))
	cfg.Backup.Schedule = 24 * time.Hour
	s := opened(t, cfg)
	defer closed(t, s)
	env.OK(t, prepareBackups(cfg, func(string) {}))
	before := time.Now()
	b := scheduled(t, cfg, s, zerolog.Nop())
	if now := b.state(); !now.last.IsZero() {
		t.Errorf("without a backup: %+v", now)
	}
	env.Must(b.round(t.Context()))(t)
	made := b.state()
	if made.last.Before(before) || made.done != 1 || made.failed != 0 || made.fault != "" {
		t.Errorf("after a backup: %+v", made)
	}
	if again := scheduled(t, cfg, s, zerolog.Nop()).state(); !again.last.Equal(made.last.Truncate(time.Second)) || again.done != 0 {
		t.Errorf("after a restart: %+v", again)
	}
}

func TestACommandThatNeverRunsIsNoted(t *testing.T) {
	t.Parallel()
	cfg := settingsFor(env.ShortDir(t))
	cfg.Backup.After = []string{"/bin/true"}
	var noted []string
	if err := prepareBackups(cfg, func(n string) { noted = append(noted, n) }); err != nil || len(noted) != 1 || !strings.Contains(noted[0], "backup.after never runs") {
		t.Errorf("it notes %q, %v", noted, err)
	}
}

func TestRecipientsThatAreNoneStopTheStart(t *testing.T) {
	t.Parallel()
	cfg := settingsFor(env.ShortDir(t))
	cfg.Backup.Recipients = []string{"age1nobody"}
	err := prepareBackups(cfg, func(string) {})
	if err == nil || !strings.Contains(err.Error(), "the setting backup.recipients: recipient 1: ") {
		t.Errorf("got %v", err)
	}
}

func TestAFileInPlaceOfTheDirectoryForBackupsStopsTheStart(t *testing.T) {
	t.Parallel()
	cfg := settingsFor(env.ShortDir(t))
	cfg.Backup.Schedule, cfg.Backup.Dir = time.Hour, filepath.Join(cfg.DataDir, "a.crt")
	env.OK(t, os.WriteFile(cfg.Backup.Dir, nil, 0o600))
	err := prepareBackups(cfg, func(string) {})
	if err == nil || !strings.Contains(err.Error(), "the setting backup.dir: ") || !strings.Contains(hint.Of(err), "directory") {
		t.Errorf("got %v", err)
	}
}
