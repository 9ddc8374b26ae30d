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
	"pushbox/store"
)

// sayBackedUp tells what there is now, what is known of it, and what it lacks.
func (a *app) sayBackedUp(name string, made admin.BackupResult, w backup.Writer, cfg config.Config) {
	at := made.At.UTC().Format(time.RFC3339)
	what := fmt.Sprintf("wrote a backup of %s, as of %s, to %s", readableSize(made.Size), at, name)
	if name == standard {
		what = fmt.Sprintf("wrote a backup of %s, as of %s", readableSize(made.Size), at)
	}
	a.say(what)
	switch n := len(w.Recipients); {
	case name == standard:
		a.say("verified before it was sent: every page and every record is sound, and the master key opens it")
	case n > 0:
		a.say("verified before it was encrypted: every page and every record is sound, and the master key opens it; what was encrypted was read back")
	default:
		a.say("verified: every page and every record is sound, the master key opens it, and it was read back")
	}
	if n := len(w.Recipients); n > 0 {
		a.say(fmt.Sprintf("encrypted to %s; restore it with --identity", counted(n, "recipient", "recipients")))
	}
	a.say("the key is not in it: keep a copy of " + keyToKeep(cfg) + " apart from the backup, or nobody can read it")
}

// counted is a number of things in words.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// keyToKeep names the key that belongs to a backup. A server may have another one
// than the command's settings tell, such as one from systemd.
func keyToKeep(cfg config.Config) string {
	if !cfg.MasterKey.IsZero() {
		return "the setting master_key"
	}
	if _, err := os.Stat(cfg.KeyFile()); errors.Is(err, fs.ErrNotExist) {
		return "the server's master key"
	}
	return cfg.KeyFile()
}

// notBackedUp adds to an error of a backup what to do about it.
func (a *app) notBackedUp(cmd *cobra.Command, err error) error {
	switch {
	case errors.Is(err, store.ErrFull):
		return withHint(err, "make room for a copy of what is in use%s, and where the backup goes", a.copySize(cmd))
	case errors.Is(err, store.ErrBusy):
		return withHint(err, "let it finish, or try again when less is written")
	case errors.Is(err, store.ErrCorrupt):
		return withHint(err, "run `pushbox check`; the database itself may be damaged: restore an earlier backup")
	case errors.Is(err, context.Canceled):
		return withHint(err, "it was interrupted, and there is no backup; run the command again")
	default:
		return err
	}
}
