package bolt

import (
	"bytes"
	"encoding"
	"encoding/binary"
	"fmt"

	"pushbox/store/record"
)

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
