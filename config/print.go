package config

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Print writes every setting and, as a comment, where it comes from, and whether
// a change of it needs a restart. The output is YAML that Load reads again, unless it has a secret: that is written as
// [redacted], and refused.
func (l *Loaded) Print(w io.Writer) error {
	const widest = 60 // longer lines have their comment right behind them
	lines, width := make([]string, len(l.Values)), 0
	for i, v := range l.Values {
		lines[i] = nested(v.Key) + ": " + v.Value
		if n := utf8.RuneCountInString(lines[i]); n <= widest {
			width = max(width, n)
		}
	}
	var b strings.Builder
	open := ""
	for i, v := range l.Values {
		if section := sectionOf(v.Key); section != open {
			if open = section; section != "" {
				b.WriteString(nested(section) + ":\n")
			}
		}
		note := v.Origin
		if !v.Reload {
			note += "; needs a restart"
		}
		fmt.Fprintf(&b, "%-*s  # %s\n", width, lines[i], note)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// nested is the last word of a key or section, as far in as it lies.
func nested(key string) string {
	return strings.Repeat("  ", strings.Count(key, ".")) + key[strings.LastIndexByte(key, '.')+1:]
}
