package bolt

import (
	"bytes"
	"encoding"
	"encoding/binary"
	"fmt"

	"go.etcd.io/bbolt"

	"pushbox/store"
)

// What is longer than any row is, is damaged: payloads, the longest values, have a MiB,
// and addresses, the longest keys, some hundred bytes.
const (
	mostValue = 64 << 20
	mostKey   = 4 << 10
)

// keepKey returns a copy of the key of a row that was found.
func keepKey(b bucket, key []byte) ([]byte, error) {
	if len(key) > mostKey {
		return nil, fmt.Errorf("%w: %s: a key of %d bytes", store.ErrCorrupt, b, len(key))
	}
	return bytes.Clone(key), nil
}

// keptArena is how much memory for records is kept from one batch to the next.
const keptArena = 1 << 20

// A tx is a bbolt transaction with its buckets at hand.
type tx struct {
	bolt    *bbolt.Tx
	handle  *handle
	journal *journal             // of a transaction that writes
	over    overlay              // what the journal says beside the rows
	local   map[store.ID]pending // what this transaction put into the journal
	nextRow uint64               // of the journal
	changes *changes             // takes note of each row written; nil: nobody asks
	buckets [bucketCount]*bbolt.Bucket
	cursors [bucketCount]*bbolt.Cursor
	arena   []byte // the records written: bbolt wants them unchanged until the end
	writes  int    // attempts to write
	bytes   int    // in the values of them
	touched int    // of the mapping, beside that
	room    room
	census  *census // of a transaction that writes
	live    int64   // by how much this one changes it
}

// reset makes t that of another transaction, once its own has ended.
func (t *tx) reset(b *bbolt.Tx) {
	arena := t.arena[:0]
	if cap(arena) > keptArena {
		arena = nil
	}
	clear(t.local)
	*t = tx{bolt: b, arena: arena, local: t.local}
}

func (t *tx) bucket(b bucket) *bbolt.Bucket {
	if t.buckets[b] == nil {
		t.buckets[b] = t.bolt.Bucket(bucketNames[b])
		if f := fillPercents[b]; f > 0 {
			t.buckets[b].FillPercent = f
		}
	}
	return t.buckets[b]
}

// cursor returns a new cursor, for walking.
func (t *tx) cursor(b bucket) *bbolt.Cursor { return t.bucket(b).Cursor() }

// seek finds the first row whose key is not less than key. It goes through one
// cursor a bucket, which has its memory already.
func (t *tx) seek(b bucket, key []byte) (k, v []byte) {
	if t.cursors[b] == nil {
		t.cursors[b] = t.cursor(b)
	}
	return t.cursors[b].Seek(key)
}

// get returns what is under key, or nil. It belongs to the transaction.
func (t *tx) get(b bucket, key []byte) []byte {
	k, v := t.seek(b, key)
	if k == nil || !bytes.Equal(k, key) {
		return nil
	}
	if len(v) > mostValue {
		panic("a row is longer than rows are") // which guard takes for damage
	}
	return v
}

func (t *tx) has(b bucket, key []byte) bool {
	k, _ := t.seek(b, key)
	return k != nil && bytes.Equal(k, key)
}

// hasPrefix reports whether a key begins with prefix.
func (t *tx) hasPrefix(b bucket, prefix []byte) bool {
	k, _ := t.seek(b, prefix)
	return bytes.HasPrefix(k, prefix)
}

// put writes a row. The value must stay as it is until the transaction ends;
// the key is copied.
func (t *tx) put(b bucket, key, value []byte) error {
	t.writes++
	t.bytes += len(value)
	t.changes.note(b, key, len(value))
	if err := t.inspect(b, key, false); err != nil {
		return err
	}
	if err := t.bucket(b).Put(key, value); err != nil {
		return fmt.Errorf("write to %s: %w", b, err)
	}
	return nil
}

func (t *tx) delete(b bucket, key []byte) error {
	t.writes++
	t.changes.note(b, key, 0)
	if err := t.inspect(b, key, true); err != nil {
		return err
	}
	if err := t.bucket(b).Delete(key); err != nil {
		return fmt.Errorf("delete from %s: %w", b, err)
	}
	return nil
}

// deletePrefix deletes every row whose key begins with prefix.
func (t *tx) deletePrefix(b bucket, prefix []byte) error {
	for met := trail(nil); ; {
		k, _ := t.seek(b, prefix)
		if !bytes.HasPrefix(k, prefix) {
			return nil
		}
		k, err := met.meet(b, k)
		if err == nil {
			err = t.delete(b, k)
		}
		if err != nil {
			return err
		}
	}
}

// A trail is the row that a walk which deletes what it meets met last. In a damaged
// file a row may be where no delete finds it: the walk would never end.
type trail []byte

// meet returns a copy of the key of a row, or an error where it was met before.
func (r *trail) meet(b bucket, key []byte) ([]byte, error) {
	if *r != nil && bytes.Equal(*r, key) {
		return nil, fmt.Errorf("%w: a row of %s is not where it belongs", store.ErrCorrupt, b)
	}
	kept, err := keepKey(b, key)
	*r = kept
	return kept, err
}

// move replaces an index row by another. Nil stands for no row, and a row that
// stays is not touched.
func (t *tx) move(b bucket, from, to []byte) error {
	if bytes.Equal(from, to) {
		return nil
	}
	if from != nil {
		if err := t.delete(b, from); err != nil {
			return err
		}
	}
	if to == nil {
		return nil
	}
	return t.put(b, to, nil)
}

// nextID gives out the next number of a bucket's sequence.
func (t *tx) nextID(b bucket) (uint64, error) {
	t.writes++
	if err := t.inspect(b, nil, false); err != nil {
		return 0, err
	}
	n, err := t.bucket(b).NextSequence()
	if err != nil {
		return 0, fmt.Errorf("next number of %s: %w", b, err)
	}
	return n, nil
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

// decode reads a record that is there. What it says of a malformed one names no
// content.
func decode(r encoding.BinaryUnmarshaler, b bucket, record []byte) error {
	if len(record) > mostValue {
		return fmt.Errorf("%w: %s: a record of %d bytes", store.ErrCorrupt, b, len(record))
	}
	if err := r.UnmarshalBinary(record); err != nil {
		return fmt.Errorf("%w: %s: %w", store.ErrCorrupt, b, err)
	}
	return nil
}

// number reads a row that holds one.
func number(b bucket, v []byte) (uint64, error) {
	if len(v) != 8 {
		return 0, fmt.Errorf("%w: %s: a number of %d bytes", store.ErrCorrupt, b, len(v))
	}
	return binary.BigEndian.Uint64(v), nil
}
