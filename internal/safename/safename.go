// Package safename makes names of files harmless that another machine chose.
package safename

import (
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// unnamed replaces a name if nothing of it can stay.
const unnamed = "file"

// IsJoiner reports whether r is one of the two invisible joiners. Texts keep them:
// Persian, the scripts of India and many emoji need them.
func IsJoiner(r rune) bool { return r == '\u200c' || r == '\u200d' }

// Shown returns a name as people may see it, in at most most bytes: without path,
// control characters, characters that change the direction of text (UAX #9 section 2)
// and other invisible characters. A short extension stays when the name is cut. If
// nothing stays, the name is "file".
func Shown(name string, most int) string {
	name = clean(name, most, seen)
	if strings.Trim(name, ". \u200c\u200d") == "" {
		return unnamed
	}
	return name
}

// Saved returns a name for a file in a directory, in at most most bytes and a leading
// underscore: no path, nothing that a terminal obeys, and not hidden, since shells and
// other programs read some hidden files by themselves. If nothing stays, the name is
// "file".
func Saved(name string, most int) string {
	name = clean(name, most, printed)
	if strings.HasPrefix(name, ".") {
		name = "_" + name
	}
	if !filepath.IsLocal(name) || strings.Trim(name, "_.") == "" {
		return unnamed
	}
	return name
}

// clean removes the path and the characters that keep drops, and cuts the name to most
// bytes.
func clean(name string, most int, keep func(rune) rune) string {
	name = strings.ToValidUTF8(name, string(utf8.RuneError))
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.TrimSpace(strings.Map(keep, name))
	return strings.TrimSpace(shorten(name, most)) // a space may have been before the cut
}

// seen drops invisible characters, and those that make a name look like another.
func seen(r rune) rune {
	switch {
	case IsJoiner(r), unicode.Is(unicode.Prepended_Concatenation_Mark, r): // the marks are visible
		return r
	case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point):
		return -1
	default:
		return r
	}
}

// printed drops what a terminal does not show as a character.
func printed(r rune) rune {
	if r == utf8.RuneError || !unicode.IsPrint(r) && !IsJoiner(r) {
		return -1
	}
	return r
}

// shorten cuts a name to most bytes, between characters, in front of its extension.
func shorten(name string, most int) string {
	if len(name) <= most {
		return name
	}
	const longest = 16 // of what counts as an extension
	extension := ""
	if i := strings.LastIndexByte(name, '.'); i > 0 && len(name)-i <= longest {
		name, extension = name[:i], name[i:]
	}
	end := most - len(extension)
	for !utf8.RuneStart(name[end]) {
		end--
	}
	return name[:end] + extension
}
