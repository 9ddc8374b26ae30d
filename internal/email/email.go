// Package email recognizes e-mail addresses, and those that could be taken for others.
package email

import (
	"net/mail"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// MaxLength is how long an address may be, in bytes (RFC 5321 section 4.5.3.1.3, less the angle brackets).
const MaxLength = 254

// Fold returns the form of a typed address by which addresses are compared: without blanks around
// it, in lower case. A letter that lower case, or Unicode's form NFKC, would turn into one of
// another alphabet stays as it is: the Kelvin sign is no k.
func Fold(address string) string {
	return strings.Map(func(r rune) rune {
		if low := unicode.ToLower(r); r < utf8.RuneSelf || low >= utf8.RuneSelf && norm.NFKC.IsNormalString(string(r)) {
			return low
		}
		return r
	}, strings.TrimSpace(address))
}

// IsAddress reports whether a text is an address and nothing else: no display name.
func IsAddress(text string) bool {
	a, err := mail.ParseAddress(text)
	return err == nil && a.Name == "" && a.Address == text && len(text) <= MaxLength && !strings.ContainsFunc(text, unicode.IsControl)
}

// IsClear reports whether a text is an address that readers do not take for another one. Beyond
// ASCII it has only letters and their marks, in Unicode's form NFKC, and all belong to one script;
// those of East Asia may be mixed, and beside Latin ones, but not within one part between dots:
// some look like a dot or a slash there. Letters of phonetic alphabets look like Latin ones. Beyond
// that scripts are not looked at: within one, letters may look alike.
func IsClear(text string) bool {
	return IsAddress(text) && norm.NFKC.IsNormalString(text) && !strings.ContainsFunc(text, isOdd) && isOfOneScript(text) &&
		!slices.ContainsFunc(strings.FieldsFunc(text, func(r rune) bool { return r == '.' || r == '@' }), isMixed) && !hasManyMarks(text)
}

// isOdd reports whether an address should not have a character: it is beyond ASCII, and no letter
// or mark, or one that is not seen.
func isOdd(r rune) bool {
	return r >= utf8.RuneSelf && (!unicode.In(r, unicode.Letter, unicode.Mark) || IsUnseen(r) || unicode.In(r, unicode.Variation_Selector, lookAlikes))
}

// lookAlikes are letters that are Latin by their script, of phonetic alphabets and the like, and
// marks that strike a letter out.
var lookAlikes = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x0131, Hi: 0x0131, Stride: 1}, // i without a dot
	{Lo: 0x0138, Hi: 0x0138, Stride: 1},
	{Lo: 0x0184, Hi: 0x0185, Stride: 1},
	{Lo: 0x01c0, Hi: 0x01c3, Stride: 1}, // clicks
	{Lo: 0x0237, Hi: 0x0237, Stride: 1}, // j without a dot
	{Lo: 0x0250, Hi: 0x02af, Stride: 1}, // the International Phonetic Alphabet
	{Lo: 0x0334, Hi: 0x0338, Stride: 1},
	{Lo: 0x1d00, Hi: 0x1dbf, Stride: 1},
	{Lo: 0x2c60, Hi: 0x2c7f, Stride: 1},
	{Lo: 0xa720, Hi: 0xa7ff, Stride: 1},
	{Lo: 0xab30, Hi: 0xab6f, Stride: 1},
}}

// isMixed reports whether a part of an address has Latin letters beside others.
func isMixed(part string) bool {
	latin := func(r rune) bool { return unicode.Is(unicode.Latin, r) }
	other := func(r rune) bool { return unicode.IsLetter(r) && !latin(r) }
	return strings.ContainsFunc(part, latin) && strings.ContainsFunc(part, other)
}

// mostMarks is how many marks a letter may have.
const mostMarks = 2

func hasManyMarks(text string) bool {
	n := 0
	return strings.ContainsFunc(text, func(r rune) bool {
		if !unicode.IsMark(r) {
			n = 0
			return false
		}
		n++
		return n > mostMarks
	})
}

// IsUnseen reports whether a character leaves no trace of its own where it is shown. Selectors
// of variants leave one: the picture before them is another one.
func IsUnseen(r rune) bool {
	const blankBraille = '\u2800'
	return r == blankBraille || unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point)
}

// eastAsian are the scripts that are written together.
var eastAsian = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo, unicode.Latin}

func isOfOneScript(text string) bool {
	var of *unicode.RangeTable
	mixed := strings.ContainsFunc(text, func(r rune) bool {
		if !unicode.In(r, unicode.Letter, unicode.Mark) || unicode.In(r, unicode.Common, unicode.Inherited) {
			return false
		}
		if of == nil {
			of = scriptOf(r)
		}
		return !unicode.Is(of, r)
	})
	return !mixed || !strings.ContainsFunc(text, func(r rune) bool {
		return unicode.In(r, unicode.Letter, unicode.Mark) && !unicode.In(r, eastAsian...) && !unicode.In(r, unicode.Common, unicode.Inherited)
	})
}

// scriptOf returns the script of a letter or a mark.
func scriptOf(r rune) *unicode.RangeTable {
	for _, table := range unicode.Scripts {
		if unicode.Is(table, r) {
			return table
		}
	}
	return &unicode.RangeTable{}
}

// Plain returns a text as programs may read it that look for addresses: full-width and other forms
// of characters are the plain ones.
func Plain(text string) string {
	return strings.ReplaceAll(norm.NFKC.String(text), "。", ".")
}

// Shown returns an address as it can be shown to people: one that is not clear with all that is
// beyond ASCII escaped.
func Shown(address string) string {
	if IsClear(address) {
		return address
	}
	quoted := strconv.QuoteToASCII(address)
	return quoted[1 : len(quoted)-1]
}

// IsSendable reports whether mail can be sent to an address: it is as in RFC 5321, in
// ASCII, with nothing in quotes and nothing that could break a header.
func IsSendable(text string) bool {
	odd := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`"(),:;<>[\]`, r) }
	return !strings.ContainsFunc(text, odd) && IsAddress(text)
}
