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
	var deep bool
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Look for damage in the database",
		Long: `Read the whole database and list everything that is not as it should be, one
problem a line. The exit code is 3 if there is any.

With --deep it then reads all payloads and files, too, and compares them with the
digests that were kept beside them, which takes neither links nor passphrases. A
server that runs goes on meanwhile.`,
		Example: `  pushbox check
  pushbox check --deep`,
		Args: arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			problems, err := a.findProblems(cmd, deep)
			if errors.Is(err, store.ErrCorrupt) { // too damaged to be opened or read
				problems, err = append(problems, err.Error()), nil
			}
			if err != nil {
				return err
			}
			return a.listProblems(problems)
		},
	}
	cmd.Flags().BoolVar(&deep, "deep", false, "read all payloads and files, too")
	return cmd
}

// findProblems checks the database, and says how much a deep check has covered.
func (a *app) findProblems(cmd *cobra.Command, deep bool) ([]string, error) {
	if !deep {
		return administer(a, cmd, admin.Check, admin.None{})
	}
	p := a.progress("reading")
	found, err := administer(a, cmd, admin.CheckDeep.WithProgress(p.set), admin.None{})
	p.end()
	if err != nil {
		return nil, err
	}
	a.say(fmt.Sprintf("read %s: %d payloads and %d chunks of files were compared with their digests",
		readableSize(found.Bytes), found.Payloads, found.Chunks))
	if found.Without > 0 {
		a.say(fmt.Sprintf("not covered: %d payloads and chunks that an older version wrote without digests", found.Without))
	}
	return found.Problems, nil
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
