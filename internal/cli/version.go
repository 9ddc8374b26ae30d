package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// release is the version of this program. Clients of the API refuse a server whose
// version is below 2.5.0.
const release = "3.0.0"

func (a *app) version() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: `  pushbox version`,
		Args:    arguments(),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(a.stdout, "pushbox "+fullVersion())
			return err
		},
	}
}

func fullVersion() string {
	return fmt.Sprintf("%s (%s, %s/%s%s)", release, runtime.Version(), runtime.GOOS, runtime.GOARCH, commit())
}

// commit is the commit that the program was built from, if the build recorded it.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return describeCommit(info.Settings)
}

func describeCommit(settings []debug.BuildSetting) string {
	const short = 12 // characters that name a commit for people
	revision, changed := "", ""
	for _, s := range settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value[:min(short, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = " and changes"
		}
	}
	if revision == "" {
		return ""
	}
	return ", commit " + revision + changed
}
