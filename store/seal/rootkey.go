package seal

import (
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strings"
)

const (
	keyComment = "# pushbox master key: keep a copy apart from the database; without it nothing can be read.\n"
	keyPrefix  = "pushbox-key-1:"
	checkSize  = 8 // with the key 40 bytes: 64 characters, in which every bit counts
	keyGroup   = 8 // characters between hyphens
)

var lowerBase32 = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// A RootKey is the master key: it seals the key ring and is kept apart from it. It
// prints as "[redacted]". The zero value is not a key, and its use panics.
type RootKey struct{ key }

// NewRootKey returns a random key.
func NewRootKey() RootKey { return RootKey{newKey()} }

// Text returns the content of a key file: a comment, and a line with the key and a
// checksum. Text and Paper are the only ways to read the key.
func (k RootKey) Text() []byte {
	return []byte(keyComment + keyLine(k.bytes()) + "\n")
}

// ParseRootKey reads the output of Text. It accepts white space around lines, CRLF, blank lines,
// comments, and upper case. The error is ErrKey.
func ParseRootKey(text []byte) (RootKey, error) {
	var found RootKey
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		if found.s != nil {
			return RootKey{}, fmt.Errorf("%w: there is more than one line beside comments", ErrKey)
		}
		var err error
		if found, err = parseKeyLine(line); err != nil {
			return RootKey{}, err
		}
	}
	if found.s == nil {
		return RootKey{}, fmt.Errorf("%w: there is no line that begins with %s", ErrKey, keyPrefix)
	}
	return found, nil
}

func parseKeyLine(line []byte) (RootKey, error) {
	text := lowerASCII(line)
	body, ok := strings.CutPrefix(text, keyPrefix)
	if !ok {
		return RootKey{}, fmt.Errorf("%w: a line is neither a comment nor a key: it must begin with # or %s", ErrKey, keyPrefix)
	}
	raw, err := lowerBase32.DecodeString(strings.ReplaceAll(body, "-", ""))
	// Writing the key again checks its groups and its checksum at once.
	if err != nil || len(raw) != keySize+checkSize || keyLine(raw[:keySize]) != text {
		return RootKey{}, fmt.Errorf("%w: a character of it was changed or lost; restore it from a copy", ErrKey)
	}
	return RootKey{keyOf(raw[:keySize])}, nil
}

func keyLine(k []byte) string {
	sum := sha256.Sum256(append([]byte(keyPrefix), k...))
	return keyPrefix + split(lowerBase32.EncodeToString(append(bytes.Clone(k), sum[:checkSize]...)), keyGroup, "-")
}

// split puts a text between groups of characters.
func split(text string, group int, between string) string {
	var groups []string
	for ; text != ""; text = text[group:] {
		groups = append(groups, text[:group])
	}
	return strings.Join(groups, between)
}

// lowerASCII changes only A to Z: the Kelvin sign is not a k.
func lowerASCII(line []byte) string {
	return string(bytes.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, line))
}

// OpensRing reports whether b begins with a sealed key ring, of any format, that the key opens. If
// it does not, the key reveals nothing about b.
func (k RootKey) OpensRing(b []byte) bool {
	fixed, record := keySize, keyRecord
	if isVersion1(b) {
		fixed, record = firstRingFixed, firstKEKRecord
	}
	for n := plainHead + overhead + fixed + record; n <= len(b); n += record {
		if _, err := OpenRing(k, b[:n]); err == nil {
			return true
		}
	}
	return false
}
