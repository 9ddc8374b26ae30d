package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"pushbox/internal/hint"
	"pushbox/internal/secret"
	"pushbox/store/record"
)

const stdinFlag = "password-stdin"

func addPasswordFlag(cmd *cobra.Command) {
	cmd.Flags().Bool(stdinFlag, false, "read the password from standard input")
}

// password reads the new password: from standard input if the flag is set, otherwise from
// the terminal.
func (a *app) password(ctx context.Context, cmd *cobra.Command) (secret.Text, error) {
	fromStdin, err := cmd.Flags().GetBool(stdinFlag)
	switch {
	case err != nil:
		return secret.Text{}, err
	case fromStdin:
		return readPassword(a.console.in)
	case !a.console.terminal:
		return secret.Text{}, hint.With(usagef("cannot ask for a password: standard input is not a terminal"),
			"send it to standard input, with --%s", stdinFlag)
	}
	return a.console.twice(ctx, "Password")
}

// readPassword reads one line, with or without its end. It reads just enough of a long line
// for the store to refuse it.
func readPassword(r io.Reader) (secret.Text, error) {
	b, err := io.ReadAll(io.LimitReader(r, record.MaxPassword+int64(len("\r\n"))+1))
	if err != nil {
		return secret.Text{}, fmt.Errorf("read the password: %w", err)
	}
	line, rest, _ := strings.Cut(string(b), "\n")
	if rest != "" {
		return secret.Text{}, hint.With(errors.New("standard input has more than one line"), "pass one line")
	}
	return secret.New(strings.TrimSuffix(line, "\r")), nil
}
