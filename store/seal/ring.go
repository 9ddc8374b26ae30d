package seal

import (
	"crypto/cipher"
	"fmt"
	"time"
)

// The info texts of HKDF: one for each purpose, never used for another.
const (
	infoRing    = "pushbox key ring 1"
	infoWrap    = "pushbox wrap 1"
	infoPayload = "pushbox payload 1"
	infoDetails = "pushbox details 1"
	infoEntry   = "pushbox entry 1"
	infoAccount = "pushbox account 1"
	infoFiles   = "pushbox files 1"
	infoList    = "pushbox file list 1"
	infoFile    = "pushbox file 1"
	infoGrant   = "pushbox grant 1"
	infoHook    = "pushbox webhook 1"
	infoMessage = "pushbox message 1"
)

// A Ring holds the keys of a store: the id key and the audit key, which stay
// for good, and the KEKs, which change. It never changes itself and is safe for
// concurrent use. It is handed about by pointer and prints as "[redacted]".
type Ring struct {
	redacted
	id       key
	audit    key
	entries  cipher.AEAD // under a key derived from audit
	accounts cipher.AEAD // under another
	keks     []kek       // by version and by time, at least one
}

// A kek is a key encryption key and when it came into use.
type kek struct {
	key
	version  uint32
	from     int64       // milliseconds since 1970
	details  cipher.AEAD // under a key derived from key
	hooks    cipher.AEAD // under another
	messages cipher.AEAD // under a third
}

// NewRing returns a ring of new keys. Its KEK is in use from now.
func NewRing(now time.Time) *Ring {
	return newRing(newKey(), newKey(), []kek{newKEK(newKey(), 1, now.UnixMilli())})
}

func newRing(id, audit key, keks []kek) *Ring {
	return &Ring{id: id, audit: audit, entries: audit.aead(infoEntry), accounts: audit.aead(infoAccount), keks: keks}
}

func newKEK(k key, version uint32, from int64) kek {
	return kek{
		key: k, version: version, from: from,
		details: k.aead(infoDetails), hooks: k.aead(infoHook), messages: k.aead(infoMessage),
	}
}

// MAC names a push by its token, without telling the token: the first 16 bytes
// of HMAC-SHA256(id key, token). It is the same for as long as there is the
// store.
func (r *Ring) MAC(token string) [16]byte {
	sum := authenticate(r.id.bytes(), []byte(token))
	return [16]byte(sum[:16])
}

// current returns the KEK for a push that is created, or a grant that is issued,
// at t: the last that was in use by then, or the first of all.
func (r *Ring) current(t time.Time) *kek {
	ms := t.UnixMilli()
	for i := len(r.keks) - 1; i > 0; i-- {
		if r.keks[i].from <= ms {
			return &r.keks[i]
		}
	}
	return &r.keks[0]
}

// numbered returns the KEK of that version.
func (r *Ring) numbered(version uint32) (*kek, error) {
	for i := range r.keks {
		if r.keks[i].version == version {
			return &r.keks[i], nil
		}
	}
	return nil, fmt.Errorf("%w: version %d of its key is not in the key ring", ErrOpen, version)
}
