package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"pushbox/internal/hint"
	"pushbox/internal/safename"
	"pushbox/internal/secret"
	"pushbox/internal/terminal"
	"pushbox/store"
)

// readLine reads the one line of a file that has a secret. The line's end may be
// missing.
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
		return secret.Text{}, hint.With(errors.New("standard input is no text in UTF-8"), "push it as a file: pushbox push FILE")
	}
	return secret.New(string(b)), nil
}

// showText writes the text of a push to standard output, unchanged. On a terminal it
// escapes control characters and adds an end of line.
func (a *app) showText(text string) error {
	if !terminal.Is(a.stdout) {
		_, err := io.WriteString(a.stdout, text)
		return err
	}
	shown, changed := escapeControls(text)
	if !strings.HasSuffix(shown, "\n") {
		shown += "\n"
	}
	if _, err := io.WriteString(a.stdout, shown); err != nil {
		return err
	}
	if changed {
		a.say("the text has control characters, which are shown as <U+…> here; redirect standard output to get it as it is")
	}
	return nil
}

// escapeControls escapes the characters of a text that could control a terminal, or reverse
// the direction of what it shows. changed reports whether there was any.
func escapeControls(text string) (shown string, changed bool) {
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, "<%02X>", text[0])
			changed = true
		case r == '\n', r == '\t', unicode.IsPrint(r), unicode.Is(unicode.Zs, r), unicode.Is(unicode.Co, r), safename.IsJoiner(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "<U+%04X>", r)
			changed = true
		}
		text = text[size:]
	}
	return b.String(), changed
}
