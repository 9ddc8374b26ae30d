package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"pushbox/internal/admin"
	"pushbox/store"
)

// A problemsError says that check found so many problems.
type problemsError int

func (n problemsError) Error() string {
	if n == 1 {
		return "1 problem found"
	}
	return fmt.Sprintf("%d problems found", int(n))
}

func (a *app) check() *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Look for damage in the database",
		Long: `Read the whole database and list everything that is not as it should be, one
problem a line. The exit code is 3 if there is any.`,
		Example: `  pushbox check`,
		Args:    arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			problems, err := administer(a, cmd, admin.Check, admin.None{})
			if errors.Is(err, store.ErrCorrupt) { // too damaged to be opened or read
				problems, err = append(problems, err.Error()), nil
			}
			if err != nil {
				return err
			}
			return a.listProblems(problems)
		},
	}
}

func (a *app) listProblems(problems []string) error {
	if len(problems) == 0 {
		a.say("no problems found")
		return nil
	}
	for _, p := range problems {
		if _, err := fmt.Fprintln(a.stdout, p); err != nil {
			return err
		}
	}
	return withHint(problemsError(len(problems)), "keep a copy of the file for examination and restore a backup")
}
