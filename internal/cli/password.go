package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"pushbox/internal/secret"
	"pushbox/store"
)

const stdinFlag = "password-stdin"

func addPasswordFlag(cmd *cobra.Command) {
	cmd.Flags().Bool(stdinFlag, false, "read the password from standard input")
}

// password gets the password that cmd is to set: from standard input where the
// flag says so, else from whoever sits at the terminal.
func (a *app) password(ctx context.Context, cmd *cobra.Command) (secret.Text, error) {
	fromStdin, err := cmd.Flags().GetBool(stdinFlag)
	switch {
	case err != nil:
		return secret.Text{}, err
	case fromStdin:
		return readPassword(a.console.in)
	case !a.console.terminal:
		return secret.Text{}, withHint(usagef("there is no terminal to ask for a password on"),
			"pass it on standard input, with --%s", stdinFlag)
	}
	return a.console.newPassword(ctx)
}

// readPassword reads one line, the end of which may be missing. It reads no
// more than shows that the line is too long for the store.
func readPassword(r io.Reader) (secret.Text, error) {
	b, err := io.ReadAll(io.LimitReader(r, store.MaxPassword+int64(len("\r\n"))+1))
	if err != nil {
		return secret.Text{}, fmt.Errorf("read the password: %w", err)
	}
	line, rest, _ := strings.Cut(string(b), "\n")
	if rest != "" {
		return secret.Text{}, withHint(errors.New("standard input has more than the line of the password"), "pass one line")
	}
	return secret.New(strings.TrimSuffix(line, "\r")), nil
}
