package bolt

import (
	"encoding/binary"
	"hash/crc32"

	"pushbox/store/record"
)

// Digests detect what the disk changed, without any key: CRC-32C, for which processors
// have an instruction. Sealing protects against people.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendSum appends the digest of a value.
func appendSum(b, value []byte) []byte {
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(value, castagnoli))
}

// payloadKey is the key of a payload. The digest is part of it, so that the value is
// the payload alone, as in older schemas, whose keys have no digest.
func payloadKey(id record.ID, payload []byte) []byte {
	return appendSum(append(make([]byte, 0, payloadLen), id[:]...), payload)
}

// payload returns a push's payload and its key; nil if there is none. Both belong to
// the transaction.
func (t *tx) payload(id record.ID) (key, sealed []byte) {
	return t.seek(payloads, id[:])
}

// deletePayload deletes a push's payload, if it has one.
func (t *tx) deletePayload(id record.ID) error {
	k, _ := t.payload(id)
	if k == nil {
		return nil
	}
	k, err := cloneKey(payloads, k)
	if err != nil {
		return err
	}
	return t.delete(payloads, k)
}

// isPad reports whether a row behind a chunk has the form of a pad.
func isPad(k, v []byte) bool {
	return len(v) == 0 || k[chunkLen] == 0 && len(v)%sumLen == 0
}
