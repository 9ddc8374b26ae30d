package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"pushbox/internal/admin"
	"pushbox/internal/hint"
	"pushbox/internal/humanize"
	"pushbox/internal/instance"
	"pushbox/store/record"
)

func (a *app) compact() *cobra.Command {
	return &cobra.Command{
		Use:   "compact",
		Short: "Give unused space back to the file system",
		Long: `Shrink the database file to the space that it uses. A running server continues
meanwhile; it also does this by itself when much of the file is unused.

This needs room for a copy of the used space. If it fails or is interrupted, the
database stays as it was. In PostgreSQL autovacuum does this by itself.`,
		Example: `  pushbox compact`,
		Args:    arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			loaded, err := a.settings(cmd)
			if err != nil {
				return err
			}
			if err := instance.NotWithPostgres(loaded.Config, "compact", "PostgreSQL's autovacuum does this by itself"); err != nil {
				return err
			}
			p := a.progress("copying")
			size, err := administer(a, cmd, admin.Compact.WithProgress(p.set), admin.None{})
			p.end()
			if err != nil {
				return a.notCompacted(cmd, err)
			}
			a.say(compacted(size))
			return nil
		},
	}
}

func compacted(size admin.CompactResult) string {
	was, is := humanize.Size(size.Before), humanize.Size(size.After)
	switch {
	case was == is:
		return "compacted the database: it has " + is + ", as before"
	case size.After > size.Before:
		return "compacted the database: it has " + is + ", and had " + was + " before; it was written to meanwhile"
	default:
		return "compacted the database from " + was + " to " + is
	}
}

// notCompacted adds to an error of a compaction what to do about it.
func (a *app) notCompacted(cmd *cobra.Command, err error) error {
	switch {
	case errors.Is(err, record.ErrFull):
		return hint.With(err, "make room for a copy of what is in use%s", a.copyPlace(cmd))
	case errors.Is(err, record.ErrBusy):
		return hint.With(err, "let it finish, or try again when less is written")
	case errors.Is(err, context.Canceled):
		return hint.With(err, "it was interrupted, and the database is as it was; run the command again")
	default:
		return err
	}
}

// copyPlace says where the copy needs room; empty if that is unknown. How much it needs
// is in the error.
func (a *app) copyPlace(cmd *cobra.Command) string {
	loaded, err := a.settings(cmd)
	if err != nil {
		return ""
	}
	return ", in " + loaded.Config.DataDir
}
