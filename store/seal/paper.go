package seal

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// The paper form has the 64 characters of a key line, 16 in each line. Four more characters in each
// line are a checksum of the line and its number.
const (
	// PaperLines is the number of lines with parts of the key in the paper form.
	PaperLines = 4

	paperChars  = 16
	paperCheck  = 4
	paperGroup  = 4 // characters between spaces
	paperPrefix = "pushbox paper key 1"
	infoKeyID   = "pushbox key id 1"
)

// ID returns eight characters that identify the key without revealing it.
func (k RootKey) ID() string {
	id := hkdfSHA256(k.bytes(), nil, infoKeyID)
	return hex.EncodeToString(id[:4])
}

// Equal reports whether two keys are the same.
func (k RootKey) Equal(other RootKey) bool { return *k.s == *other.s }

// Paper returns the key in a form to print, keep, and type in again: comments, and
// numbered lines that ParsePaper reads.
func (k RootKey) Paper() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, paperText, k.ID())
	text := strings.ReplaceAll(strings.TrimPrefix(keyLine(k.bytes()), keyPrefix), "-", "")
	for n := 1; n <= PaperLines; n++ {
		part := text[(n-1)*paperChars:][:paperChars]
		fmt.Fprintf(&b, "%d: %s  %s\n", n, split(part, paperGroup, " "), paperSum(n, part))
	}
	return []byte(b.String())
}

const paperText = `# pushbox master key, on paper. Key ID: %s
#
# Keep this paper in a safe place, away from the database and its backups. Without
# the key they cannot be read. With the key they can be read in part.
#
# To make a key file, run ` + "`pushbox key import`" + ` and type the lines below, each with its
# last group: that group shows whether the line was typed correctly. Capital letters
# and spaces do not matter. The characters are the letters a to z and the digits 2 to 7.

`

// ParsePaper reads the numbered lines of Paper, in any order, in upper or lower case, with any
// spaces or hyphens. It skips blank lines and comments. The error is ErrKey, and names the wrong or
// missing line.
func ParsePaper(text []byte) (RootKey, error) {
	var parts [PaperLines + 1]string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		head, _, _ := strings.Cut(line, ":")
		n, err := strconv.Atoi(strings.TrimSpace(head))
		if err != nil || n < 1 || n > PaperLines {
			return RootKey{}, fmt.Errorf("%w: a line of the paper form does not begin with its number, from 1 to %d, and a colon", ErrKey, PaperLines)
		}
		part, err := paperLine(n, line)
		if err != nil {
			return RootKey{}, err
		}
		if parts[n] != "" && parts[n] != part {
			return RootKey{}, fmt.Errorf("%w: line %d of the paper form appears twice, with different text", ErrKey, n)
		}
		parts[n] = part
	}
	for n := 1; n <= PaperLines; n++ {
		if parts[n] == "" {
			return RootKey{}, fmt.Errorf("%w: line %d of the paper form is missing", ErrKey, n)
		}
	}
	return parseKeyLine([]byte(keyPrefix + split(strings.Join(parts[1:], ""), keyGroup, "-")))
}

// CheckPaperLine returns nil if text is line n of a paper form, with or without its
// number. The error is ErrKey.
func CheckPaperLine(n int, text string) error {
	_, err := paperLine(n, text)
	return err
}

// paperLine returns the part of the key in a line.
func paperLine(n int, text string) (string, error) {
	text = lowerASCII([]byte(strings.TrimSpace(text)))
	if head, rest, ok := strings.Cut(text, ":"); ok && strings.TrimSpace(head) == strconv.Itoa(n) {
		text = rest
	}
	// The only digits in it are 2 to 7; others are read as the letters that look like them.
	text = strings.NewReplacer(" ", "", "\t", "", "-", "", "0", "o", "1", "l", "8", "b").Replace(text)
	switch {
	case len(text) != paperChars+paperCheck:
		return "", fmt.Errorf("%w: line %d of the paper form has %d characters without spaces, but should have %d",
			ErrKey, n, len([]rune(text)), paperChars+paperCheck)
	case paperSum(n, text[:paperChars]) != text[paperChars:]:
		return "", fmt.Errorf("%w: line %d of the paper form was mistyped: its last group does not match the others", ErrKey, n)
	}
	return text[:paperChars], nil
}

// paperSum is the checksum of a part of the key and its place.
func paperSum(n int, part string) string {
	sum := sha256.Sum256([]byte(paperPrefix + strconv.Itoa(n) + part))
	return lowerBase32.EncodeToString(sum[:])[:paperCheck]
}
