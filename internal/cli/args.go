package cli

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"pushbox/internal/hint"
)

// A usageError says that the arguments or flags of a command are wrong.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// arguments requires exactly the named arguments. Its errors quote none of them: an argument
// too many may be a secret in the wrong place.
func arguments(names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, given []string) error {
		switch {
		case len(given) < len(names):
			return usagef("%s is missing", names[len(given)])
		case len(given) > len(names):
			return usagef("too many arguments")
		}
		for i, arg := range given {
			if err := checkText(names[i], arg); err != nil {
				return err
			}
		}
		return nil
	}
}

// checkText refuses a text that cannot be shown, or would change on the control socket.
func checkText(name, text string) error {
	if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		return usagef("%s has characters that cannot be shown", name)
	}
	return nil
}

// noSubcommand checks the arguments of a command that only groups others: any argument is
// an unknown command.
func noSubcommand(cmd *cobra.Command, given []string) error {
	if len(given) == 0 {
		return nil
	}
	err := usagef("%s has no command %q", cmd.CommandPath(), given[0])
	cmd.SuggestionsMinimumDistance = 2 // letters that are wrong
	if near := cmd.SuggestionsFor(given[0]); len(near) > 0 {
		return hint.With(err, "did you mean %s %s?", cmd.CommandPath(), near[0])
	}
	return err
}

// flagError says what the value of a flag must be, instead of how Go failed to parse it. It
// does not quote the value.
func flagError(_ *cobra.Command, err error) error {
	text, reason, ok := strings.Cut(err.Error(), "\" flag: strconv.Parse")
	if !ok {
		return &usageError{err}
	}
	name := text[strings.LastIndex(text, "\"")+1:]
	if strings.HasPrefix(reason, "Bool") {
		return usagef("%s must be true or false", name)
	}
	return usagef("%s must be a whole number", name)
}
