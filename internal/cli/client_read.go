package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"pushbox/internal/secret"
	"pushbox/store"
)

// readLine reads the one line of a file that has a secret, the end of which may
// be missing.
func readLine(r io.Reader) (secret.Text, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxFileLine+1))
	if err != nil {
		return secret.Text{}, err
	}
	line, rest, _ := strings.Cut(string(b), "\n")
	if rest != "" || len(b) > maxFileLine {
		return secret.Text{}, fmt.Errorf("it has more than one line of at most %d bytes", maxFileLine)
	}
	return secret.New(strings.TrimSuffix(line, "\r")), nil
}

// readBounded reads a file of at most so many bytes.
func readBounded(name string, most int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(b)) > most {
		err = fmt.Errorf("%s is larger than %d bytes", name, most)
	}
	return b, err
}

// readText reads a text that is to be pushed, as it is.
func readText(r io.Reader) (secret.Text, error) {
	b, err := io.ReadAll(io.LimitReader(r, store.MaxText+1))
	switch {
	case err != nil:
		return secret.Text{}, fmt.Errorf("read the text: %w", err)
	case len(b) == 0:
		return secret.Text{}, withHint(errors.New("standard input has no text"), "pass the text on standard input, or name a file to push")
	case len(b) > store.MaxText:
		return secret.Text{}, withHint(fmt.Errorf("the text is longer than %d bytes", store.MaxText), "push it as a file: pushbox push FILE")
	case !utf8.Valid(b):
		return secret.Text{}, withHint(errors.New("standard input is no text in UTF-8"), "push it as a file: pushbox push FILE")
	}
	return secret.New(string(b)), nil
}
