// Package wraptest wraps the keys of answers as the page of a request does, after
// docs/end-to-end.md alone: it shares no code with package endtoend, which reads them.
package wraptest

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"testing"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
)

const keySize = 32

// Ephemeral makes the sender's key pair for a public key: of X25519 for 32 bytes, else of
// P-256.
func Ephemeral(t testing.TB, public []byte) *ecdh.PrivateKey {
	t.Helper()
	key, err := curveOf(public).GenerateKey(rand.Reader)
	env.OK(t, err)
	return key
}

func curveOf(public []byte) ecdh.Curve {
	if len(public) == keySize {
		return ecdh.X25519()
	}
	return ecdh.P256()
}

// Wrap wraps the key of a push, which its fragment has, for a public key of a request.
func Wrap(t testing.TB, fragment secret.Text, public []byte, ephemeral *ecdh.PrivateKey) []byte {
	t.Helper()
	key, err := base64.RawURLEncoding.DecodeString(fragment.Reveal()[1:])
	env.OK(t, err)
	number, name := byte(2), "p256"
	if len(public) == keySize {
		number, name = 1, "x25519"
	}
	to, err := curveOf(public).NewPublicKey(public)
	env.OK(t, err)
	shared, err := ephemeral.ECDH(to)
	env.OK(t, err)
	own := ephemeral.PublicKey().Bytes()
	wrapping, err := hkdf.Key(sha256.New, shared, nil, "pushbox end-to-end 1 wrapped key "+name+" "+string(own)+string(public), keySize)
	env.OK(t, err)
	block, err := aes.NewCipher(wrapping)
	env.OK(t, err)
	gcm, err := cipher.NewGCM(block)
	env.OK(t, err)
	return gcm.Seal(append([]byte{number}, own...), make([]byte, gcm.NonceSize()), key[:keySize], nil)
}
