package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pushbox/internal/hint"
)

// completeValues makes shells complete the value of a flag with these words.
func completeValues(cmd *cobra.Command, flag string, values []string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)) // the flag is there, and has none yet
}

// names returns the names of kinds or events.
func names[T fmt.Stringer](all []T) (list []string) {
	for _, one := range all {
		list = append(list, one.String())
	}
	return list
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
			const descriptions = true
			switch args[0] {
			case "bash":
				return cmd.Root().GenBashCompletionV2(a.stdout, descriptions)
			case "zsh":
				return cmd.Root().GenZshCompletion(a.stdout)
			case "fish":
				return cmd.Root().GenFishCompletion(a.stdout, descriptions)
			default:
				return cmd.Root().GenPowerShellCompletionWithDesc(a.stdout)
			}
		},
	}
}
