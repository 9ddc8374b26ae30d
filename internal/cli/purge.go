package cli

import (
	"time"

	"github.com/spf13/cobra"

	"pushbox/config"
	"pushbox/internal/admin"
	"pushbox/internal/hint"
	"pushbox/internal/humanize"
	"pushbox/store"
)

func (a *app) purge() *cobra.Command {
	var in store.Purge
	var older lifetime
	var larger minSize
	cmd := &cobra.Command{
		Use:   "purge",
		Short: "Remove live pushes without an account",
		Long: `Remove live pushes that were made without an account, with their audit logs. Their
links end at once. This cannot be undone; --dry-run only counts them.

With both --older-than and --larger-than a push must be both.`,
		Example: `  pushbox purge --anonymous --older-than 30d --larger-than 10MiB --dry-run
  pushbox purge --anonymous --larger-than 0`,
		Args: arguments(),
	}
	anonymous := cmd.Flags().Bool("anonymous", false, "remove pushes without an account, which is all that this command can do")
	cmd.Flags().Var(&older, "older-than", "only those made longer than `TIME` ago, such as 30d")
	cmd.Flags().Var(&larger, "larger-than", "only those that take more than `SIZE`, such as 10MiB; 0: any size")
	cmd.Flags().BoolVar(&in.DryRun, "dry-run", false, "say what would be removed, and remove nothing")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		flags := cmd.Flags()
		switch {
		case !*anonymous:
			return hint.With(usagef("pushbox purge needs --anonymous"), "`pushbox user remove` removes an account with its pushes")
		case !flags.Changed("older-than") && !flags.Changed("larger-than"):
			return hint.With(usagef("pushbox purge needs --older-than or --larger-than"), "--larger-than 0 means all of them")
		}
		in.OlderThan, in.LargerThan = time.Duration(older), int64(larger)
		do, did := admin.Purge, "removed "
		if in.DryRun {
			do, did = do.Reading(), "would remove "
		}
		gone, err := administer(a, cmd, do, in)
		if err != nil {
			return err
		}
		a.say(did + humanize.Count(gone.Pushes, "push", "pushes") + " without an account: " + humanize.Size(gone.Bytes))
		return nil
	}
	return cmd
}

// A minSize is a size as a flag.
type minSize config.Size

// Set reads the flag's value.
func (m *minSize) Set(text string) error {
	size, err := config.ParseSize(text)
	*m = minSize(size)
	return err
}

// String returns the default in help: none.
func (*minSize) String() string { return "" }

// Type returns the name of the value in help.
func (*minSize) Type() string { return "size" }
