package config

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Problem is one mistake in the settings that Load was given. It never contains
// the value of a setting.
type Problem struct {
	Key    string // the setting; empty if no single one is meant
	Origin string // where it was found, such as "file /etc/pushbox/config.yaml, line 3"
	Text   string // what is wrong, and what to do if that is not obvious
}

// String returns the problem in one line.
func (p Problem) String() string {
	if p.Key == "" {
		return p.Origin + ": " + p.Text
	}
	return p.Key + " (" + p.Origin + "): " + p.Text
}

// A ProblemsError has all problems of a configuration, at least one.
type ProblemsError struct {
	Problems []Problem
	Unread   error // why the settings file cannot be read; nil: it was, or there is none
}

// Cure says what to do about the problems.
func (e *ProblemsError) Cure() string {
	switch {
	case errors.Is(e.Unread, fs.ErrPermission):
		return "let this user read the file (for a package: chown root:pushbox FILE && chmod 640 FILE), or run the command as root"
	case e.Unread != nil:
		return "check the path; `pushbox config init FILE` writes a new file"
	}
	return "correct these settings; `pushbox config init FILE` writes a file with all of them"
}

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

func didYouMean(given string, known []string) string {
	const longest = 64 // no known name is longer; the work stays bounded
	if len(given) > longest {
		return ""
	}
	best, least := "", 1+max(1, len(strings.TrimPrefix(given, envPrefix))/4)
	for _, k := range known {
		if d := distance(strings.ToLower(given), strings.ToLower(k)); d < least {
			best, least = k, d
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + best + "?"
}

// distance is how many bytes must be inserted, dropped or replaced to make b of
// a (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
