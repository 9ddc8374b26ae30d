package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"pushbox/internal/admin"
	"pushbox/internal/hint"
	"pushbox/internal/humanize"
	"pushbox/store/record"
)

// A problemsError is the number of problems that check found.
type problemsError int

func (n problemsError) Error() string {
	return humanize.Count(int(n), "problem", "problems") + " found"
}

func (a *app) check() *cobra.Command {
	var deep bool
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Look for damage in the database",
		Long: `Read the whole database and list every problem on a line of its own. The exit code
is 3 if there is any.

With --deep it also reads all payloads and files and compares them with their stored
digests, for which it needs neither links nor passphrases. Running servers continue
meanwhile. In PostgreSQL every row is verified, too.`,
		Example: `  pushbox check
  pushbox check --deep`,
		Args: arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			problems, err := a.findProblems(cmd, deep)
			if errors.Is(err, record.ErrCorrupt) { // too damaged to open or read
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

// findProblems checks the database, and says how much a deep check covered.
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
	a.sayCoverage(found.Coverage)
	return found.Problems, nil
}

// sayCoverage says what a deep check has read.
func (a *app) sayCoverage(found record.Coverage) {
	a.say(fmt.Sprintf("read %s: compared %s and %s of files with their digests", humanize.Size(found.Bytes),
		humanize.Count(found.Payloads, "payload", "payloads"), humanize.Count(found.Chunks, "chunk", "chunks")))
	if found.Without > 0 {
		a.say(fmt.Sprintf("not covered: %d payloads and chunks that an older version wrote without digests", found.Without))
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
	return hint.With(problemsError(len(problems)), "keep a copy of the file, or of the PostgreSQL database, for examination and restore a backup")
}
