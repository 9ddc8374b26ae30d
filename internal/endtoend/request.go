package endtoend

import (
	"crypto/ecdh"
	"errors"

	"pushbox/internal/secret"
)

const (
	requestLabel   = "pushbox end-to-end 1 request key"
	wrapLabel      = "pushbox end-to-end 1 wrapped key " // and the curve, a space, and both public keys
	p256PublicSize = 65                                  // uncompressed
)

type curve struct {
	ecdh.Curve
	name       string // part of the HKDF info
	number     byte   // begins a wrapped key
	publicSize int
}

var curves = [...]curve{{ecdh.X25519(), "x25519", 1, keySize}, {ecdh.P256(), "p256", 2, p256PublicSize}}

// ErrPublicKeys says that bytes are not the public keys of a request.
var ErrPublicKeys = errors.New("these are not public keys")

// IsWrappedKey reports whether bytes have the form of a wrapped key.
func IsWrappedKey(wrapped []byte) bool {
	for _, c := range curves {
		if len(wrapped) == 1+c.publicSize+keySize+tagSize && wrapped[0] == c.number {
			return true
		}
	}
	return false
}

// CheckPublicKeys reads the public keys of a request: one of each curve, or of P-256
// alone, with x25519 empty. The error is ErrPublicKeys.
func CheckPublicKeys(p256, x25519 []byte) error {
	if _, err := ecdh.P256().NewPublicKey(p256); err != nil {
		return ErrPublicKeys
	}
	if len(x25519) == 0 {
		return nil
	}
	if _, err := ecdh.X25519().NewPublicKey(x25519); err != nil {
		return ErrPublicKeys
	}
	return nil
}

// A RequestKey opens the answers to a request: a private key of each curve, or of P-256
// alone. The zero value is none.
type RequestKey struct{ p256, x25519 secret.Text }

// IsZero reports whether k is no key.
func (k RequestKey) IsZero() bool { return k.p256.IsZero() }

// ParseRequestFragment reads the part of that link behind "#". The error does not
// contain it.
func ParseRequestFragment(text string) (k RequestKey, err error) {
	b, err := parseFragment(text, requestLabel)
	if err != nil {
		return k, err
	}
	if len(b) != keySize && len(b) != 2*keySize {
		return k, ErrCutKey
	}
	k = RequestKey{secret.New(string(b[:keySize])), secret.New(string(b[keySize:]))}
	if _, err := k.private(ecdh.P256()); err != nil {
		return RequestKey{}, ErrCutKey
	}
	return k, nil
}

func (k RequestKey) private(c ecdh.Curve) (*ecdh.PrivateKey, error) {
	key := k.x25519 // which may not be there
	if c == ecdh.P256() {
		key = k.p256
	}
	return c.NewPrivateKey([]byte(key.Reveal()))
}

// Unwrap decrypts the key of an answer. The error is ErrNotEncrypted or ErrOpen.
func (k RequestKey) Unwrap(wrapped []byte) (Key, error) {
	if !IsWrappedKey(wrapped) {
		return Key{}, ErrNotEncrypted
	}
	c := curves[wrapped[0]-1]
	public, sealed := wrapped[1:1+c.publicSize], wrapped[1+c.publicSize:]
	own, err1 := k.private(c.Curve)
	ephemeral, err2 := c.NewPublicKey(public)
	if errors.Join(err1, err2) != nil {
		return Key{}, ErrOpen
	}
	shared, err := own.ECDH(ephemeral)
	if err != nil {
		return Key{}, ErrOpen
	}
	wrapping := newCipher(shared, wrapLabel+c.name+" "+string(public)+string(own.PublicKey().Bytes()))
	key, err := wrapping.Open(nil, make([]byte, nonceSize), sealed, nil) // it encrypted once, so the nonce is always the same
	if err != nil {
		return Key{}, ErrOpen
	}
	return Key{secret.New(string(key))}, nil
}
