package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"pushbox/config"
	"pushbox/internal/admin"
	"pushbox/internal/backup"
	"pushbox/internal/durable"
	"pushbox/internal/hint"
	"pushbox/internal/humanize"
	"pushbox/internal/instance"
	"pushbox/internal/rights"
	"pushbox/internal/terminal"
	"pushbox/store"
	"pushbox/store/bolt"
	"pushbox/store/record"
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
The command opens and checks the copy before FILE gets its name. If it fails or is
interrupted, there is no FILE.

The backup does not contain the master key: keep a copy of the key elsewhere. Without
the key nothing can read the backup.

The copy first takes as much room in the data directory as the database uses, then
in the directory of FILE.

If the database is PostgreSQL, back it up with PostgreSQL's own tools, which restore it
as it was (docs/scaling.md). With --logical the command writes the same kind of FILE
from it, which restore and move bring into a new database.

With --recipient or --recipient-file the command also encrypts the backup with age,
so that only an identity of a recipient decrypts it. Without them the setting
backup.recipients applies.`,
		Example: `  pushbox backup /mnt/backups/box.db
  pushbox backup --recipient age1... box.db.age
  pushbox backup - | ssh backup.example.com 'cat > box.db'`,
		RunE: a.configured(func(cmd *cobra.Command, args []string, cfg config.Config) error {
			return advise(a.backUp(cmd, args[0], o, cfg),
				knownHint{record.ErrFull, "make room for a copy of the used space, in " + cfg.DataDir + ", and where the backup goes"},
				knownHint{record.ErrBusy, "let the running copy finish, or try again when there are fewer writes"},
				knownHint{record.ErrCorrupt, "run `pushbox check`; the database itself may be damaged: restore an earlier backup"},
				knownHint{context.Canceled, "it was interrupted, and there is no backup; run the command again"})
		}),
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.force, "force", false, "replace FILE if it exists")
	flags.BoolVar(&o.logical, "logical", false, "export all records; needed for PostgreSQL, and makes no difference for a database file")
	flags.StringArrayVar(&o.recipients, "recipient", nil, "encrypt to the age `RECIPIENT`; may be given several times")
	flags.StringArrayVar(&o.recipientFiles, "recipient-file", nil, "encrypt to the age recipients in `FILE`, one a line")
	addTo(cmd, a.backupVerify(), a.backupList())
	return cmd
}

// backUp makes a copy, and writes it to name.
func (a *app) backUp(cmd *cobra.Command, name string, o backupOrder, cfg config.Config) (err error) {
	if instance.HasDatabaseURL(cfg) && !o.logical {
		return hint.With(errors.New("the database is PostgreSQL: back it up with its own tools, such as pg_basebackup with an archive of its log"),
			"to write one file with all records, which `pushbox restore` reads, use --logical")
	}
	if len(o.recipients)+len(o.recipientFiles) == 0 {
		o.recipients = cfg.Backup.Recipients
	}
	w := backup.Writer{Replace: o.force, CheckSpace: bolt.CheckSpace}
	if w.Recipients, err = backup.ParseRecipients(o.recipients, o.recipientFiles); err != nil {
		return hint.With(usagef("%w", err), "give each recipient as age-keygen -y prints it")
	}
	if err := rights.Beside(name, func() error { return a.checkTarget(name, o.force, cfg) }); err != nil {
		return err
	}
	made, err := administerWatched(a, cmd, "copying", admin.Backup, admin.None{})
	if err != nil {
		return err
	}
	if err := a.deliver(cmd.Context(), made, cfg, name, w); err != nil {
		return err
	}
	a.sayBackedUp(name, made, w, cfg)
	return nil
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
		return hint.With(usagef("%s is not a plain file", name), "name a new FILE, or - for standard output")
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

// deliver writes a copy to name, and removes the copy.
func (a *app) deliver(ctx context.Context, made store.Backup, cfg config.Config, name string, w backup.Writer) error {
	from, err := takeCopy(cfg, made.Path)
	if err != nil {
		return err
	}
	p := a.progress("writing")
	w.Progress = p.set
	if name == standard {
		err = w.Stream(ctx, a.stdout, from, made.Size)
	} else {
		err = rights.Beside(name, func() error { return w.File(ctx, name, from, made.Size) })
	}
	p.end()
	if errors.Is(err, fs.ErrExist) {
		err = existsAlready(name)
	}
	return errors.Join(err, from.Close())
}

// An unlinkedFile is an open file without a name, so that nothing stays behind when the
// command ends, even if it is killed. Close overwrites it. On a system that keeps the names
// of open files, Close removes it.
type unlinkedFile struct {
	*os.File
	named bool
}

// takeCopy takes the copy that the server made, beside the database. Seen from another directory, the server's path
// may lead elsewhere.
func takeCopy(cfg config.Config, temp string) (unlinkedFile, error) {
	database := instance.Database(cfg)
	if at, err := filepath.EvalSymlinks(database); err == nil {
		database = at
	}
	temp = filepath.Join(filepath.Dir(database), filepath.Base(temp))
	f, err := durable.OpenRegular(temp, os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) {
		return unlinkedFile{}, hint.With(errors.New("another pushbox process removed the copy as a leftover"), "run the command again")
	}
	if err != nil {
		return unlinkedFile{}, err
	}
	return unlinkedFile{f, os.Remove(temp) != nil}, nil
}

// Close closes the copy, which is then gone.
func (c unlinkedFile) Close() error {
	if c.named {
		return errors.Join(c.File.Close(), durable.Scrub(c.Name()))
	}
	return errors.Join(durable.Overwrite(c.File), c.File.Close())
}

// sayBackedUp reports the backup and its verification, and that the key is not in it.
func (a *app) sayBackedUp(name string, made store.Backup, w backup.Writer, cfg config.Config) {
	key := cfg.KeyFile()
	if !cfg.MasterKey.IsZero() {
		key = "the setting master_key"
	} else if _, err := os.Stat(key); errors.Is(err, fs.ErrNotExist) {
		key = "the server's master key" // which it has from elsewhere, such as from systemd
	}
	n, to, verified, readBack := len(w.Recipients), ", to "+name, "verified", "; the file was read back"
	switch {
	case name == standard:
		to, verified, readBack = "", "verified before sending", ""
	case n > 0:
		verified, readBack = "verified before encryption", "; the encrypted file was read back"
	}
	a.sayf("wrote a backup of %s, as of %s%s", humanize.Size(made.Size), stamp(made.At, "-"), to)
	a.sayf("%s: every page and record is intact, and the master key (ID %s) opens it%s", verified, made.Key, readBack)
	if n > 0 {
		a.sayf("encrypted to %s; restore it with --identity", humanize.Count(n, "recipient", "recipients"))
	}
	a.sayf("the master key is not in it: keep a copy of %s apart from the backup; without the key nothing can read the backup", key)
}

func (a *app) backupList() *cobra.Command {
	l := listing[listedBackup]{
		header: []string{"FILE", "BEGUN", "SIZE", "ENCRYPTED"},
		row: func(b listedBackup) []string {
			return []string{b.File, stamp(b.BegunAt, "-"), humanize.Size(b.Bytes), yesNo(b.Encrypted)}
		},
		find: a.findBackups,
	}
	return l.on(a, &cobra.Command{
		Use:   "list",
		Short: "List the scheduled backups, oldest first",
		Long: `List the scheduled backups in backup.dir, oldest first. Backups that you named
yourself are not listed.

With --json each line is an object with file, begun_at, bytes and encrypted.`,
		Example: `  pushbox backup list
  pushbox backup list --json | jq -r .file | tail -1`,
	})
}

// A listedBackup is a backup in a list.
type listedBackup struct {
	File      string    `json:"file"`
	BegunAt   time.Time `json:"begun_at"`
	Bytes     int64     `json:"bytes"`
	Encrypted bool      `json:"encrypted"`
}

func (a *app) findBackups(cmd *cobra.Command, _ []string) (list []listedBackup, err error) {
	cfg, err := a.settings(cmd)
	if err != nil {
		return nil, err
	}
	dir := cfg.BackupDir()
	files, err := backup.List(dir)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		path := filepath.Join(dir, f.Name)
		info, err := os.Stat(path)
		if os.IsNotExist(err) { // it was removed a moment ago
			continue
		}
		if err != nil {
			return nil, err
		}
		list = append(list, listedBackup{path, f.At, info.Size(), f.Encrypted()})
	}
	return list, nil
}
