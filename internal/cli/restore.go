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
	"pushbox/store"
	"pushbox/store/bolt"
	"pushbox/store/seal"
)

// A restoring is a backup on its way to a data directory.
type restoring struct {
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
		Short: "Make a database of a backup",
		Long: `Make the database of an empty data directory of a backup in FILE, or from
standard input where FILE is -. It takes the master key that was in use when the
backup was made, in its place before the command is run. The database is there
when it is whole, checked and on the disk; when the command is interrupted, or
fails, there is none.

Every push that was live in the backup comes back expired: it may have been
viewed since, and whoever has its link must not get one view more than its limit.
Its owner still has it in the list, with an entry in its log. With --keep-live
they stay live, and their logs say that instead.

Accounts and API tokens are as they were. Nobody is signed in, no download that
had begun goes on, and no message that was waiting is sent.`,
		Example: `  pushbox restore /mnt/backups/box.db
  pushbox restore --identity key.txt box.db.age --data-dir /var/lib/pushbox
  ssh backup.example.com 'cat box.db' | pushbox restore -`,
		Args: arguments("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			loaded, err := a.settings(cmd)
			if err != nil {
				return err
			}
			r := restoring{app: a, cfg: loaded.Config, name: args[0], keepLive: keepLive}
			if identity != "" {
				if r.with, err = backup.LoadIdentities(identity); err != nil {
					return withHint(err, "give the file that age-keygen wrote, with --identity")
				}
			}
			return r.explain(r.run(cmd.Context(), cmd.InOrStdin()))
		},
	}
	cmd.Flags().BoolVar(&keepLive, "keep-live", false, "let pushes that were live in the backup stay live")
	cmd.Flags().StringVar(&identity, "identity", "", "decrypt the backup with the age identity in `FILE`")
	return cmd
}

// run refuses whatever can be told to fail before it writes anything.
func (r *restoring) run(ctx context.Context, stdin io.Reader) (err error) {
	if err := r.wantEmpty(); err != nil {
		return err
	}
	if r.key, _, err = masterKey(r.cfg, true); err != nil {
		return err
	}
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
	if _, err := (opening{cfg: r.cfg, create: true, note: r.app.say}).prepare(); err != nil {
		return err
	}
	return r.fill(ctx, content, size)
}

// wantEmpty refuses a data directory that has a database.
func (r *restoring) wantEmpty() error {
	_, err := os.Lstat(databasePath(r.cfg))
	switch {
	case err == nil:
		return r.notEmpty()
	case errors.Is(err, fs.ErrNotExist):
		return nil
	default:
		return err
	}
}

func (r *restoring) notEmpty() error {
	return withHint(fmt.Errorf("there is a database in %s, and a restore replaces none", r.cfg.DataDir),
		"name an empty directory with --data-dir; or stop the server and move %s away", databasePath(r.cfg))
}

// open opens the backup and tells how long it is; 0 where that is not known.
func (r *restoring) open(stdin io.Reader) (io.ReadCloser, int64, error) {
	if r.name == standard {
		if r.app.console.terminal {
			return nil, 0, withHint(usagef("standard input is a terminal"), "let a program send the backup, or name a FILE")
		}
		return io.NopCloser(stdin), 0, nil
	}
	info, err := os.Stat(r.name) // to open a pipe would wait for somebody to write to it
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, withHint(usagef("%s is not a plain file", r.name), "give what a program sends as standard input, and - as FILE")
	}
	f, err := os.Open(r.name)
	if err != nil {
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// wantKey refuses a file that the master key does not open.
func (r *restoring) wantKey(path string) error {
	sealed, err := bolt.SealedRing(path)
	if err != nil {
		return err
	}
	return store.CheckKey(r.key, sealed)
}
