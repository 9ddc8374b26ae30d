package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"pushbox/internal/durable"
	"pushbox/internal/hint"
	"pushbox/internal/humanize"
	"pushbox/internal/instance"
	"pushbox/internal/rights"
	"pushbox/store/record"
)

func (a *app) backupVerify() *cobra.Command {
	return a.restoreCommand(&cobra.Command{
		Use:   "verify FILE",
		Short: "Check a backup without restoring it",
		Long: `Check the backup in FILE, or on standard input if FILE is -, as "pushbox check --deep"
checks a database, and say what it holds. It needs the master key that was in use
when the backup was made, and for an encrypted backup the identity of a recipient. To
name another key than that of the settings: PUSHBOX_MASTER_KEY_FILE=FILE.

The check reads a copy in the data directory, and removes it at the end. If there is
none, or it belongs to another user than root, who runs the command, the copy is in
the directory for temporary files (TMPDIR). A running server continues.

The exit code is 3 if the backup is damaged.`,
		Example: `  pushbox backup verify /mnt/backups/box.db
  restic dump latest /box.db | pushbox backup verify -
  pushbox backup verify --identity key.txt box.db.age`,
	}, func(ctx context.Context, r *restoreJob, stdin io.Reader) error {
		return r.notVerified(r.verify(ctx, stdin))
	})
}

// verify checks a copy of the backup, and reports its contents.
func (r *restoreJob) verify(ctx context.Context, stdin io.Reader) (err error) {
	if r.key, _, err = instance.MasterKey(r.cfg, true); err != nil {
		return err
	}
	dir := r.cfg.DataDir // where no other user can write
	if _, missing := os.Stat(dir); missing == nil && rights.Taken() == nil {
		return r.verifyIn(ctx, dir, stdin)
	}
	return rights.AsCaller(func() error {
		if dir, err = os.MkdirTemp("", "pushbox-verify-"); err != nil {
			return err
		}
		return errors.Join(r.verifyIn(ctx, dir, stdin), os.RemoveAll(dir))
	})
}

// verifyIn checks a copy in a directory.
func (r *restoreJob) verifyIn(ctx context.Context, dir string, stdin io.Reader) error {
	path := filepath.Join(dir, "pushbox-verify")
	temp, err := r.copyBackup(ctx, stdin, path, func() error { return nil })
	if err != nil {
		return err
	}
	return errors.Join(r.examine(ctx, temp), durable.RemoveLeftovers(path)) // including the files that an upgrade of the copy kept
}

// examine checks the copy.
func (r *restoreJob) examine(ctx context.Context, temp string) (err error) {
	s, err := r.openCopy(ctx, temp)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, instance.Close(ctx, s)) }()
	p := r.app.progress("checking")
	problems, read, err := s.CheckDeep(ctx, p.set)
	p.end()
	if err != nil {
		return err
	}
	if len(problems) > 0 {
		return r.listDamage(problems)
	}
	held, err := s.Count(ctx)
	if err != nil {
		return err
	}
	r.app.sayf("%s is as of %s, and holds %s (%d live) and %s", r.source(), held.Latest.Format(time.RFC3339),
		humanize.Count(held.Pushes, "push", "pushes"), held.Live, humanize.Count(held.Accounts, "account", "accounts"))
	r.app.sayf("verified: every page and record is intact, and the master key (ID %s) opens it", r.key.ID())
	r.app.sayCoverage(read)
	return nil
}

// notVerified lists damage as problems, and adds a hint to any other error.
func (r *restoreJob) notVerified(err error) error {
	switch {
	case errors.Is(err, record.ErrCorrupt):
		return r.listDamage([]string{err.Error()})
	case errors.Is(err, record.ErrKey):
		return hint.With(err, "name the key that was in use when the backup was made: PUSHBOX_MASTER_KEY_FILE=FILE pushbox backup verify ...")
	}
	return r.explain(err)
}

func (r *restoreJob) listDamage(problems []string) error {
	err := r.app.listProblems(problems)
	return hint.With(fmt.Errorf("%s is damaged: %w", r.source(), err), "do not rely on it: make another backup, and check the disk that it is on")
}
