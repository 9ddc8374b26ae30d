package seal

import (
	"crypto/cipher"
	"crypto/rand"
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

// MarshalText returns "[redacted]", for encoders that know nothing of secrets.
func (redacted) MarshalText() ([]byte, error) { return []byte("[redacted]"), nil }

// A key is 32 bytes that do not print. They are behind a pointer, because fmt prints an
// unexported field of another struct without asking the field's type: it then prints an
// address. They are a string, because for a wrong verb fmt follows a pointer to an
// array. Using the zero key panics, so nothing is ever sealed without a key.
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

// must returns v. It is for functions that fail only on wrong lengths, where the
// lengths are constant.
func must[T any](v T, err error) T {
	if err != nil {
		panic("seal: " + err.Error())
	}
	return v
}
