package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"pushbox/config"
	"pushbox/internal/admin"
	"pushbox/internal/backup"
	"pushbox/internal/durable"
	"pushbox/internal/hint"
	"pushbox/internal/humanize"
	"pushbox/store/record"
)

// deliver writes a copy to name, and removes the copy.
func (a *app) deliver(ctx context.Context, made admin.BackupResult, name string, w backup.Writer) error {
	from, err := takeCopy(made.Path)
	if err != nil {
		return err
	}
	p := a.progress("writing")
	w.Progress = p.set
	if name == standard {
		err = w.Stream(ctx, a.stdout, from, made.Size)
	} else {
		err = w.File(ctx, name, from, made.Size)
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

func takeCopy(path string) (unlinkedFile, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return unlinkedFile{}, hint.With(errors.New("another start of pushbox removed the copy as a leftover"), "run the command again")
	}
	if err != nil {
		return unlinkedFile{}, err
	}
	return unlinkedFile{f, os.Remove(path) != nil}, nil
}

// Close closes the copy, which is then gone.
func (c unlinkedFile) Close() error {
	if c.named {
		return errors.Join(c.File.Close(), durable.Scrub(c.Name()))
	}
	return errors.Join(durable.Overwrite(c.File), c.File.Close())
}

// sayBackedUp says what was written, how it was verified, and that the key is not in it.
func (a *app) sayBackedUp(name string, made admin.BackupResult, w backup.Writer, cfg config.Config) {
	at := made.At.UTC().Format(time.RFC3339)
	what := fmt.Sprintf("wrote a backup of %s, as of %s, to %s", humanize.Size(made.Size), at, name)
	if name == standard {
		what = fmt.Sprintf("wrote a backup of %s, as of %s", humanize.Size(made.Size), at)
	}
	a.say(what)
	switch n := len(w.Recipients); {
	case name == standard:
		a.say(fmt.Sprintf("verified before sending: every page and record is intact, and the master key (ID %s) opens it", made.Key))
	case n > 0:
		a.say(fmt.Sprintf("verified before encryption: every page and record is intact, and the master key (ID %s) opens it; the encrypted file was read back", made.Key))
	default:
		a.say(fmt.Sprintf("verified: every page and record is intact, the master key (ID %s) opens it, and the file was read back", made.Key))
	}
	if n := len(w.Recipients); n > 0 {
		a.say(fmt.Sprintf("encrypted to %s; restore it with --identity", humanize.Count(n, "recipient", "recipients")))
	}
	a.say("the master key is not in it: keep a copy of " + keyToKeep(cfg) + " apart from the backup; without the key the backup cannot be read")
}

// keyToKeep names the key of a backup. The server may have another key than the command's
// settings name, such as one from systemd.
func keyToKeep(cfg config.Config) string {
	if !cfg.MasterKey.IsZero() {
		return "the setting master_key"
	}
	if _, err := os.Stat(cfg.KeyFile()); errors.Is(err, fs.ErrNotExist) {
		return "the server's master key"
	}
	return cfg.KeyFile()
}

// notBackedUp adds a hint to an error of backup.
func (a *app) notBackedUp(cmd *cobra.Command, err error) error {
	switch {
	case errors.Is(err, record.ErrFull):
		return hint.With(err, "make room for a copy of what is in use%s, and where the backup goes", a.copyPlace(cmd))
	case errors.Is(err, record.ErrBusy):
		return hint.With(err, "let the running copy finish, or try again when there are fewer writes")
	case errors.Is(err, record.ErrCorrupt):
		return hint.With(err, "run `pushbox check`; the database itself may be damaged: restore an earlier backup")
	case errors.Is(err, context.Canceled):
		return hint.With(err, "it was interrupted, and there is no backup; run the command again")
	default:
		return err
	}
}
