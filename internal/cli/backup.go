package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"pushbox/config"
	"pushbox/internal/admin"
	"pushbox/internal/backup"
	"pushbox/store/bolt"
)

// standard is the FILE that stands for standard input or output.
const standard = "-"

// A backupOrder is what the flags of backup say.
type backupOrder struct {
	force                      bool
	recipients, recipientFiles []string
}

func (a *app) backup() *cobra.Command {
	var o backupOrder
	cmd := &cobra.Command{
		Use:   "backup FILE",
		Short: "Write a copy of the database to a file",
		Long: `Write a copy of the database, as it is at one instant, to a new FILE that only
its owner can read, or to standard output where FILE is -. A server that runs
goes on meanwhile. The copy is opened and checked before FILE has its name; when
the command is interrupted, or fails, there is no FILE.

The master key is not in it: keep a copy of that apart from the backup. Without
the key nobody can read a backup, its owner neither.

While it is made the copy takes room in the data directory, as much as the
database has in use, and then in that of FILE.

With --recipient or --recipient-file the backup is also encrypted with age, to
whoever has the identity that belongs to a recipient; without, it is to those of
the setting backup.recipients, if there are any.`,
		Example: `  pushbox backup /mnt/backups/box.db
  pushbox backup --recipient age1... box.db.age
  pushbox backup - | ssh backup.example.com 'cat > box.db'`,
		Args: arguments("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.backUp(cmd, args[0], o) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.force, "force", false, "replace FILE if it exists")
	flags.StringArrayVar(&o.recipients, "recipient", nil, "encrypt to the age `RECIPIENT`; may be given several times")
	flags.StringArrayVar(&o.recipientFiles, "recipient-file", nil, "encrypt to the age recipients in `FILE`, one a line")
	return cmd
}

// backUp has a copy made and brings it to where it is to be.
func (a *app) backUp(cmd *cobra.Command, name string, o backupOrder) error {
	loaded, err := a.settings(cmd)
	if err != nil {
		return err
	}
	w := backup.Writer{Replace: o.force, Room: bolt.Room}
	if w.Recipients, err = o.readers(loaded.Config); err != nil {
		return err
	}
	if err := a.checkTarget(name, o.force, loaded.Config); err != nil {
		return err
	}
	p := a.progress("copying")
	made, err := administer(a, cmd, admin.Backup.WithProgress(p.set), admin.None{})
	p.end()
	if err != nil {
		return a.notBackedUp(cmd, err)
	}
	if err := a.deliver(cmd.Context(), made, name, w); err != nil {
		return a.notBackedUp(cmd, err)
	}
	a.sayBackedUp(name, made, w, loaded.Config)
	return nil
}

// readers are who the backup is encrypted to.
func (o backupOrder) readers(cfg config.Config) (backup.Recipients, error) {
	texts := o.recipients
	if len(o.recipients)+len(o.recipientFiles) == 0 {
		texts = cfg.Backup.Recipients
	}
	all, err := backup.ParseRecipients(texts, o.recipientFiles)
	if err != nil {
		return nil, withHint(usagef("%w", err), "give each recipient as age-keygen -y prints it")
	}
	return all, nil
}

// checkTarget refuses, before anything is copied, what a backup cannot be written to.
func (a *app) checkTarget(name string, force bool, cfg config.Config) error {
	if name == standard {
		if isTerminal(a.stdout) {
			return withHint(usagef("a backup is nothing to be shown on a terminal"), "send standard output to a file or a program, or name a FILE")
		}
		return nil
	}
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		_, err = os.Stat(filepath.Dir(name))
		return err
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return withHint(usagef("%s is not a plain file", name), "name a new FILE; - stands for standard output")
	}
	for _, own := range []string{databasePath(cfg), cfg.KeyFile()} {
		if there, err := os.Stat(own); err == nil && os.SameFile(info, there) {
			return withHint(usagef("%s is in use by pushbox itself", name), "name a new FILE")
		}
	}
	if !force {
		return existsAlready(name)
	}
	return nil
}

func existsAlready(name string) error {
	return withHint(fmt.Errorf("%s exists already", name), "name a new FILE, or replace this one with --force")
}
