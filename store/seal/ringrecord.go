package seal

import (
	"encoding/binary"
	"fmt"
)

// The plain text of a sealed ring: id key, audit key, then for each KEK its
// version, the time from which it is in use, and the key.
const (
	ringFixed = 2 * keySize
	kekRecord = 4 + 8 + keySize
)

// Sealed returns the ring sealed under root, different each time.
func (r *Ring) Sealed(root RootKey) []byte {
	head := []byte{version1, xchacha20}
	plain := r.encode()
	defer clear(plain)
	return encrypt(root.aead(infoRing), head, head, plain)
}

// OpenRing opens what Sealed made. ErrKey if root does not open it: another key
// sealed it, or it is damaged, which cannot be told apart. ErrOpen if it is no
// sealed ring, whatever the key.
func OpenRing(root RootKey, sealed []byte) (*Ring, error) {
	head, err := checkHead(sealed, plainHead)
	if err != nil {
		return nil, fmt.Errorf("key ring: %w", err)
	}
	plain, err := decrypt(root.aead(infoRing), sealed, plainHead, head)
	if err != nil {
		return nil, fmt.Errorf("%w: it does not open the key ring of this database", ErrKey)
	}
	defer clear(plain)
	return decodeRing(plain)
}

func (r *Ring) encode() []byte {
	b := make([]byte, 0, ringFixed+len(r.keks)*kekRecord)
	b = append(append(b, *r.id.s...), *r.audit.s...)
	for _, k := range r.keks {
		b = binary.BigEndian.AppendUint32(b, k.version)
		b = binary.BigEndian.AppendUint64(b, uint64(k.from))
		b = append(b, *k.s...)
	}
	return b
}

func decodeRing(b []byte) (*Ring, error) {
	if len(b) < ringFixed+kekRecord || (len(b)-ringFixed)%kekRecord != 0 {
		return nil, fmt.Errorf("key ring: %w: it has a wrong length", ErrOpen)
	}
	id, audit := keyOf(b[:keySize]), keyOf(b[keySize:ringFixed])
	keks := make([]kek, 0, (len(b)-ringFixed)/kekRecord)
	for b = b[ringFixed:]; len(b) > 0; b = b[kekRecord:] {
		version, from := binary.BigEndian.Uint32(b), int64(binary.BigEndian.Uint64(b[4:]))
		if n := len(keks); n > 0 && (version <= keks[n-1].version || from <= keks[n-1].from) {
			return nil, fmt.Errorf("key ring: %w: its keys are out of order", ErrOpen)
		}
		keks = append(keks, newKEK(keyOf(b[12:kekRecord]), version, from))
	}
	return newRing(id, audit, keks), nil
}
