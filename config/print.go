package config

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Print writes every setting and, as a comment, where it comes from. The output
// is YAML that Load reads again, unless it has a secret: that is written as
// [redacted], and refused.
func (l *Loaded) Print(w io.Writer) error {
	const widest = 60 // longer lines have their comment right behind them
	lines, width := make([]string, len(l.Values)), 0
	for i, v := range l.Values {
		lines[i] = v.Key + ": " + v.Value
		if _, name, ok := strings.Cut(v.Key, "."); ok {
			lines[i] = "  " + name + ": " + v.Value
		}
		if n := utf8.RuneCountInString(lines[i]); n <= widest {
			width = max(width, n)
		}
	}
	var b strings.Builder
	open := ""
	for i, v := range l.Values {
		if section := sectionOf(v.Key); section != open {
			open = section
			b.WriteString(section + ":\n")
		}
		fmt.Fprintf(&b, "%-*s  # %s\n", width, lines[i], v.Origin)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
