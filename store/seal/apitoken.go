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
	return secret.New(apiTokenPrefix + randomText(32))
}

// randomText returns n random bytes in lower-case base32.
func randomText(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	return lowerBase32.EncodeToString(b)
}

// Digest is the SHA-256 digest by which an API token or a grant token is kept
// and found. The token has too many bits to be guessed from it.
func Digest(token secret.Text) [sha256.Size]byte {
	return sha256.Sum256([]byte(token.Reveal()))
}
