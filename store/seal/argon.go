package seal

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"

	"golang.org/x/crypto/argon2"

	"pushbox/internal/secret"
)

const saltSize = 16

// A cost is what Argon2id is to spend. The zero cost says that there is no
// passphrase.
type cost struct {
	memory  uint32 // KiB
	passes  uint8
	threads uint8
}

// standard is the cost of what is made now, and most the greatest that is spent
// on opening something: a damaged record must not eat the machine.
var (
	standard = cost{memory: 19 << 10, passes: 2, threads: 1}
	most     = cost{memory: 256 << 10, passes: 16, threads: 4}
)

// bounded reports whether c may be spent, or is zero.
func (c cost) bounded() bool {
	if c == (cost{}) {
		return true
	}
	return c.memory >= 1 && c.passes >= 1 && c.threads >= 1 &&
		c.memory <= most.memory && c.passes <= most.passes && c.threads <= most.threads
}

func (c cost) hash(p secret.Text, salt []byte) []byte {
	return argon2.IDKey([]byte(p.Reveal()), salt, uint32(c.passes), c.memory, c.threads, keySize)
}

// HashPassword hashes a password for keeping, in the PHC string form, salted
// anew each time: $argon2id$v=19$m=19456,t=2,p=1$salt$hash. It takes some 30 ms
// and 19 MiB; the caller sees to it that not too many run at once.
func HashPassword(p secret.Text) string {
	salt := make([]byte, saltSize)
	_, _ = rand.Read(salt)
	b64 := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version,
		standard.memory, standard.passes, standard.threads, b64(salt), b64(standard.hash(p, salt)))
}
