package seal

import (
	"crypto/cipher"
	"fmt"
	"time"

	"pushbox/internal/secret"
)

// NewGrantToken returns a random token for a download grant: 32 characters of
// lower-case base32, for 160 bits.
func NewGrantToken() secret.Text { return secret.New(randomText(20)) }

// SealGrant seals what lets somebody download files of the push of that id who
// has neither its link nor its passphrase: the key of its files. The grant is
// issued at that time; its token is needed to open it again.
func (r *Ring) SealGrant(issued time.Time, id []byte, grant secret.Text, files FilesKey) []byte {
	k := r.current(issued)
	head := k.head()
	return encrypt(k.granting(grant), head, bind(head, id), *files.s)
}

// OpenGrant returns the key that SealGrant sealed, given the same id and token.
// ErrOpen if it does not open.
func (r *Ring) OpenGrant(id []byte, grant secret.Text, sealed []byte) (FilesKey, error) {
	head, k, err := r.readHead(sealed)
	if err != nil {
		return FilesKey{}, fmt.Errorf("grant: %w", err)
	}
	plain, err := decrypt(k.granting(grant), sealed, kekHead, bind(head, id))
	if err != nil {
		return FilesKey{}, fmt.Errorf("grant: %w", err)
	}
	defer clear(plain)
	if len(plain) != keySize {
		return FilesKey{}, fmt.Errorf("grant: %w: it holds no key", ErrOpen)
	}
	return FilesKey{keyOf(plain)}, nil
}

// granting returns the cipher of a grant: under HKDF(KEK ‖ grant token).
func (k *kek) granting(grant secret.Text) cipher.AEAD {
	parts := make([]byte, 0, keySize+grant.Len())
	parts = append(append(parts, *k.s...), grant.Reveal()...)
	defer clear(parts)
	return derive(parts, nil, infoGrant)
}
