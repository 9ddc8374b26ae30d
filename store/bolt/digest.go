package bolt

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"

	"pushbox/store"
)

// Digests tell what the disk changed, without any key: CRC-32C, for which
// processors have an instruction. Against people there is the sealing.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendSum appends the digest of a value.
func appendSum(b, value []byte) []byte {
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(value, castagnoli))
}

// payloadKey is the key of a payload: its digest is part of it, so that the value
// is the payload alone, as in rows of older schemas, whose keys have no digest.
func payloadKey(id store.ID, payload []byte) []byte {
	return appendSum(append(make([]byte, 0, payloadLen), id[:]...), payload)
}

// payload finds a push's payload, and its key; nil if there is none. Both belong to
// the transaction.
func (t *tx) payload(id store.ID) (key, sealed []byte) {
	k, v := t.seek(payloads, id[:])
	if !bytes.HasPrefix(k, id[:]) {
		return nil, nil
	}
	if len(v) > mostValue {
		panic("a row is longer than rows are") // which guard takes for damage
	}
	return k, v
}

// deletePayload deletes a push's payload, if it has one.
func (t *tx) deletePayload(id store.ID) error {
	k, _ := t.payload(id)
	if k == nil {
		return nil
	}
	k, err := keepKey(payloads, k)
	if err != nil {
		return err
	}
	return t.delete(payloads, k)
}

// isPad reports whether a row behind a chunk has what pads have.
func isPad(k, v []byte) bool {
	return len(v) == 0 || k[chunkLen] == 0 && len(v)%sumLen == 0
}
