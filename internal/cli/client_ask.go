package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

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

// passphraseFlags are what cmd says of a passphrase: to ask for one, or the file
// that has it; empty: none was named.
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

// passphraseFrom reads the passphrase from a file, or from standard input where
// that is free to have it.
func (a *app) passphraseFrom(name string, stdinIsFree bool) (secret.Text, error) {
	in := a.console.in
	switch {
	case name != "-":
		f, err := os.Open(name)
		if err != nil {
			return secret.Text{}, withHint(fmt.Errorf("the passphrase file: %w", err), "name a file that has the passphrase in one line")
		}
		defer func() { _ = f.Close() }() // it was only read
		in = f
	case a.console.terminal:
		return secret.Text{}, withHint(usagef("a passphrase typed here would be shown"), "let it be asked for, with --%s", passphraseFlag)
	case !stdinIsFree:
		return secret.Text{}, withHint(usagef("standard input has the text, and cannot have the passphrase"), "put one of them into a file")
	}
	p, err := readLine(in)
	if err == nil && p.IsZero() {
		err = errors.New("it is empty")
	}
	if err != nil {
		return secret.Text{}, withHint(fmt.Errorf("the passphrase file: %w", err), "it must have the passphrase in one line, and nothing else")
	}
	return p, nil
}

// errNoTerminal tells that a passphrase cannot be asked for.
func errNoTerminal() error {
	return withHint(usagef("there is no terminal to ask for a passphrase on"), "put it into a file, and name that with --%s", passphraseFileFlag)
}

// newPassphrase asks for a passphrase twice.
func (a *app) newPassphrase(ctx context.Context) (secret.Text, error) {
	if !a.console.terminal {
		return secret.Text{}, errNoTerminal()
	}
	first, err := a.console.hidden(ctx, "Passphrase: ")
	if err != nil {
		return secret.Text{}, err
	}
	again, err := a.console.hidden(ctx, "The same again: ")
	switch {
	case err != nil:
		return secret.Text{}, err
	case first.IsZero():
		return secret.Text{}, withHint(errors.New("the passphrase is empty"), "run the command again")
	case first.Reveal() != again.Reveal():
		return secret.Text{}, withHint(errors.New("the two passphrases differ"), "run the command again")
	}
	return first, nil
}

// hidden asks for a line without echo. It takes no more than the line from the
// terminal: what follows may answer another question.
func (c *console) hidden(ctx context.Context, question string) (secret.Text, error) {
	answers := make(chan secret.Text, 1)
	one := *c
	one.in = bytewise{c.in}
	err := one.talk(ctx, func(t *term.Terminal) error {
		answer, err := t.ReadPassword(question)
		answers <- secret.New(answer)
		return err
	})
	if err != nil {
		return secret.Text{}, err
	}
	return <-answers, nil
}

// A bytewise reader never reads ahead.
type bytewise struct{ io.Reader }

func (b bytewise) Read(p []byte) (int, error) { return b.Reader.Read(p[:min(1, len(p))]) }
