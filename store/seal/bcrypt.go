package seal

import (
	"golang.org/x/crypto/bcrypt"

	"pushbox/internal/secret"
)

// maxBcryptCost bounds the work of a check: each step doubles it, and 15 takes about two
// seconds. Rails applications use 10 to 12.
const maxBcryptCost = 15

// IsBcrypt reports whether a hash of a password is one of bcrypt, as other servers make
// them, of a cost that VerifyPassword takes on.
func IsBcrypt(hash string) bool {
	cost, err := bcrypt.Cost([]byte(hash))
	return err == nil && len(hash) == 60 && cost <= maxBcryptCost
}

// verifyBcrypt reports whether p is the password of a bcrypt hash. bcrypt reads the
// first 72 bytes of a password, and so did the server that made the hash.
func verifyBcrypt(hash string, p secret.Text) bool {
	text := []byte(p.Reveal())
	return bcrypt.CompareHashAndPassword([]byte(hash), text[:min(len(text), 72)]) == nil
}
