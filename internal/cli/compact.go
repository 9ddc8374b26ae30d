package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"pushbox/internal/admin"
	"pushbox/store"
)

func (a *app) compact() *cobra.Command {
	return &cobra.Command{
		Use:   "compact",
		Short: "Give unused space back to the file system",
		Long: `Make the database's file as small as what is in it. A server that runs goes on
meanwhile, and does the same by itself when much of the file is unused.

It takes room for a copy of what is in use. When it is interrupted, or fails,
everything is as it was before.`,
		Example: `  pushbox compact`,
		Args:    arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
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
	was, is := readableSize(size.Before), readableSize(size.After)
	if was == is {
		return "compacted the database: it has " + is + ", as before"
	}
	return "compacted the database from " + was + " to " + is
}

// notCompacted adds to an error of a compaction what to do about it.
func (a *app) notCompacted(cmd *cobra.Command, err error) error {
	switch {
	case errors.Is(err, store.ErrFull):
		return withHint(err, "make room for a copy of what is in use%s", a.copySize(cmd))
	case errors.Is(err, store.ErrBusy):
		return withHint(err, "let it finish, or try again when less is written")
	case errors.Is(err, context.Canceled):
		return withHint(err, "it was interrupted, and the database is as it was; run the command again")
	default:
		return err
	}
}

// copySize tells how much a copy can take and where; nothing if that cannot be
// seen.
func (a *app) copySize(cmd *cobra.Command) string {
	loaded, err := a.settings(cmd)
	if err != nil {
		return ""
	}
	info, err := os.Stat(databasePath(loaded.Config))
	if err != nil {
		return ""
	}
	return fmt.Sprintf(", at most %s, in %s", readableSize(info.Size()), loaded.Config.DataDir)
}

// readableSize writes a number of bytes with a unit in which it is less than
// 1024, and with a decimal where that tells something.
func readableSize(bytes int64) string {
	if bytes < 1024 {
		return strconv.FormatInt(bytes, 10) + " B"
	}
	n, unit := float64(bytes)/1024, 0
	const units = "KMGTPE"
	for ; n >= 1023.95; n /= 1024 { // which would be written as 1024
		unit++
	}
	return fmt.Sprintf("%.1f %ciB", n, units[unit])
}
