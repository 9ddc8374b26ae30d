package cli

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// A usageError says that a command was not given what it takes.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// arguments wants those that are named, no more and no less. It quotes none: one
// too many may be a secret in the wrong place.
func arguments(names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, given []string) error {
		switch {
		case len(given) < len(names):
			return usagef("%s is missing", names[len(given)])
		case len(given) > len(names):
			return usagef("there are too many arguments")
		}
		for i, arg := range given {
			if err := checkText(names[i], arg); err != nil {
				return err
			}
		}
		return nil
	}
}

// checkText refuses what could not be shown, or would not cross the control
// socket as it is.
func checkText(name, text string) error {
	if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		return usagef("%s has characters that cannot be shown", name)
	}
	return nil
}

// noSubcommand is for commands that only have others under them: what is left
// of the arguments is a command that does not exist.
func noSubcommand(cmd *cobra.Command, given []string) error {
	if len(given) == 0 {
		return nil
	}
	err := usagef("%s has no command %q", cmd.CommandPath(), given[0])
	if near := cmd.SuggestionsFor(given[0]); len(near) > 0 {
		return withHint(err, "did you mean %s %s?", cmd.CommandPath(), near[0])
	}
	return err
}
