// Package endtoend encrypts a push before it is sent, under a key that only the
// link has. docs/end-to-end.md describes the format; testdata/end-to-end has examples.
package endtoend

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"regexp"
	"strconv"

	"pushbox/internal/secret"
)

const (
	keySize  = 32
	checkLen = 4   // bytes behind the key that show that it is whole
	version  = "a" // begins the fragment of a link

	keyLabel  = "pushbox end-to-end 1 key"
	metaLabel = "pushbox end-to-end 1 metadata"
	textLabel = "pushbox end-to-end 1 text"
	fileLabel = "pushbox end-to-end 1 file " // and its number
)

var (
	// ErrNoKey says that the link has nothing behind "#".
	ErrNoKey = errors.New(`the link has no key: the part from "#" on is missing`)

	// ErrCutKey says that the key is incomplete or was changed.
	ErrCutKey = errors.New(`the key in the link, behind "#", is incomplete or was changed`)

	// ErrLaterKey says that a later version of pushbox made the link.
	ErrLaterKey = errors.New("the key in the link has a version that this program does not know")

	// ErrNotEncrypted says that a text is not an envelope.
	ErrNotEncrypted = errors.New("the push is not encrypted end to end")

	// ErrOpen says that something cannot be decrypted.
	ErrOpen = errors.New("the key in the link is not the key of this push, or the data was changed")
)

// A Key encrypts one push. The zero value is none.
type Key struct{ bytes secret.Text }

// NewKey makes a random key.
func NewKey() Key {
	b := make([]byte, keySize)
	_, _ = rand.Read(b) // it never fails
	return Key{secret.New(string(b))}
}

// IsZero reports whether k is no key.
func (k Key) IsZero() bool { return k.bytes.IsZero() }

// Fragment is the part of the link behind "#".
func (k Key) Fragment() secret.Text {
	key := []byte(k.bytes.Reveal())
	return secret.New(version + base64.RawURLEncoding.EncodeToString(append(key, checksum(key, keyLabel)...)))
}

// ParseFragment reads the part of a link behind "#". The error does not contain it.
func ParseFragment(text string) (Key, error) {
	b, err := parseFragment(text, keyLabel)
	if err != nil {
		return Key{}, err
	}
	if len(b) != keySize {
		return Key{}, ErrCutKey
	}
	return Key{secret.New(string(b))}, nil
}

func parseFragment(text, label string) ([]byte, error) {
	switch {
	case text == "":
		return nil, ErrNoKey
	case text[:1] != version && laterVersion.MatchString(text):
		return nil, ErrLaterKey
	case text[:1] != version:
		return nil, ErrCutKey
	}
	b, err := decode(text[1:])
	end := max(0, len(b)-checkLen)
	if err != nil || !bytes.Equal(checksum(b[:end], label), b[end:]) {
		return nil, ErrCutKey
	}
	return b[:end], nil
}

// laterVersion matches a key of another version that may be whole.
var laterVersion = regexp.MustCompile(`^[b-z][A-Za-z0-9_-]{48,}$`)

func checksum(keys []byte, label string) []byte {
	sum := sha256.Sum256(append([]byte(label), keys...))
	return sum[:checkLen]
}

// cipher returns AES-256-GCM under the key for one purpose.
func (k Key) cipher(label string) cipher.AEAD { return newCipher([]byte(k.bytes.Reveal()), label) }

// newCipher returns AES-256-GCM under a key that is derived from a secret.
func newCipher(from []byte, info string) cipher.AEAD {
	key, err := hkdf.Key(sha256.New, from, nil, info, keySize)
	if err != nil {
		panic(err) // only in FIPS mode, and not with keys of this size
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // the size of the key is right
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		panic(err) // AES has the block size of GCM
	}
	return gcm
}

func (k Key) fileCipher(number int) cipher.AEAD { return k.cipher(fileLabel + strconv.Itoa(number)) }

// decode reads base64url without padding, in the one form that encode writes.
func decode(text string) ([]byte, error) {
	if !plain.MatchString(text) {
		return nil, ErrNotEncrypted
	}
	return base64.RawURLEncoding.Strict().DecodeString(text)
}

// plain matches what base64url consists of: the decoder itself ignores line breaks.
var plain = regexp.MustCompile(`^[A-Za-z0-9_-]*$`)
