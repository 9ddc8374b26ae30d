package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"pushbox/config"
	"pushbox/internal/backup"
	"pushbox/internal/hint"
	"pushbox/internal/instance"
	"pushbox/store"
	"pushbox/store/bolt"
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
	var keepLive bool
	var identity string
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "Restore a database from a backup",
		Long: `Restore the database of an empty data directory from the backup in FILE, or from
standard input if FILE is -. First put the master key that was in use when the
backup was made in its place. The database appears when it is complete, checked and
on the disk. If the command fails or is interrupted, there is no database.

Every push that was live in the backup comes back expired: it may have been viewed
since, and must not get more views than its limit. Its owner still sees it in the
list, with an entry in its audit log. With --keep-live pushes stay live, and their
audit logs say so.

Accounts and API tokens are as they were. All sessions and downloads have ended, and
waiting messages are dropped.`,
		Example: `  pushbox restore /mnt/backups/box.db
  pushbox restore --identity key.txt box.db.age --data-dir /var/lib/pushbox
  ssh backup.example.com 'cat box.db' | pushbox restore -`,
		Args: arguments("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			loaded, err := a.settings(cmd)
			if err != nil {
				return err
			}
			if err := instance.NotWithPostgres(loaded.Config, "restore", "restore into a directory without database_url, then run `pushbox move`, as docs/scaling.md says"); err != nil {
				return err
			}
			r := restoreJob{app: a, cfg: loaded.Config, name: args[0], keepLive: keepLive}
			if r.with, err = identities(identity); err != nil {
				return err
			}
			return r.explain(r.run(cmd.Context(), cmd.InOrStdin()))
		},
	}
	cmd.Flags().BoolVar(&keepLive, "keep-live", false, "let pushes that were live in the backup stay live")
	addIdentityFlag(cmd, &identity)
	return cmd
}

func addIdentityFlag(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVar(file, "identity", "", "decrypt the backup with the age identity in `FILE`")
}

// identities reads the file that --identity names; none if it is empty.
func identities(file string) (backup.Identities, error) {
	if file == "" {
		return backup.Identities{}, nil
	}
	all, err := backup.LoadIdentities(file)
	if err != nil {
		return all, hint.With(err, "give the file that age-keygen wrote, with --identity")
	}
	return all, nil
}

// run makes all checks that it can make before it writes anything.
func (r *restoreJob) run(ctx context.Context, stdin io.Reader) (err error) {
	if err := r.wantEmpty(); err != nil {
		return err
	}
	if r.key, _, err = instance.MasterKey(r.cfg, true); err != nil {
		return err
	}
	return r.read(stdin, func(content io.Reader, size int64) error {
		if err := instance.PrepareDir(r.cfg.DataDir, r.app.say); err != nil {
			return err
		}
		return r.fill(ctx, content, size)
	})
}

// read decrypts the backup, and gives its content to use, with its size in bytes; 0 if that
// is unknown. It refuses another key early where it can.
func (r *restoreJob) read(stdin io.Reader, use func(content io.Reader, size int64) error) (err error) {
	from, size, err := r.open(stdin)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	content, encrypted, err := backup.Decrypt(from, r.with)
	if err != nil {
		return err
	}
	if encrypted {
		size = 0 // of what is in it, which is not known
	} else if r.name != standard {
		if err := r.wantKey(r.name); err != nil {
			return err
		}
	}
	return use(content, size)
}

// wantEmpty refuses a data directory that has a database.
func (r *restoreJob) wantEmpty() error {
	_, err := os.Lstat(instance.Database(r.cfg))
	switch {
	case err == nil:
		return r.notEmpty()
	case errors.Is(err, fs.ErrNotExist):
		return nil
	default:
		return err
	}
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
