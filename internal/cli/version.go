package cli

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pushbox/internal/hint"
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
digest. Pages name the same digests (integrity), so that you can compare what a server
sends with a release.`,
		Example: `  pushbox version
  pushbox version --assets`,
		RunE: func(*cobra.Command, []string) error {
			text := "pushbox " + fullVersion()
			if assets {
				list, err := AssetList()
				if err != nil {
					return err
				}
				text = list
			}
			_, err := fmt.Fprintln(a.stdout, text)
			return err
		},
	}
	cmd.Flags().BoolVar(&assets, "assets", false, "print the digests of what pages load")
	return cmd
}

// AssetList returns a line for each script, style and image of the pages, with its digest, without a
// newline at the end.
func AssetList() (string, error) {
	pages, err := web.New(nil, "")
	if err != nil {
		return "", err
	}
	return strings.Join(pages.Digests(), "\n"), nil
}

func fullVersion() string {
	commit := "" // that the program was built from, if the build recorded it
	if info, ok := debug.ReadBuildInfo(); ok {
		commit = describeCommit(info.Settings)
	}
	return fmt.Sprintf("%s (%s, %s/%s%s)", release, runtime.Version(), runtime.GOOS, runtime.GOARCH, commit)
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

func (a *app) completion() *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:   "completion " + strings.Join(shells, "|"),
		Short: "Print a script that completes commands in your shell",
		Example: `  source <(pushbox completion bash)
  pushbox completion zsh > "${fpath[1]}/_pushbox"
  pushbox completion fish > ~/.config/fish/completions/pushbox.fish
  pushbox completion powershell | Out-String | Invoke-Expression`,
		ValidArgs: shells,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := arguments("the shell")(cmd, args); err != nil {
				return err
			}
			if !slices.Contains(shells, args[0]) {
				return hint.With(usagef("there is no completion for %q", args[0]), "choose one of: %s", strings.Join(shells, ", "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(a.stdout, true) // with descriptions
			case "zsh":
				return root.GenZshCompletion(a.stdout)
			case "fish":
				return root.GenFishCompletion(a.stdout, true)
			default:
				return root.GenPowerShellCompletionWithDesc(a.stdout)
			}
		},
	}
}

// A Page is the manual page of one command, made from its help.
type Page struct {
	Path    string // for example "pushbox user add"
	Usage   string // the same, with arguments and flags
	Short   string // a line
	Long    string // more; may be empty
	Example string // commands, a line each, with an indent; may be empty
	Flags   string // as help shows them, wrapped; may be empty
}

// Pages returns the pages of pushbox and of each of its commands, by name, each after the
// command that it belongs to. Only the first page has the flags that all commands share.
func Pages() []Page {
	a := &app{stdout: io.Discard, stderr: io.Discard}
	return pagesOf(a.root())
}

// Release returns the version of this program, such as "3.0.0".
func Release() string { return release }

func pagesOf(cmd *cobra.Command) []Page {
	const columns = 72 // a page of a manual has 80, less its margin
	all := []Page{{
		Path: cmd.CommandPath(), Usage: cmd.UseLine(), Short: cmd.Short, Long: cmd.Long, Example: cmd.Example,
		Flags: cmd.NonInheritedFlags().FlagUsagesWrapped(columns),
	}}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			all = append(all, pagesOf(sub)...)
		}
	}
	return all
}
