package seal

import (
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"

	"golang.org/x/crypto/chacha20poly1305"
)

// The first two bytes of every envelope. Version 2 names keys by family.
const (
	version1  = 1
	version2  = 2
	xchacha20 = 1 // XChaCha20-Poly1305
)

const (
	plainHead  = 2             // version, algorithm
	kekHead    = plainHead + 4 // and the KEK's version
	familyHead = plainHead + 2 // and the version of a key of another family
	nonceSize  = chacha20poly1305.NonceSizeX
	overhead   = nonceSize + chacha20poly1305.Overhead
)

// encrypt returns head ‖ nonce ‖ ciphertext, and authenticates bound, which must include the head.
func encrypt[T string | []byte](a cipher.AEAD, head, bound []byte, plain T) []byte {
	out := make([]byte, len(head)+nonceSize, len(head)+overhead+len(plain))
	nonce := out[copy(out, head):]
	_, _ = rand.Read(nonce)
	start := len(out)
	out = append(out, plain...)
	return a.Seal(out[:start], nonce, out[start:], bound) // in place
}

// decrypt decrypts the result of encrypt. The caller must have checked the head with checkHead.
func decrypt(a cipher.AEAD, sealed []byte, head int, bound []byte) ([]byte, error) {
	body := sealed[head:]
	plain, err := a.Open(nil, body[:nonceSize], body[nonceSize:], bound)
	if err != nil {
		return nil, fmt.Errorf("%w: it was changed, moved, or sealed under another key", ErrOpen)
	}
	return plain, nil
}

// checkHead returns the first n bytes of an envelope, with capacity for more, if it is long enough
// and has that version and a known algorithm.
func checkHead(sealed []byte, version byte, n int) ([]byte, error) {
	if len(sealed) < n+overhead {
		return nil, fmt.Errorf("%w: it is cut short", ErrOpen)
	}
	if sealed[0] != version || sealed[1] != xchacha20 {
		return nil, fmt.Errorf("%w: its format (version %d, algorithm %d) is unknown", ErrOpen, sealed[0], sealed[1])
	}
	return sealed[:n], nil
}

// isVersion1 reports whether an envelope has version 1, if it is one.
func isVersion1(sealed []byte) bool { return len(sealed) > 0 && sealed[0] == version1 }

// bind joins the bytes to authenticate beside a ciphertext. At most one of the parts
// may vary in length.
func bind(a, b []byte, more ...byte) []byte {
	bound := make([]byte, 0, len(a)+len(b)+len(more))
	return append(append(append(bound, a...), b...), more...)
}

// The errors of this package. They are wrapped with details, but never with key
// material, plain text or a passphrase.
var (
	// ErrKey says that a master key is malformed, badly kept, or not the one that
	// sealed the key ring.
	ErrKey = errors.New("the master key cannot be used")
	// ErrOpen says that a record is damaged, is not where it belongs, or was sealed
	// under another key.
	ErrOpen = errors.New("a record cannot be decrypted")
	// ErrPassphrase says that a passphrase is missing or wrong. Damage to the record
	// that it protects looks the same.
	ErrPassphrase = errors.New("the passphrase does not match the push")
)
