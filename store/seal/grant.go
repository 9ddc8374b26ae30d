package seal

import (
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"pushbox/internal/secret"
)

// NewGrantToken returns a random token for a download grant: 32 characters of
// lower-case base32, 160 bits.
func NewGrantToken() secret.Text { return secret.New(randomText(20)) }

// NewReceiptCode returns the code of a receipt: 128 random bits.
func NewReceiptCode() secret.Text { return secret.New(randomText(16)) }

// SealGrant seals the key of the files of the push with that id, so that a recipient can download
// them without link and passphrase. issued is the time of the grant. Only the grant token opens it.
func (r *Ring) SealGrant(issued time.Time, id []byte, grant secret.Text, files FilesKey) []byte {
	plain := files.bytes()
	defer clear(plain)
	k := r.current(issued)
	head := k.head(KEKs)
	return encrypt(k.granting(grant), head, bind(head, id), plain)
}

// OpenGrant returns the key that SealGrant sealed with the same id and token. The error
// is ErrOpen if it does not open.
func (r *Ring) OpenGrant(id []byte, grant secret.Text, sealed []byte) (FilesKey, error) {
	k, head, err := r.kekOf(sealed, kekHead)
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

// kekOf returns the KEK of a sealed record, and the first n bytes of the record, which are its
// head.
func (r *Ring) kekOf(sealed []byte, n int) (*familyKey, []byte, error) {
	head, err := checkHead(sealed, version1, n)
	if err != nil {
		return nil, nil, err
	}
	k, err := r.numbered(KEKs, binary.BigEndian.Uint32(head[plainHead:]))
	return k, head, err
}

// granting returns the cipher of a grant: under HKDF(KEK ‖ grant token).
func (k *familyKey) granting(grant secret.Text) cipher.AEAD {
	parts := make([]byte, 0, keySize+grant.Len())
	parts = append(append(parts, *k.s...), grant.Reveal()...)
	defer clear(parts)
	return derive(parts, nil, infoGrant)
}

const apiTokenPrefix = "pb_"

// NewAPIToken returns a random API token: pb_ and 52 characters of lower-case base32,
// 256 bits.
func NewAPIToken() secret.Text {
	return secret.New(apiTokenPrefix + randomText(32))
}

// randomText returns n random bytes in lower-case base32.
func randomText(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	return lowerBase32.EncodeToString(b)
}

// Digest returns the SHA-256 digest under which an API token, a grant token or the code of a
// receipt is stored. A token has too many bits to be guessed from its digest.
func Digest(token secret.Text) [sha256.Size]byte {
	return sha256.Sum256([]byte(token.Reveal()))
}
