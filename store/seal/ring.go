package seal

import (
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// The info texts of HKDF, beside those of uses: one for each purpose.
const (
	infoRing    = "pushbox key ring 1"
	infoWrap    = "pushbox wrap 1"
	infoPayload = "pushbox payload 1"
	infoFiles   = "pushbox files 1"
	infoList    = "pushbox file list 1"
	infoFile    = "pushbox file 1"
	infoGrant   = "pushbox grant 1"
	infoCertify = "pushbox certificate 1"
	infoRepeat  = "pushbox repeat 1"

	// For the first keys of a ring from before there were families.
	infoFirstDetail = "pushbox detail key 1"
	infoFirstRow    = "pushbox row key 1"
)

// A Ring holds the keys of a store: the id key, which never changes, and the families of
// keys, which do. A Ring is immutable and safe for concurrent use, and prints as
// "[redacted]".
type Ring struct {
	redacted
	id   key
	keys [familyEnd][]familyKey // at least one of each family, sorted by version and time

	retired [familyEnd][]familyKey // keys that Retire dropped: they open, but are not stored
}

// NewRing returns a ring of new keys, which are in use from now.
func NewRing(now time.Time) *Ring {
	r := &Ring{id: newKey()}
	for _, f := range Families() {
		r.keys[f] = []familyKey{newFamilyKey(f, newKey(), 1, now.UnixMilli())}
	}
	return r
}

// MAC identifies a push by its token without revealing the token: the first 16 bytes of
// HMAC-SHA256(id key, token). It never changes for a store.
func (r *Ring) MAC(token string) [16]byte {
	sum := hmacSHA256(r.id.bytes(), []byte(token))
	return [16]byte(sum[:16])
}

// Certify signs with the key of certificates, which is derived from the id key, so that it never
// changes for a store. It also returns the public key.
func (r *Ring) Certify(message []byte) (signature []byte, public ed25519.PublicKey) {
	seed := hkdfSHA256(r.id.bytes(), nil, infoCertify)
	k := ed25519.NewKeyFromSeed(seed[:])
	return ed25519.Sign(k, message), k.Public().(ed25519.PublicKey)
}

// current returns the KEK for a push that is created, or a grant that is issued, at t:
// the last one in use by then, or the first one.
func (r *Ring) current(t time.Time) *familyKey {
	keks, ms := r.keys[KEKs], t.UnixMilli()
	for i := len(keks) - 1; i > 0; i-- {
		if keks[i].from <= ms {
			return &keks[i]
		}
	}
	return &keks[0]
}

// The plain text of a sealed ring: the id key, then for each key its family, its
// version, the time from which it is in use, and the key; by family, version and time.
const keyRecord = 1 + 4 + 8 + keySize

// Sealed returns the ring sealed under root, different each time.
func (r *Ring) Sealed(root RootKey) []byte {
	head := []byte{version2, xchacha20}
	plain := r.encode()
	defer clear(plain)
	return encrypt(root.aead(infoRing), head, head, plain)
}

// OpenRing decrypts the result of Sealed, and rings from before there were families. The error is
// ErrKey if root does not decrypt it: it was sealed under another key or is damaged, which look the
// same. It is ErrOpen if sealed is not a sealed ring at all.
func OpenRing(root RootKey, sealed []byte) (*Ring, error) {
	version, decode := byte(version2), decodeRing
	if isVersion1(sealed) {
		version, decode = version1, decodeFirstRing
	}
	head, err := checkHead(sealed, version, plainHead)
	if err != nil {
		return nil, fmt.Errorf("key ring: %w", err)
	}
	plain, err := decrypt(root.aead(infoRing), sealed, plainHead, head)
	if err != nil {
		return nil, fmt.Errorf("%w: it does not open the key ring of this database", ErrKey)
	}
	defer clear(plain)
	r, err := decode(plain)
	if err != nil {
		return nil, fmt.Errorf("key ring: %w: it %w", ErrOpen, err)
	}
	return r, nil
}

// IsFirstRing reports whether a sealed key ring has the form of databases up to schema 5.
func IsFirstRing(sealed []byte) bool { return isVersion1(sealed) }

func (r *Ring) encode() []byte {
	b := make([]byte, 0, keySize+int(familyEnd)*2*keyRecord)
	b = append(b, *r.id.s...)
	for _, f := range Families() {
		for _, k := range r.keys[f] {
			b = binary.BigEndian.AppendUint32(append(b, byte(f)), k.version)
			b = binary.BigEndian.AppendUint64(b, uint64(k.from))
			b = append(b, *k.s...)
		}
	}
	return b
}

var (
	errRingLength = errors.New("has a wrong length")
	errRingOrder  = errors.New("has keys that are missing, unknown or out of order")
)

func decodeRing(b []byte) (*Ring, error) {
	if len(b) < keySize || (len(b)-keySize)%keyRecord != 0 {
		return nil, errRingLength
	}
	r := &Ring{id: keyOf(b[:keySize])}
	last := KEKs
	for b = b[keySize:]; len(b) > 0; b = b[keyRecord:] {
		f := Family(b[0])
		if f < last || f >= familyEnd || !r.add(f, b[1:keyRecord]) {
			return nil, errRingOrder
		}
		last = f
	}
	for _, f := range Families() {
		if len(r.keys[f]) == 0 {
			return nil, errRingOrder
		}
	}
	return r, nil
}

// add reads version, time and key of the next key of a family. It returns false if they
// are not in order.
func (r *Ring) add(f Family, b []byte) bool {
	version, from := binary.BigEndian.Uint32(b), int64(binary.BigEndian.Uint64(b[4:]))
	if f != KEKs && version > maxVersion {
		return false
	}
	if n := len(r.keys[f]); n > 0 && (version <= r.keys[f][n-1].version || from <= r.keys[f][n-1].from) {
		return false
	}
	r.keys[f] = append(r.keys[f], newFamilyKey(f, keyOf(b[12:]), version, from))
	return true
}

// The plain text of a sealed ring from before there were families: the id key, the audit key, then
// for each KEK its version, the time from which it is in use, and the key.
const (
	firstRingFixed = 2 * keySize
	firstKEKRecord = 4 + 8 + keySize
)

// decodeFirstRing reads a ring from before there were families. Its audit key becomes the first of
// that family, and the first detail and row keys are derived from it, so that they are always the
// same.
func decodeFirstRing(b []byte) (*Ring, error) {
	if len(b) < firstRingFixed+firstKEKRecord || (len(b)-firstRingFixed)%firstKEKRecord != 0 {
		return nil, errRingLength
	}
	r := &Ring{id: keyOf(b[:keySize])}
	audit := b[keySize:firstRingFixed]
	for b = b[firstRingFixed:]; len(b) > 0; b = b[firstKEKRecord:] {
		if !r.add(KEKs, b[:firstKEKRecord]) {
			return nil, errRingOrder
		}
	}
	detail, row := hkdfSHA256(audit, nil, infoFirstDetail), hkdfSHA256(audit, nil, infoFirstRow)
	for f, k := range map[Family][]byte{DetailKeys: detail[:], AuditKeys: audit, RowKeys: row[:]} {
		r.keys[f] = []familyKey{newFamilyKey(f, keyOf(k), 1, r.keys[KEKs][0].from)}
	}
	return r, nil
}
