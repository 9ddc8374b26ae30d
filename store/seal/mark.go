package seal

import (
	"crypto/hmac"
	"slices"
)

// infoMark is the info text of HKDF for marks.
const infoMark = "pushbox mark 1"

// Mark authenticates a nonce for a subject: the first 16 bytes of an HMAC-SHA256 under a
// key that is derived from the id key. So it never changes for a store, and says nothing
// of the subject to those without the ring.
func (r *Ring) Mark(subject, nonce []byte) [16]byte {
	k := hkdfSHA256(r.id.bytes(), nil, infoMark)
	message := slices.Concat([]byte{byte(len(nonce))}, nonce, subject)
	sum := hmacSHA256(k[:], message)
	return [16]byte(sum[:16])
}

// IsMark reports whether a mark is that of the subject and the nonce. It takes as long for
// each mark.
func (r *Ring) IsMark(subject, nonce, mark []byte) bool {
	want := r.Mark(subject, nonce)
	return hmac.Equal(want[:], mark)
}
