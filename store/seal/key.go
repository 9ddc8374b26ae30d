package seal

import (
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"

	"golang.org/x/crypto/chacha20poly1305"
)

const keySize = chacha20poly1305.KeySize

// redacted makes a type that embeds it print as "[redacted]".
type redacted struct{}

// Format writes "[redacted]" for every verb.
func (redacted) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "[redacted]") }

// String returns "[redacted]".
func (redacted) String() string { return "[redacted]" }

// MarshalText returns "[redacted]", for encoders that do not know about secrets.
func (redacted) MarshalText() ([]byte, error) { return []byte("[redacted]"), nil }

// A key is 32 bytes that do not print. They are behind a pointer, because fmt prints an unexported
// field of another struct without calling methods of its type: then it prints an address. They are
// a string, because for a wrong verb fmt follows a pointer to an array. Using the zero key panics,
// so nothing is ever sealed without a key.
type key struct {
	redacted
	s *string
}

func newKey() key {
	var b [keySize]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	return keyOf(b[:])
}

func keyOf(b []byte) key {
	s := string(b)
	return key{s: &s}
}

func (k key) bytes() []byte { return []byte(*k.s) }

// aead returns the cipher that k has for the purpose info.
func (k key) aead(info string) cipher.AEAD { return derive(k.bytes(), nil, info) }

// derive returns the cipher under HKDF-SHA256(secret, salt, info).
func derive(secret, salt []byte, info string) cipher.AEAD {
	key := hkdfSHA256(secret, salt, info)
	return must(chacha20poly1305.NewX(key[:]))
}

// must returns v. It is for functions that fail only on wrong lengths, if the lengths are constant.
func must[T any](v T, err error) T {
	if err != nil {
		panic("seal: " + err.Error())
	}
	return v
}

// crypto/hkdf and crypto/hmac take any hash through an interface, so that deriving a
// key costs a dozen allocations and more. These functions use only SHA-256 and work on
// the stack; a test compares their results.

// hkdfSHA256 returns HKDF-SHA256(secret, salt, info), RFC 5869: the first 32 bytes,
// which are its first block.
func hkdfSHA256(secret, salt []byte, info string) [keySize]byte {
	var room [sha256.BlockSize]byte
	extracted := hmacSHA256(salt, secret) // no salt means zeros, which also pad a short key
	return hmacSHA256(extracted[:], append(append(room[:0], info...), 1))
}

// hmacSHA256 returns HMAC-SHA256(key, message), RFC 2104.
func hmacSHA256(key, message []byte) [sha256.Size]byte {
	if len(key) > sha256.BlockSize {
		digest := sha256.Sum256(key)
		key = digest[:]
	}
	var room [4 * sha256.BlockSize]byte
	inner := sha256.Sum256(append(pad(room[:0], key, 0x36), message...))
	return sha256.Sum256(append(pad(room[:0], key, 0x5c), inner[:]...))
}

// pad appends a key, filled up with zeros to a block, and XORs each byte with x.
func pad(dst, key []byte, x byte) []byte {
	var block [sha256.BlockSize]byte
	copy(block[:], key)
	for i := range block {
		block[i] ^= x
	}
	return append(dst, block[:]...)
}
