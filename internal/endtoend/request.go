package endtoend

import (
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/rand"
	"errors"

	"pushbox/internal/secret"
)

const (
	requestLabel   = "pushbox end-to-end 1 request key"
	wrapLabel      = "pushbox end-to-end 1 wrapped key " // and the curve, a space, and both public keys
	p256PublicSize = 65                                  // uncompressed
)

// A curve is one that wrapped keys name.
type curve struct {
	ecdh.Curve
	name       string // in the info of the key
	number     byte   // begins a wrapped key
	publicSize int
}

var curves = [...]curve{{ecdh.X25519(), "x25519", 1, keySize}, {ecdh.P256(), "p256", 2, p256PublicSize}}

func curveOf(c ecdh.Curve) curve {
	if c == ecdh.P256() {
		return curves[1]
	}
	return curves[0]
}

// ErrPublicKeys says that bytes are not the public keys of a request.
var ErrPublicKeys = errors.New("these are no public keys")

// IsWrappedKey reports whether bytes have the form of a wrapped key.
func IsWrappedKey(wrapped []byte) bool {
	for _, c := range curves {
		if len(wrapped) == 1+c.publicSize+keySize+tagSize && wrapped[0] == c.number {
			return true
		}
	}
	return false
}

// PublicKeys are the keys of a request to which its answers are encrypted: one of each
// curve, or of P-256 alone.
type PublicKeys struct{ p256, x25519 *ecdh.PublicKey }

// NewPublicKeys reads the keys from their bytes. x25519 may be empty. The error is
// ErrPublicKeys.
func NewPublicKeys(p256, x25519 []byte) (p PublicKeys, err error) {
	if p.p256, err = ecdh.P256().NewPublicKey(p256); err != nil {
		return PublicKeys{}, ErrPublicKeys
	}
	if len(x25519) == 0 {
		return p, nil
	}
	if p.x25519, err = ecdh.X25519().NewPublicKey(x25519); err != nil {
		return PublicKeys{}, ErrPublicKeys
	}
	return p, nil
}

// Wrap encrypts the key of a push for the owner of the request: over X25519 if the
// request has a key for it.
func (p PublicKeys) Wrap(k Key) ([]byte, error) {
	to := p.x25519
	if to == nil {
		to = p.p256
	}
	ephemeral, err := to.Curve().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	return wrap(k, ephemeral, to)
}

func wrap(k Key, ephemeral *ecdh.PrivateKey, to *ecdh.PublicKey) ([]byte, error) {
	a, err := wrapCipher(ephemeral, to, ephemeral.PublicKey(), to)
	if err != nil {
		return nil, err
	}
	wrapped := append([]byte{curveOf(to.Curve()).number}, ephemeral.PublicKey().Bytes()...)
	return a.Seal(wrapped, make([]byte, nonceSize), []byte(k.bytes.Reveal()), nil), nil
}

// wrapCipher returns AES-256-GCM under the key on which both sides agree. It encrypts once,
// so its nonce is always the same.
func wrapCipher(own *ecdh.PrivateKey, other, ephemeral, to *ecdh.PublicKey) (cipher.AEAD, error) {
	shared, err := own.ECDH(other)
	if err != nil {
		return nil, err
	}
	info := wrapLabel + curveOf(to.Curve()).name + " " + string(ephemeral.Bytes()) + string(to.Bytes())
	return newCipher(shared, info), nil
}

// A RequestKey opens the answers to a request: a private key of each curve, or of P-256
// alone. The zero value is none.
type RequestKey struct{ p256, x25519 secret.Text }

// Fragment is the part behind "#" of the link that the owner of the request keeps.
func (k RequestKey) Fragment() secret.Text {
	return fragment([]byte(k.p256.Reveal()+k.x25519.Reveal()), requestLabel)
}

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

// private returns the key of a curve.
func (k RequestKey) private(c ecdh.Curve) (*ecdh.PrivateKey, error) {
	key := k.x25519 // which may not be there
	if c == ecdh.P256() {
		key = k.p256
	}
	return c.NewPrivateKey([]byte(key.Reveal()))
}

// Public returns the keys that the request has.
func (k RequestKey) Public() (p PublicKeys) {
	if key, err := k.private(ecdh.P256()); err == nil {
		p.p256 = key.PublicKey()
	}
	if key, err := k.private(ecdh.X25519()); err == nil {
		p.x25519 = key.PublicKey()
	}
	return p
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
	a, err := wrapCipher(own, ephemeral, ephemeral, own.PublicKey())
	if err != nil {
		return Key{}, ErrOpen
	}
	key, err := a.Open(nil, make([]byte, nonceSize), sealed, nil)
	if err != nil {
		return Key{}, ErrOpen
	}
	return Key{secret.New(string(key))}, nil
}
