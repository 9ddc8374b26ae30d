package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"pushbox/config"
	"pushbox/internal/admin"
	"pushbox/internal/hint"
	"pushbox/internal/rights"
	"pushbox/internal/sdnotify"
	"pushbox/store/postgres"
	"pushbox/store/record"
	"pushbox/store/seal"
)

// The exit codes.
const (
	exitDone     = 0
	exitFailed   = 1
	exitUsage    = 2
	exitProblems = 3
	exitInUse    = 75 // EX_TEMPFAIL of sysexits.h
)

// report prints the error of cmd, if any, and returns the exit code.
func (a *app) report(cmd *cobra.Command, err error) int {
	if err == nil {
		return exitDone
	}
	if owner := rights.Taken(); owner != nil {
		err = advise(err, knownHint{fs.ErrPermission, fmt.Sprintf("the command works with the rights of %s, to whom %s belongs: give that user access", owner, owner.At)})
	}
	text := fmt.Sprintf("pushbox: %s\nhint: %s", strings.ReplaceAll(err.Error(), "\n", "\n  "), nextStep(cmd, err))
	if sdnotify.IsJournal(a.stderr, a.environ) {
		text = sdnotify.JournalError + strings.ReplaceAll(text, "\n", "\n"+sdnotify.JournalError)
	}
	fmt.Fprintln(a.stderr, printable(text))
	return exitCode(err)
}

func exitCode(err error) int {
	usage, settings, problems, leftOut := (*usageError)(nil), (*config.ProblemsError)(nil), problemsError(0), leftOutError(0)
	switch {
	case errors.As(err, &usage), errors.As(err, &settings):
		return exitUsage
	case errors.As(err, &problems), errors.As(err, &leftOut):
		return exitProblems
	case errors.Is(err, record.ErrInUse):
		return exitInUse
	default:
		return exitFailed
	}
}

// nextStep returns the hint of an error, or else the hint for its kind.
func nextStep(cmd *cobra.Command, err error) string {
	if own := hint.Of(err); own != "" {
		return own
	}
	if p := (*config.ProblemsError)(nil); errors.As(err, &p) {
		return p.Cure()
	}
	if next := knownFor(err, hints()); next != "" {
		return next
	}
	if u := (*usageError)(nil); errors.As(err, &u) {
		return "run: " + cmd.CommandPath() + " --help"
	}
	return "correct what the message names, then run the command again; `pushbox doctor` looks for common causes"
}

// A knownHint is a hint for a kind of error.
type knownHint struct {
	err  error
	hint string
}

// knownFor returns the first hint for an error; empty if there is none.
func knownFor(err error, all []knownHint) string {
	for _, known := range all {
		if errors.Is(err, known.err) {
			return known.hint
		}
	}
	return ""
}

// advise adds to an error the first hint for it, if there is one.
func advise(err error, all ...knownHint) error {
	if next := knownFor(err, all); next != "" {
		return hint.With(err, "%s", next)
	}
	return err
}

func hints() []knownHint {
	return []knownHint{
		{context.Canceled, "it was interrupted; run the command again"},
		{errInterrupted, "run the command again"},
		{context.DeadlineExceeded, "it took too long; run the command again when the machine is less busy"},
		{record.ErrInUse, "a server is starting or stopping, or another program holds the file; stop it or try again"},
		{record.ErrKey, "put your copy of this database's key back; without it the database cannot be read"},
		{seal.ErrKey, "the key file must be complete, as `pushbox serve` made it, and only its owner may read it (chmod 600); if it is damaged, put your copy of it back"},
		{record.ErrSchema, "use the build of pushbox that wrote it, or restore a backup that this build can read"},
		{record.ErrCorrupt, "keep the damaged file for examination, and restore a backup"},
		{record.ErrBusy, "try again in a moment"},
		{record.ErrStandby, "start a standby that synchronous_standby_names names; if a standby has replaced this primary, stop this one"},
		{postgres.ErrRefused, "make the role and the database that database_url names (`createuser --pwprompt ROLE`, `createdb --owner ROLE NAME`), or correct database_url"},
		{record.ErrUnavailable, "start PostgreSQL, or correct database_url, which psql takes as well; a running server continues when the database answers"},
		{record.ErrRoom, "raise limits.account_pushes or limits.account_bytes, or delete pushes"},
		{record.ErrFull, "make room on the disk; if the limit is max_store_size, raise that"},
		{record.ErrFailed, "see the server's log, check the disk, then start the server again"},
		{record.ErrLost, "do not stop the server; run `pushbox backup FILE` now, which saves everything; then stop it, and `pushbox restore --keep-live FILE`"},
		{record.ErrClosed, "the server is stopping; run the command again"},
		{admin.ErrUnknown, "restart the server, so that it runs the version of this command"},
		{admin.ErrSilent, "see the server's log and check its disk; if the server hangs, restart it"},
		{admin.ErrPathTooLong, "choose a shorter --data-dir, or one relative to the current directory"},
		{admin.ErrNotSocket, "move it away and start again"},
		{syscall.ENOSPC, "make room on the file system, then run the command again"},
		{syscall.ENOTDIR, "check the path: a part of it is a file and not a directory"},
		{fs.ErrNotExist, "check the path, or make the file first"},
		{io.ErrUnexpectedEOF, "it ended too early: use a complete copy, or run the command again"},
		{fs.ErrPermission, "run the command as the user that owns the data directory, or give this user access"},
	}
}

// nameAnother adds a hint to the error that a file is there already.
func nameAnother(err error) error {
	return advise(err, knownHint{fs.ErrExist, "name a file that does not exist yet"})
}
