package bolt

import (
	"bytes"
	"encoding"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"pushbox/store/record"
)

// push returns the push in its state after the journal.
func (t *tx) push(id record.ID) (record.Push, error) {
	raw := t.get(pushes, id[:])
	if raw == nil {
		return record.Push{}, record.ErrNotFound
	}
	return t.decodePush(id, raw)
}

// inPlace returns the push in the state of its record, without the journal. Its index rows and its
// payload match this state.
func (t *tx) inPlace(id record.ID) (record.Push, error) {
	p := record.Push{ID: id}
	err := t.find(pushes, id[:], &p)
	return p, err
}

// payloadOf returns a push's sealed payload; nil once it has ended, even if that is only
// in the journal. It belongs to the transaction.
func (t *tx) payloadOf(p record.Push) []byte {
	if !p.Live() {
		return nil
	}
	_, sealed := t.payload(p.ID)
	return sealed
}

// decodePush returns the push of a record in its state after the journal.
func (t *tx) decodePush(id record.ID, raw []byte) (record.Push, error) {
	p := record.Push{ID: id}
	if err := decode(&p, pushes, raw); err != nil {
		return record.Push{}, err
	}
	found, n, err := t.overlay.of(id)
	if err != nil {
		return record.Push{}, err
	}
	if n > 0 && found[n-1].follows(p.Seq, p.Live()) {
		found[n-1].applyTo(&p)
	}
	return p, nil
}

// putPush writes p's record, moves its index rows where they change, and destroys the payload of a
// push that has ended. Every change of a push, except its removal, goes through here, directly or
// from the journal.
func (t *tx) putPush(old *record.Push, p record.Push, raw []byte) error {
	var owner, expires []byte
	write := t.add
	if old != nil {
		owner, expires, write = ownerRow(*old), expiryRow(*old), t.put
	}
	if err := write(pushes, p.ID[:], raw); err != nil {
		return err
	}
	if err := t.move(owners, owner, ownerRow(p)); err != nil {
		return err
	}
	if err := t.move(expiry, expires, expiryRow(p)); err != nil || p.Live() {
		return err
	}
	return t.deletePayload(p.ID)
}

// purge removes every row of a push. Its chunks become orphans.
func (t *tx) purge(p record.Push) error {
	if p.HoldsFiles() {
		if err := t.release(p.ID); err != nil {
			return err
		}
	}
	if err := t.countRoom(p, p.Room(), record.Room{}); err != nil {
		return err
	}
	stored, err := t.inPlace(p.ID)
	if err != nil {
		return err
	}
	if err := t.move(owners, ownerRow(stored), nil); err != nil {
		return err
	}
	if err := t.move(expiry, expiryRow(stored), nil); err != nil {
		return err
	}
	if err := t.delete(pushes, p.ID[:]); err != nil {
		return err
	}
	if err := t.deletePayload(p.ID); err != nil {
		return err
	}
	if err := t.forget(p.ID); err != nil {
		return err
	}
	return t.deletePrefix(audit, p.ID[:])
}

// createPush writes the rows of a new push.
func (t *tx) createPush(p record.Push, raw, payloadKey, payload, entry []byte) error {
	if err := t.putPush(nil, p, raw); err != nil {
		return err
	}
	if err := t.countRoom(p, record.Room{}, p.Room()); err != nil {
		return err
	}
	if len(payload) > 0 {
		if err := t.put(payloads, payloadKey, payload); err != nil {
			return err
		}
	}
	if p.HoldsFiles() {
		if err := t.delete(orphans, p.ID[:]); err != nil {
			return err
		}
	}
	return t.add(audit, auditKey(p.ID, 0), entry)
}

// Digests detect errors of the disk without a key: CRC-32C, for which processors have an
// instruction. Sealing protects against attackers.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendSum appends the digest of a value.
func appendSum(b, value []byte) []byte {
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(value, castagnoli))
}

// payloadKey is the key of a payload. The digest is in the key, so that the value is only the
// payload, as in older schemas, whose keys have no digest.
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

// cloneKey returns a copy of a key that was found.
func cloneKey(b bucket, key []byte) ([]byte, error) {
	if len(key) > maxKey {
		return nil, fmt.Errorf("%w: %s: a key of %d bytes", record.ErrCorrupt, b, len(key))
	}
	return bytes.Clone(key), nil
}

// encode returns a record in memory that lasts until the transaction ends.
func encode[R encoding.BinaryAppender](t *tx, r R) ([]byte, error) {
	start := len(t.arena)
	b, err := r.AppendBinary(t.arena)
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", r, err)
	}
	t.arena = b
	return b[start:len(b):len(b)], nil
}

// decode reads a record. Its error names no content.
func decode(r encoding.BinaryUnmarshaler, b bucket, raw []byte) error {
	if len(raw) > maxValue {
		return fmt.Errorf("%w: %s: a record of %d bytes", record.ErrCorrupt, b, len(raw))
	}
	if err := r.UnmarshalBinary(raw); err != nil {
		return fmt.Errorf("%w: %s: %w", record.ErrCorrupt, b, err)
	}
	return nil
}

// putRecord writes the record of r under key.
func putRecord[R encoding.BinaryAppender](t *tx, b bucket, key []byte, r R) error {
	raw, err := encode(t, r)
	if err != nil {
		return err
	}
	return t.put(b, key, raw)
}

// find reads the record under key into r, or returns record.ErrNotFound.
func (t *tx) find(b bucket, key []byte, r encoding.BinaryUnmarshaler) error {
	raw := t.get(b, key)
	if raw == nil {
		return record.ErrNotFound
	}
	return decode(r, b, raw)
}

// number reads a value that is one number.
func number(b bucket, v []byte) (uint64, error) {
	if len(v) != 8 {
		return 0, fmt.Errorf("%w: %s: a number of %d bytes", record.ErrCorrupt, b, len(v))
	}
	return binary.BigEndian.Uint64(v), nil
}
