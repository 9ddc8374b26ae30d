package seal

import (
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"time"

	"pushbox/internal/secret"
)

// Offsets in a wrap.
const (
	wrapMemory  = kekHead
	wrapPasses  = wrapMemory + 4
	wrapThreads = wrapPasses + 1
	wrapSalt    = wrapThreads + 1
	wrapHead    = wrapSalt + saltSize
	wrapSize    = wrapHead + overhead + keySize
)

// A DEK is the data encryption key of one push. It prints as "[redacted]". The zero
// value is not a key, and its use panics.
type DEK struct{ key }

// IsZero reports whether k is the zero value.
func (k DEK) IsZero() bool { return k.s == nil }

// NewDEK returns a random key for one push: it must not seal a second one.
func NewDEK() DEK { return DEK{newKey()} }

// Wrap seals the key of a push under the ring, the token, and the passphrase if that is not empty;
// opening it needs all of them, and the id. created is the time of the push. With a passphrase it
// has the given cost, which by default is some 30 ms and 19 MiB; the caller limits how many run at
// once.
func (r *Ring) Wrap(created time.Time, id []byte, token, passphrase secret.Text, dek DEK, cost Cost) []byte {
	var c Cost
	if !passphrase.IsZero() {
		c = cost.orStandard()
	}
	return r.current(created).wrap(c, id, token, passphrase, dek)
}

func (k *familyKey) wrap(c Cost, id []byte, token, passphrase secret.Text, dek DEK) []byte {
	var head [wrapHead]byte
	copy(head[:], k.head(KEKs))
	binary.BigEndian.PutUint32(head[wrapMemory:], c.memory)
	head[wrapPasses], head[wrapThreads] = c.passes, c.threads
	_, _ = rand.Read(head[wrapSalt:])
	return encrypt(k.wrapping(c, head[wrapSalt:], token, passphrase), head[:], bind(id, head[:]), *dek.s)
}

// OpenWrap returns the key that Wrap sealed. If the wrap needs no passphrase, it
// ignores a given one. If it needs one, OpenWrap costs as much as Wrap, or more if the
// record says so: up to 16 passes over 256 MiB.
//
// The error is ErrPassphrase if the wrap needs a passphrase and the given one does not
// open it; ErrOpen if a wrap without one does not open, or is malformed.
func (r *Ring) OpenWrap(wrap, id []byte, token, passphrase secret.Text) (DEK, error) {
	k, c, err := r.readWrap(wrap)
	if err != nil {
		return DEK{}, err
	}
	protected := c != Cost{}
	if protected && passphrase.IsZero() {
		return DEK{}, fmt.Errorf("%w: it is missing", ErrPassphrase)
	}
	head := wrap[:wrapHead]
	plain, err := decrypt(k.wrapping(c, head[wrapSalt:], token, passphrase), wrap, wrapHead, bind(id, head))
	switch {
	case err != nil && protected:
		return DEK{}, ErrPassphrase
	case err != nil:
		return DEK{}, fmt.Errorf("wrap: %w", err)
	}
	defer clear(plain)
	return DEK{keyOf(plain)}, nil
}

// readWrap checks a wrap as far as that is possible without opening it.
func (r *Ring) readWrap(wrap []byte) (*familyKey, Cost, error) {
	k, _, err := r.kekOf(wrap, wrapHead)
	if err != nil {
		return nil, Cost{}, fmt.Errorf("wrap: %w", err)
	}
	c := wrapCost(wrap)
	if len(wrap) != wrapSize || !c.bounded() {
		return nil, Cost{}, fmt.Errorf("wrap: %w: it has a wrong length, or its cost is too high", ErrOpen)
	}
	return k, c, nil
}

func wrapCost(wrap []byte) Cost {
	return Cost{binary.BigEndian.Uint32(wrap[wrapMemory:]), wrap[wrapPasses], wrap[wrapThreads]}
}

// wrapping returns the cipher of a wrap: under HKDF(KEK ‖ token ‖ A, salt).
func (k *familyKey) wrapping(c Cost, salt []byte, token, passphrase secret.Text) cipher.AEAD {
	var room [4 * keySize]byte
	parts := append(append(room[:0], *k.s...), token.Reveal()...)
	if c != (Cost{}) {
		parts = append(parts, c.hash(passphrase, salt)...)
	}
	defer clear(parts)
	return derive(parts, salt, infoWrap)
}
