package seal

import (
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"fmt"

	"golang.org/x/crypto/chacha20poly1305"
)

// The first two bytes of whatever is sealed.
const (
	version1  = 1
	xchacha20 = 1 // XChaCha20-Poly1305
)

const (
	plainHead = 2             // version, algorithm
	kekHead   = plainHead + 4 // and the KEK's version
	nonceSize = chacha20poly1305.NonceSizeX
	overhead  = nonceSize + chacha20poly1305.Overhead
)

// encrypt returns head ‖ nonce ‖ ciphertext. It authenticates bound, in which
// the caller has put the head.
func encrypt[T string | []byte](a cipher.AEAD, head, bound []byte, plain T) []byte {
	out := make([]byte, len(head)+nonceSize, len(head)+overhead+len(plain))
	nonce := out[copy(out, head):]
	_, _ = rand.Read(nonce)
	start := len(out)
	out = append(out, plain...)
	return a.Seal(out[:start], nonce, out[start:], bound) // in place
}

// decrypt opens what encrypt made. The caller has checked the head with
// checkHead.
func decrypt(a cipher.AEAD, sealed []byte, head int, bound []byte) ([]byte, error) {
	body := sealed[head:]
	plain, err := a.Open(nil, body[:nonceSize], body[nonceSize:], bound)
	if err != nil {
		return nil, fmt.Errorf("%w: it was changed, moved, or sealed under another key", ErrOpen)
	}
	return plain, nil
}

// checkHead returns the first n bytes of an envelope, if there are as many,
// with room for the rest, and this package knows the version and algorithm.
func checkHead(sealed []byte, n int) ([]byte, error) {
	if len(sealed) < n+overhead {
		return nil, fmt.Errorf("%w: it is cut short", ErrOpen)
	}
	if sealed[0] != version1 || sealed[1] != xchacha20 {
		return nil, fmt.Errorf("%w: its format (version %d, algorithm %d) is unknown", ErrOpen, sealed[0], sealed[1])
	}
	return sealed[:n], nil
}

// head returns the first bytes of what is sealed under k.
func (k *kek) head() []byte {
	return binary.BigEndian.AppendUint32([]byte{version1, xchacha20}, k.version)
}

// readHead returns the head of an envelope with a KEK's version in it, and that
// KEK.
func (r *Ring) readHead(sealed []byte) ([]byte, *kek, error) {
	head, err := checkHead(sealed, kekHead)
	if err != nil {
		return nil, nil, err
	}
	k, err := r.numbered(binary.BigEndian.Uint32(head[plainHead:]))
	return head, k, err
}

// KEKVersion returns the version of the KEK that a wrap, details, a grant, a webhook
// or a message were sealed under; false if it is none of them.
func KEKVersion(sealed []byte) (version uint32, ok bool) {
	head, err := checkHead(sealed, kekHead)
	if err != nil {
		return 0, false
	}
	return binary.BigEndian.Uint32(head[plainHead:]), true
}

// bind joins what is to be authenticated beside a ciphertext. Of the parts at
// most one has a length that varies.
func bind(a, b []byte, more ...byte) []byte {
	bound := make([]byte, 0, len(a)+len(b)+len(more))
	return append(append(append(bound, a...), b...), more...)
}
