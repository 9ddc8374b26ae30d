package seal

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"

	"golang.org/x/crypto/bcrypt"

	"golang.org/x/crypto/argon2"

	"pushbox/internal/secret"
)

const saltSize = 16

// A Cost is the cost of an Argon2id hash. In a wrap, the zero Cost means that there is no
// passphrase; for a new hash, it is the standard cost.
type Cost struct {
	memory  uint32 // KiB
	passes  uint8
	threads uint8
}

// standard is the cost of new hashes. most is the greatest accepted cost: a damaged record must not
// use up the machine.
var (
	standard = Cost{memory: 19 << 10, passes: 2, threads: 1}
	most     = Cost{memory: 256 << 10, passes: 16, threads: 4}
)

// bounded reports whether c is within most, or is zero.
func (c Cost) bounded() bool {
	if c == (Cost{}) {
		return true
	}
	return c.memory >= 1 && c.passes >= 1 && c.threads >= 1 &&
		c.memory <= most.memory && c.passes <= most.passes && c.threads <= most.threads
}

func (c Cost) hash(p secret.Text, salt []byte) []byte {
	return argon2.IDKey([]byte(p.Reveal()), salt, uint32(c.passes), c.memory, c.threads, keySize)
}

// Cheap is a Cost for tests, whose passwords protect nothing: a hash takes less than a millisecond.
func Cheap() Cost { return Cost{memory: 64, passes: 1, threads: 1} }

// orStandard returns the cost of a new hash.
func (c Cost) orStandard() Cost {
	if c == (Cost{}) {
		return standard
	}
	return c
}

// HashPassword returns the hash of a password in the PHC string form, with a new salt
// each time: $argon2id$v=19$m=19456,t=2,p=1$salt$hash. At the standard cost it takes some 30 ms
// and 19 MiB; the caller limits how many run at once.
func (c Cost) HashPassword(p secret.Text) string {
	salt := make([]byte, saltSize)
	_, _ = rand.Read(salt)
	c = c.orStandard()
	return c.phc(salt, c.hash(p, salt))
}

// VerifyPassword reports whether p is the password of a hash that Cost.HashPassword made. It takes
// the same time. It also reads a bcrypt hash, which takes the time of its cost. The error is
// ErrOpen if hash is in neither form.
func VerifyPassword(hash string, p secret.Text) (bool, error) {
	if IsBcrypt(hash) {
		return verifyBcrypt(hash, p), nil
	}
	c, salt, sum, err := readPHC(hash)
	if err != nil {
		return false, err
	}
	return subtle.ConstantTimeCompare(c.hash(p, salt), sum) == 1, nil
}

var errHash = fmt.Errorf("hash of a password: %w: it is malformed", ErrOpen)

func (c Cost) phc(salt, sum []byte) string {
	b64 := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, c.memory, c.passes, c.threads, b64(salt), b64(sum))
}

// readPHC parses the output of phc, and nothing else.
func readPHC(hash string) (c Cost, salt, sum []byte, err error) {
	parts := strings.Split(hash, "$")
	if len(parts) != 6 {
		return c, nil, nil, errHash
	}
	_, err = fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &c.memory, &c.passes, &c.threads)
	if err != nil || c == (Cost{}) || !c.bounded() {
		return c, nil, nil, errHash
	}
	b64 := base64.RawStdEncoding.Strict()
	salt, saltErr := b64.DecodeString(parts[4])
	sum, sumErr := b64.DecodeString(parts[5])
	if saltErr != nil || sumErr != nil || len(salt) < saltSize || len(sum) != keySize || c.phc(salt, sum) != hash {
		return c, nil, nil, errHash
	}
	return c, salt, sum, nil
}

// maxBcryptCost bounds the work of a check: each step doubles it, and 15 takes about two
// seconds. Rails applications use 10 to 12.
const maxBcryptCost = 15

// IsBcrypt reports whether a password hash is a bcrypt hash, as other servers make them, with a
// cost that VerifyPassword accepts.
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
