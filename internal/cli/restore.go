package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"pushbox/config"
	"pushbox/internal/backup"
	"pushbox/internal/durable"
	"pushbox/internal/hint"
	"pushbox/internal/humanize"
	"pushbox/internal/instance"
	"pushbox/internal/rights"
	"pushbox/store"
	"pushbox/store/bolt"
	"pushbox/store/record"
	"pushbox/store/seal"
)

// A restoreJob restores a backup to a data directory.
type restoreJob struct {
	app      *app
	cfg      config.Config
	name     string // of the backup
	keepLive bool
	with     backup.Identities
	key      seal.RootKey
}

func (a *app) restore() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "Restore a database from a backup",
		Long: `Restore the database of an empty data directory from the backup in FILE, or from
standard input if FILE is -. First put the master key in its place: the one that was
in use when the backup was made. The database appears when it is complete, checked and
on the disk. If the command fails or is interrupted, there is no database.

Every push that was live in the backup comes back expired: it may have been viewed
since, and must not get more views than its limit. Its owner still sees it in the
list, with an entry in its audit log. With --keep-live pushes stay live, and their
audit logs say so.

Accounts and API tokens are as they were in the backup. All sessions and downloads have
ended, and waiting messages are dropped.`,
		Example: `  pushbox restore /mnt/backups/box.db
  pushbox restore --identity key.txt box.db.age --data-dir /var/lib/pushbox
  ssh backup.example.com 'cat box.db' | pushbox restore -`,
	}
	keepLive := cmd.Flags().Bool("keep-live", false, "keep the pushes live that were live in the backup")
	return a.restoreCommand(cmd, func(ctx context.Context, r *restoreJob, stdin io.Reader) error {
		if err := instance.NotWithPostgres(r.cfg, "restore", "restore into a directory without database_url, then run `pushbox move`, as docs/scaling.md says"); err != nil {
			return err
		}
		r.keepLive = *keepLive
		return r.explain(r.run(ctx, stdin))
	})
}

// restoreCommand makes cmd do something with the backup FILE, which it may have to decrypt.
func (a *app) restoreCommand(cmd *cobra.Command, do func(ctx context.Context, r *restoreJob, stdin io.Reader) error) *cobra.Command {
	identity := cmd.Flags().String("identity", "", "decrypt the backup with the age identity in `FILE`")
	cmd.RunE = a.configured(func(cmd *cobra.Command, args []string, cfg config.Config) (err error) {
		r := &restoreJob{app: a, cfg: cfg, name: args[0]}
		if *identity != "" {
			r.with, err = rights.Read(*identity, func() (backup.Identities, error) { return backup.LoadIdentities(*identity) })
			if err != nil {
				return hint.With(err, "give the file that age-keygen wrote, with --identity")
			}
		}
		return do(cmd.Context(), r, cmd.InOrStdin())
	})
	return cmd
}

// run restores the backup. It makes all checks that it can make before it writes anything.
func (r *restoreJob) run(ctx context.Context, stdin io.Reader) (err error) {
	path := instance.Database(r.cfg)
	if _, err := os.Lstat(path); err == nil {
		return r.notEmpty()
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if r.key, _, err = instance.MasterKey(r.cfg, true); err != nil {
		return err
	}
	temp, err := r.copyBackup(ctx, stdin, path, func() error { return instance.PrepareDir(r.cfg.DataDir, r.app.say) })
	if err != nil {
		return err
	}
	if err := r.publish(ctx, temp, path); err != nil {
		return errors.Join(err, durable.Scrub(temp))
	}
	return durable.RemoveLeftovers(path) // a copy from before an upgrade of it
}

// copyBackup decrypts the backup into a temporary file beside path, and removes leftovers of a
// killed command. It refuses another key, early if it can, and then calls prepare.
func (r *restoreJob) copyBackup(ctx context.Context, stdin io.Reader, path string, prepare func() error) (temp string, err error) {
	var from io.ReadCloser
	var size int64
	err = rights.Beside(r.file(), func() (err error) { from, size, err = r.open(stdin); return err })
	if err != nil {
		return "", err
	}
	defer func() { _ = from.Close() }() // it was only read
	content, encrypted, err := backup.Decrypt(from, r.with)
	if encrypted {
		size = 0 // of what is in it, which is not known
	} else if err == nil && r.name != standard {
		err = rights.Beside(r.file(), func() error { return r.wantKey(r.name) })
	}
	if err == nil {
		err = prepare()
	}
	if err == nil {
		err = durable.RemoveLeftovers(path)
	}
	if err != nil {
		return "", err
	}
	return r.receive(ctx, path, content, size)
}

func (r *restoreJob) notEmpty() error {
	return hint.With(fmt.Errorf("there is a database in %s, which a restore does not replace", r.cfg.DataDir),
		"name an empty directory with --data-dir; or stop the server and move %s away", instance.Database(r.cfg))
}

// open opens the backup and returns its size in bytes; 0 if that is unknown.
func (r *restoreJob) open(stdin io.Reader) (io.ReadCloser, int64, error) {
	if r.name == standard {
		if r.app.console.terminal {
			return nil, 0, hint.With(usagef("standard input is a terminal"), "send the backup to standard input, or name a FILE")
		}
		return io.NopCloser(stdin), 0, nil
	}
	info, err := os.Stat(r.name) // to open a pipe would wait for a writer
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, hint.With(usagef("%s is not a plain file", r.name), "send the output of the program to standard input, and use - as FILE")
	}
	f, err := os.Open(r.name)
	if err != nil {
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// wantKey refuses a file that the master key does not open.
func (r *restoreJob) wantKey(path string) error {
	sealed, err := bolt.SealedRing(path)
	if err != nil {
		return err
	}
	return store.CheckKey(r.key, sealed)
}

// publish makes the copy of a backup the database.
func (r *restoreJob) publish(ctx context.Context, temp, path string) error {
	done, err := r.makeUsable(ctx, temp)
	if err != nil {
		return err
	}
	published, err := durable.Publish(temp, path)
	if err == nil && !published {
		err = r.notEmpty() // a database may have appeared
	}
	if err == nil {
		r.say(done)
	}
	return err
}

const copyStep = 1 << 20 // bytes

// receive writes the contents of a backup to a temporary file beside path, and refuses another key.
// It checks repeatedly that there is space to continue, because the size of standard input is not
// known in advance.
func (r *restoreJob) receive(ctx context.Context, path string, content io.Reader, size int64) (temp string, err error) {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, durable.TempPattern(path))
	if err != nil {
		return "", err
	}
	p := r.app.progress("reading")
	err = copyWatched(ctx, f, content, func() error { return bolt.CheckSpace(dir) }, func(done int64) { p.set(done, size) })
	p.end()
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		err = fmt.Errorf("read the backup: %w", err)
	} else if err = r.wantKey(f.Name()); err == nil {
		return f.Name(), nil
	}
	return "", errors.Join(err, durable.Scrub(f.Name()))
}

// copyWatched copies everything, until ctx ends or there is no room for more. It reports how many
// bytes were copied.
func copyWatched(ctx context.Context, to io.Writer, from io.Reader, room func() error, tell func(done int64)) error {
	buf := make([]byte, copyStep)
	for done := int64(0); ; tell(done) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := room(); err != nil {
			return err
		}
		n, err := from.Read(buf)
		if _, err := to.Write(buf[:n]); err != nil {
			return err
		}
		done += int64(n)
		if errors.Is(err, io.EOF) {
			tell(done)
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// openCopy opens the copy of a backup as a store.
func (r *restoreJob) openCopy(ctx context.Context, temp string) (*store.Store, error) {
	engine, _, err := bolt.Open(ctx, bolt.Options{Path: temp})
	if err != nil {
		return nil, err
	}
	s, err := store.Open(ctx, engine, r.key, instance.StoreOptions(r.cfg))
	if err != nil {
		return nil, errors.Join(err, engine.Close())
	}
	return s, nil
}

// makeUsable turns the copy into a database that a server can open.
func (r *restoreJob) makeUsable(ctx context.Context, temp string) (done store.Restored, err error) {
	s, err := r.openCopy(ctx, temp)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, instance.Close(ctx, s)) }()
	if done, err = s.Restore(ctx, r.keepLive); err != nil {
		return done, err
	}
	_, _, err = s.Compact(ctx, store.Actor{Role: store.Operator}, func(int64, int64) {})
	if errors.Is(err, record.ErrFull) { // then destroyed data stays in free pages for a while, sealed
		err = nil
	}
	return done, err
}

// file returns the path of the backup; empty for standard input.
func (r *restoreJob) file() string {
	if r.name == standard {
		return ""
	}
	return r.name
}

// source returns the name of the backup, for messages.
func (r *restoreJob) source() string {
	if r.name == standard {
		return "standard input"
	}
	return r.name
}

// say reports the result.
func (r *restoreJob) say(done store.Restored) {
	r.app.sayf("restored %s from %s to %s", humanize.Count(done.Pushes, "push", "pushes"), r.source(), r.cfg.DataDir)
	switch {
	case done.Live == 0:
		r.app.say("none of them was live in the backup")
	case r.keepLive:
		r.app.sayf("live in the backup: %d. Such pushes can be viewed again, even if they ended since; their audit logs say so", done.Live)
	default:
		r.app.sayf("live in the backup: %d. Such pushes have expired now, because they may have been viewed since; their audit logs say so", done.Live)
	}
	r.app.say("accounts and API tokens are as they were in the backup; all sessions have ended")
}

// explain adds a hint to an error of a restore.
func (r *restoreJob) explain(err error) error {
	missing, identity := (*instance.MissingKeyError)(nil), "name the file with the identity of a recipient: --identity FILE"
	if errors.As(err, &missing) {
		return hint.With(fmt.Errorf("the key file %s is missing, and a backup does not contain the key", missing.Path),
			"put the key that was in use when the backup was made into %s (mode 600), then run the command again", missing.Path)
	}
	if errors.Is(err, record.ErrCorrupt) {
		err = fmt.Errorf("%s: %w", r.source(), err)
	}
	return advise(err,
		knownHint{record.ErrKey, "the key in use here (" + instance.KeyPlace(r.cfg) + ") is a different one: replace it with the key that was in use when the backup was made"},
		knownHint{backup.ErrEncrypted, identity},
		knownHint{backup.ErrIdentity, identity},
		knownHint{backup.ErrDamaged, "use a complete copy of it, or another backup"},
		knownHint{fs.ErrNotExist, "check the path of the backup"},
		knownHint{record.ErrCorrupt, "the file is damaged, or is not a backup; restore another one"},
		knownHint{context.Canceled, "it was interrupted, and there is no database; run the command again"})
}
