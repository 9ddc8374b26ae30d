package config

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Problem is one thing that is wrong with what Load was given. It never holds
// the value of a setting.
type Problem struct {
	Key    string // the setting; empty where no single one is meant
	Origin string // where it was found, such as "file /etc/pushbox.yaml, line 3"
	Text   string // what is wrong, and where it helps what to do
}

// String is the problem in one line.
func (p Problem) String() string {
	if p.Key == "" {
		return p.Origin + ": " + p.Text
	}
	return p.Key + " (" + p.Origin + "): " + p.Text
}

// A ProblemsError is everything that is wrong with a configuration. There is at
// least one problem.
type ProblemsError struct{ Problems []Problem }

// Error lists every problem, one a line.
func (e *ProblemsError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// oneLine returns a text from outside, quoted if it would not print as it is.
func oneLine(text string) string {
	odd := func(r rune) bool { return !unicode.IsPrint(r) }
	if !utf8.ValidString(text) || strings.ContainsFunc(text, odd) {
		return strconv.Quote(text)
	}
	return text
}
