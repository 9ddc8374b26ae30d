package cli

import (
	"io"

	"github.com/spf13/cobra"
)

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
