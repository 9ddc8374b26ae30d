package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"pushbox/internal/hint"
	"pushbox/internal/secret"
	"pushbox/store"
	"pushbox/store/record"
)

const (
	passphraseFlag     = "passphrase"
	passphraseFileFlag = "passphrase-file"
)

func addPassphraseFlags(cmd *cobra.Command) {
	cmd.Flags().Bool(passphraseFlag, false, "ask for a passphrase on the terminal")
	cmd.Flags().String(passphraseFileFlag, "", "read the passphrase from `FILE`, one line; - is standard input")
}

// givenPassphrase returns the passphrase of the file that a flag names; zero if none is named.
// ask reports whether to ask for the passphrase on the terminal.
func (a *app) givenPassphrase(cmd *cobra.Command, stdinIsFree bool) (p secret.Text, ask bool, err error) {
	ask, noAsk := cmd.Flags().GetBool(passphraseFlag)
	file, noFile := cmd.Flags().GetString(passphraseFileFlag)
	switch err = errors.Join(noAsk, noFile); {
	case err != nil:
	case file == "" && cmd.Flags().Changed(passphraseFileFlag):
		err = usagef("--%s names no file", passphraseFileFlag)
	case file != "" && ask:
		err = usagef("give --%s or --%s, not both", passphraseFlag, passphraseFileFlag)
	case file != "":
		p, err = a.passphraseFrom(file, stdinIsFree)
	case ask && !a.console.terminal:
		err = hint.With(usagef("cannot ask for a passphrase: there is no terminal"), "put it into a file, and name that with --%s", passphraseFileFlag)
	}
	return p, ask, err
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
		return secret.Text{}, hint.With(usagef("standard input cannot provide the passphrase: the command reads something else from it"), "put the passphrase into a file")
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

func addPasswordFlag(cmd *cobra.Command) (fromStdin *bool) {
	return cmd.Flags().Bool("password-stdin", false, "read the password from standard input")
}

// password reads the new password, from standard input or from the terminal.
func (a *app) password(ctx context.Context, fromStdin bool) (secret.Text, error) {
	switch {
	case fromStdin:
		return readPassword(a.console.in)
	case !a.console.terminal:
		return secret.Text{}, hint.With(usagef("cannot ask for a password: standard input is not a terminal"), "send it to standard input, with --password-stdin")
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
	line, ok := onlyLine(string(b))
	if !ok {
		return secret.Text{}, hint.With(errors.New("standard input has more than one line"), "pass one line")
	}
	return line, nil
}

// readLine reads the one line of a file that has a secret. The line's end may be
// missing.
func readLine(r io.Reader) (secret.Text, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxFileLine+1))
	if err != nil {
		return secret.Text{}, err
	}
	line, ok := onlyLine(string(b))
	if !ok || len(b) > maxFileLine {
		return secret.Text{}, fmt.Errorf("it must be a single line of at most %d bytes", maxFileLine)
	}
	return line, nil
}

// onlyLine returns the one line of a text without its end, which may be missing. ok is false if
// another line follows.
func onlyLine(text string) (line secret.Text, ok bool) {
	first, rest, _ := strings.Cut(text, "\n")
	return secret.New(strings.TrimSuffix(first, "\r")), rest == ""
}

// readText reads the text to push, unchanged.
func readText(r io.Reader) (secret.Text, error) {
	b, err := io.ReadAll(io.LimitReader(r, store.MaxText+1))
	switch {
	case err != nil:
		return secret.Text{}, fmt.Errorf("read the text: %w", err)
	case len(b) == 0:
		return secret.Text{}, hint.With(errors.New("standard input has no text"), "pass the text on standard input, or name a file to push")
	case len(b) > store.MaxText:
		return secret.Text{}, hint.With(fmt.Errorf("the text is longer than %d bytes", store.MaxText), "push it as a file: pushbox push FILE")
	case !utf8.Valid(b):
		return secret.Text{}, hint.With(errors.New("standard input is not text in UTF-8"), "push it as a file: pushbox push FILE")
	}
	return secret.New(string(b)), nil
}
