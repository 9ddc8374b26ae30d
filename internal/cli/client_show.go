package cli

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// showText writes the text of a push to standard output: exactly as it is, but
// on a terminal in a form that cannot drive it, and with an end of line.
func (a *app) showText(text string) error {
	if !isTerminal(a.stdout) {
		_, err := io.WriteString(a.stdout, text)
		return err
	}
	shown, changed := harmless(text)
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

// harmless is a text in which what could drive a terminal, or turn round what it
// shows, is written out. changed reports whether there was any.
func harmless(text string) (shown string, changed bool) {
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, "<%02X>", text[0])
			changed = true
		case r == '\n', r == '\t', unicode.IsPrint(r), unicode.Is(unicode.Zs, r), unicode.Is(unicode.Co, r), isJoiner(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "<U+%04X>", r)
			changed = true
		}
		text = text[size:]
	}
	return b.String(), changed
}

// isJoiner reports whether r joins or parts letters or emoji, as scripts need it.
func isJoiner(r rune) bool { return r == '\u200c' || r == '\u200d' }
