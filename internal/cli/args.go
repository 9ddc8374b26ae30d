package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"pushbox/internal/client"
	"pushbox/internal/hint"
	"pushbox/internal/humanize"
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

// addTo adds commands to another one. A command without a rule of its own requires the
// arguments that its usage names. NAME|none is an argument NAME.
func addTo(parent *cobra.Command, subs ...*cobra.Command) {
	for _, sub := range subs {
		if sub.Args == nil {
			names := strings.Fields(sub.Use)[1:]
			for i, name := range names {
				names[i], _, _ = strings.Cut(name, "|")
			}
			sub.Args = arguments(names...)
		}
	}
	parent.AddCommand(subs...)
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

const maxLifetime = 36500 * humanize.Day

var (
	errLifetime = errors.New("must be a length of time such as 90d or 12h, more than 0 and at most 36500d")
	errMoment   = errors.New("must be a time with its zone, such as 2026-12-31T17:00:00+01:00")

	errCloseAfter = errors.New("must be 15m, 30m, 45m, 1h, 6h, 12h, 1d to 7d, 14d, 21d, 30d, 60d or 90d")
	errSince      = errors.New("must be a length of time such as 24h or 7d, a date such as 2026-01-31, or a time such as 2026-01-31T09:00:00Z")
)

// parseLifetime reads a number of days, such as 90d, or a duration for time.ParseDuration.
func parseLifetime(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var n uint64
		n, err = strconv.ParseUint(days, 10, 16)
		d = time.Duration(n) * humanize.Day
	}
	if err != nil || d <= 0 || d > maxLifetime {
		return 0, errLifetime
	}
	return d, nil
}

// parseSince reads how long ago a time is, a date, or a time in the form of RFC 3339.
func parseSince(text string) (time.Time, error) {
	if ago, err := parseLifetime(text); err == nil {
		return time.Now().Add(-ago), nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, errSince
}

// parseMoment reads a time in the form of RFC 3339, with its zone.
func parseMoment(text string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, errMoment
	}
	return at, nil
}

// parseCloseAfter reads a length of time that the API has a code for.
func parseCloseAfter(text string) (time.Duration, error) {
	d, err := parseLifetime(text)
	if _, has := client.DurationCode(d); err != nil || !has {
		return 0, errCloseAfter
	}
	return d, nil
}

// parsedFlag adds a flag whose value a function reads. Its default is zero.
func parsedFlag[T any](cmd *cobra.Command, name, usage string, parse func(string) (T, error)) *T {
	value := new(T)
	cmd.Flags().Func(name, usage, func(text string) (err error) {
		*value, err = parse(text)
		return err
	})
	return value
}

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
