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
	"pushbox/internal/hint"
	"pushbox/internal/instance"
	"pushbox/internal/terminal"
	"pushbox/store/bolt"
)

// standard is the FILE that means standard input or output.
const standard = "-"

// A backupOrder has the flags of backup.
type backupOrder struct {
	force, logical             bool
	recipients, recipientFiles []string
}

func (a *app) backup() *cobra.Command {
	var o backupOrder
	cmd := &cobra.Command{
		Use:   "backup FILE",
		Short: "Write a copy of the database to a file",
		Long: `Write a copy of the database, as of one instant, to a new FILE that only its owner
can read, or to standard output if FILE is -. A running server continues meanwhile.
The copy is opened and checked before FILE gets its name. If the command fails or is
interrupted, there is no FILE.

The backup does not hold the master key: keep a copy of the key elsewhere. Without
the key a backup cannot be read.

The copy first takes as much room in the data directory as the database uses, then
in the directory of FILE.

If the database is PostgreSQL, its own tools make the backups that bring it back as it
was (docs/scaling.md). With --logical the command writes the same kind of FILE from it,
which restore and move bring into a new database.

With --recipient or --recipient-file the backup is also encrypted with age, and only
an identity of a recipient decrypts it. Without them the setting backup.recipients
applies.`,
		Example: `  pushbox backup /mnt/backups/box.db
  pushbox backup --recipient age1... box.db.age
  pushbox backup - | ssh backup.example.com 'cat > box.db'`,
		Args: arguments("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.backUp(cmd, args[0], o) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.force, "force", false, "replace FILE if it exists")
	flags.BoolVar(&o.logical, "logical", false, "write a file of all records, from PostgreSQL too; of a database file it is the same backup")
	flags.StringArrayVar(&o.recipients, "recipient", nil, "encrypt to the age `RECIPIENT`; may be given several times")
	flags.StringArrayVar(&o.recipientFiles, "recipient-file", nil, "encrypt to the age recipients in `FILE`, one a line")
	cmd.AddCommand(a.backupVerify(), a.backupList())
	return cmd
}

// backUp makes a copy, and writes it to name.
func (a *app) backUp(cmd *cobra.Command, name string, o backupOrder) error {
	loaded, err := a.settings(cmd)
	if err != nil {
		return err
	}
	if instance.HasDatabaseURL(loaded.Config) && !o.logical {
		return hint.With(errors.New("the database is PostgreSQL, whose own tools are the way to back it up, such as pg_basebackup with an archive of its log"),
			"to write one file with all records, which `pushbox restore` reads, use --logical")
	}
	w := backup.Writer{Replace: o.force, CheckSpace: bolt.CheckSpace}
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

// readers returns the recipients that the backup is encrypted to.
func (o backupOrder) readers(cfg config.Config) (backup.Recipients, error) {
	texts := o.recipients
	if len(o.recipients)+len(o.recipientFiles) == 0 {
		texts = cfg.Backup.Recipients
	}
	all, err := backup.ParseRecipients(texts, o.recipientFiles)
	if err != nil {
		return nil, hint.With(usagef("%w", err), "give each recipient as age-keygen -y prints it")
	}
	return all, nil
}

// checkTarget refuses a target to which no backup can be written, before anything is copied.
func (a *app) checkTarget(name string, force bool, cfg config.Config) error {
	if name == standard {
		if terminal.Is(a.stdout) {
			return hint.With(usagef("a backup cannot be shown on a terminal"), "send standard output to a file or a program, or name a FILE")
		}
		return nil
	}
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		dir := filepath.Dir(name)
		if _, err = os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			return hint.With(fmt.Errorf("there is no directory %s", dir), "make it first: mkdir -p %s", dir)
		}
		return err
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return hint.With(usagef("%s is not a plain file", name), "name a new FILE; - stands for standard output")
	}
	for _, own := range []string{instance.Database(cfg), cfg.KeyFile()} {
		if there, err := os.Stat(own); err == nil && os.SameFile(info, there) {
			return hint.With(usagef("%s is in use by pushbox itself", name), "name a new FILE")
		}
	}
	if !force {
		return existsAlready(name)
	}
	return nil
}

func existsAlready(name string) error {
	return hint.With(fmt.Errorf("%s exists already", name), "name a new FILE, or replace this one with --force")
}
