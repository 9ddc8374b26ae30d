package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"pushbox/internal/hint"
	"pushbox/internal/secret"
)

const (
	passphraseFlag     = "passphrase"
	passphraseFileFlag = "passphrase-file"
)

func addPassphraseFlags(cmd *cobra.Command) {
	cmd.Flags().Bool(passphraseFlag, false, "ask for a passphrase on the terminal")
	cmd.Flags().String(passphraseFileFlag, "", "read the passphrase from `FILE`, one line; - is standard input")
}

// passphraseFlags returns what the flags of cmd say of a passphrase: whether to ask for
// it, or the file that has it (empty: none was named).
func passphraseFlags(cmd *cobra.Command) (ask bool, file string, err error) {
	if ask, err = cmd.Flags().GetBool(passphraseFlag); err != nil {
		return false, "", err
	}
	file, err = cmd.Flags().GetString(passphraseFileFlag)
	switch {
	case err != nil:
		return false, "", err
	case file == "" && cmd.Flags().Changed(passphraseFileFlag):
		return false, "", usagef("--%s names no file", passphraseFileFlag)
	case file != "" && ask:
		return false, "", usagef("give --%s or --%s, not both", passphraseFlag, passphraseFileFlag)
	}
	return ask, file, nil
}

// passphraseFrom reads the passphrase from a file, or from standard input unless that
// has another use.
func (a *app) passphraseFrom(name string, stdinIsFree bool) (secret.Text, error) {
	in := a.console.in
	switch {
	case name != "-":
		f, err := os.Open(name)
		if err != nil {
			return secret.Text{}, hint.With(fmt.Errorf("the passphrase file: %w", err), "name a file that has the passphrase in one line")
		}
		defer func() { _ = f.Close() }() // it was only read
		in = f
	case a.console.terminal:
		return secret.Text{}, hint.With(usagef("standard input is a terminal that would show the passphrase"), "use --%s, which asks for it", passphraseFlag)
	case !stdinIsFree:
		return secret.Text{}, hint.With(usagef("standard input has another use, and cannot have the passphrase"), "put the passphrase into a file")
	}
	p, err := readLine(in)
	if err == nil && p.IsZero() {
		err = errors.New("it is empty")
	}
	if err != nil {
		return secret.Text{}, hint.With(fmt.Errorf("the passphrase file: %w", err), "it must have the passphrase in one line, and nothing else")
	}
	return p, nil
}

// errNoTerminal returns the error that there is no terminal to ask for a passphrase.
func errNoTerminal() error {
	return hint.With(usagef("cannot ask for a passphrase: there is no terminal"), "put it into a file, and name that with --%s", passphraseFileFlag)
}

// newPassphrase asks for a passphrase twice.
func (a *app) newPassphrase(ctx context.Context) (secret.Text, error) {
	if !a.console.terminal {
		return secret.Text{}, errNoTerminal()
	}
	p, err := a.console.twice(ctx, "Passphrase")
	if err == nil && p.IsZero() {
		err = hint.With(errors.New("the passphrase is empty"), "run the command again")
	}
	return p, err
}
