package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"pushbox/server/web"
)

// release is the version of this program. Clients of the API refuse a server whose
// version is below 2.5.0.
const release = "3.0.0"

func (a *app) version() *cobra.Command {
	var assets bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long: `Print the version.

With --assets it prints the scripts, styles and images of the pages, each with its
digest, which the pages name as well (integrity). So you can compare what a server
sends with a release.`,
		Example: `  pushbox version
  pushbox version --assets`,
		Args: arguments(),
		RunE: func(*cobra.Command, []string) error {
			if assets {
				return a.listAssets()
			}
			_, err := fmt.Fprintln(a.stdout, "pushbox "+fullVersion())
			return err
		},
	}
	cmd.Flags().BoolVar(&assets, "assets", false, "print the digests of what pages load")
	return cmd
}

func (a *app) listAssets() error {
	pages, err := web.New(nil, "")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.stdout, strings.Join(pages.Digests(), "\n"))
	return err
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
