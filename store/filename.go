package store

import (
	"mime"
	"strings"
	"unicode"
	"unicode/utf8"

	"pushbox/internal/secret"
)

const (
	maxFileName    = 200 // bytes
	maxContentType = 255 // bytes
	noFileName     = "file"
	noContentType  = "application/octet-stream"
)

// joiners are the two invisible characters that names keep: Persian, the scripts
// of India and many emoji are not written right without them.
const joiners = "\u200c\u200d"

// fileName makes a name that does no harm out of what a sender says: path
// parts, control characters, characters that turn the direction of text, as in
// UAX #9 section 2, and others that are not seen are dropped; what is over 200
// bytes is cut, but for a short extension. A name of which nothing stays is
// "file".
func fileName(name string) secret.Text {
	name = strings.ToValidUTF8(name, "\uFFFD")
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.TrimSpace(strings.Map(harmless, name))
	name = strings.TrimSpace(shorten(name)) // what was cut may have followed a space
	if strings.Trim(name, ". "+joiners) == "" {
		return secret.New(noFileName)
	}
	return secret.New(name)
}

// harmless drops what is not seen, and what makes a name look like another.
func harmless(r rune) rune {
	switch {
	case strings.ContainsRune(joiners, r), unicode.Is(unicode.Prepended_Concatenation_Mark, r): // the latter are seen
		return r
	case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point):
		return -1
	default:
		return r
	}
}

// shorten cuts a name to maxFileName bytes, between characters, in front of
// its extension.
func shorten(name string) string {
	if len(name) <= maxFileName {
		return name
	}
	const longest = 16 // of what counts as an extension
	extension := ""
	if i := strings.LastIndexByte(name, '.'); i > 0 && len(name)-i <= longest {
		name, extension = name[:i], name[i:]
	}
	end := maxFileName - len(extension)
	for !utf8.RuneStart(name[end]) {
		end--
	}
	return name[:end] + extension
}

// contentType keeps a media type that is one, and is written in printable ASCII.
func contentType(text string) string {
	text = strings.TrimSpace(text)
	media, _, err := mime.ParseMediaType(text)
	if err != nil || len(text) > maxContentType || !strings.Contains(media, "/") || strings.ContainsFunc(text, unprintable) {
		return noContentType
	}
	return text
}

func unprintable(r rune) bool { return r < ' ' || r > '~' }
