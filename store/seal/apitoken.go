package seal

import (
	"crypto/rand"
	"crypto/sha256"

	"pushbox/internal/secret"
)

const apiTokenPrefix = "pb_"

// NewAPIToken returns a random API token: pb_ and 52 characters of lower-case
// base32, for 256 bits.
func NewAPIToken() secret.Text {
	var b [32]byte
	_, _ = rand.Read(b[:])
	return secret.New(apiTokenPrefix + lowerBase32.EncodeToString(b[:]))
}

// Digest is the SHA-256 digest by which an API token is kept and found. The
// token has too many bits to be guessed from it.
func Digest(token secret.Text) [sha256.Size]byte {
	return sha256.Sum256([]byte(token.Reveal()))
}
