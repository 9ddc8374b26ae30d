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
	return env.Must(curveOf(public).GenerateKey(rand.Reader))(t)
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
	key := env.Must(base64.RawURLEncoding.DecodeString(fragment.Reveal()[1:]))(t)
	number, name := byte(2), "p256"
	if len(public) == keySize {
		number, name = 1, "x25519"
	}
	to := env.Must(curveOf(public).NewPublicKey(public))(t)
	shared := env.Must(ephemeral.ECDH(to))(t)
	own := ephemeral.PublicKey().Bytes()
	wrapping := env.Must(hkdf.Key(sha256.New, shared, nil, "pushbox end-to-end 1 wrapped key "+name+" "+string(own)+string(public), keySize))(t)
	block := env.Must(aes.NewCipher(wrapping))(t)
	gcm := env.Must(cipher.NewGCM(block))(t)
	return gcm.Seal(append([]byte{number}, own...), make([]byte, gcm.NonceSize()), key[:keySize], nil)
}
