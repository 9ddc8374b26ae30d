package bolt

import (
	"bytes"
	"errors"
	"fmt"
	"math"

	"go.etcd.io/bbolt"

	"pushbox/store/record"
)

// A longer value or key is damage: the longest values are payloads of one MiB, and the longest keys
// are addresses of some hundred bytes.
const (
	maxValue = 64 << 20
	maxKey   = 4 << 10
)

// errLongValue is the panic of a transaction for a value of more than maxValue. An error would need
// a branch in each of the many callers of get.
var errLongValue = errors.New("a value is longer than a row can be")

// keptArena is how much memory for records the next batch may reuse.
const keptArena = 1 << 20

// A tx is a bbolt transaction with its buckets at hand.
type tx struct {
	bolt      *bbolt.Tx
	handle    *handle
	keys      record.RowKeys        // nil before Unlock
	ledger    *ledger               // in a transaction that writes
	journal   *journal              // in a transaction that writes
	overlay   overlay               // the journal rows to apply to the rows
	local     map[record.ID]pending // additions of this transaction to the journal
	nextRow   uint64                // of the journal
	changes   *changes              // records each row written; nil: no compaction runs
	buckets   [mostBuckets]*bbolt.Bucket
	cursors   [mostBuckets]*bbolt.Cursor
	work      record.CommitWork
	arena     []byte // the records written: bbolt needs them unchanged until the end
	writes    int    // attempts to write
	bytes     int    // in the values written
	touched   int    // other bytes of the mapping that the transaction read
	allowance allowance
}

// reset prepares t for another transaction, once its own has ended.
func (t *tx) reset(b *bbolt.Tx) {
	arena, l := t.arena[:0], t.ledger
	if cap(arena) > keptArena {
		arena = nil
	}
	if l == nil {
		l = new(ledger)
	}
	*l = ledger{}
	clear(t.local)
	*t = tx{bolt: b, arena: arena, local: t.local, ledger: l, work: record.WorkNone}
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

// A cursor walks the rows of a bucket. Its methods are those of bbolt's cursor.
type cursor struct {
	tx     *tx
	bucket bucket
	stored *bbolt.Cursor
}

// cursor returns a new cursor, for walking.
func (t *tx) cursor(b bucket) cursor { return cursor{t, b, t.stored(b)} }

func (c cursor) First() (k, v []byte)          { return c.row(c.stored.First()) }
func (c cursor) Last() (k, v []byte)           { return c.row(c.stored.Last()) }
func (c cursor) Next() (k, v []byte)           { return c.row(c.stored.Next()) }
func (c cursor) Prev() (k, v []byte)           { return c.row(c.stored.Prev()) }
func (c cursor) Seek(key []byte) (k, v []byte) { return c.row(c.stored.Seek(key)) }

func (c cursor) row(k, stored []byte) (key, v []byte) {
	if k == nil {
		return nil, nil
	}
	return k, c.tx.value(c.bucket, k, stored)
}

// value returns the value of a row that was found. All reads of rows use it, except those that copy
// or compare the stored bytes (stored). It panics with unreadable for a row that pushbox did not
// write.
func (t *tx) value(b bucket, key, stored []byte) []byte {
	if len(stored) > maxValue {
		panic(errLongValue) // guard makes it an error, as it does with bbolt's panics
	}
	if !hasTag(b, key) {
		return stored
	}
	return t.open(b, key, stored)
}

// stored returns a cursor over the stored rows of a bucket, for code that copies them, or needs
// only their keys.
func (t *tx) stored(b bucket) *bbolt.Cursor { return t.bucket(b).Cursor() }

// seekStored finds the first stored row whose key is not less than key. It uses one cursor for each
// bucket, and so allocates nothing.
func (t *tx) seekStored(b bucket, key []byte) (k, stored []byte) {
	if t.cursors[b] == nil {
		t.cursors[b] = t.stored(b)
	}
	return t.cursors[b].Seek(key)
}

// findStored returns the stored row under key, and whether it exists.
func (t *tx) findStored(b bucket, key []byte) (stored []byte, ok bool) {
	k, stored := t.seekStored(b, key)
	if k == nil || !bytes.Equal(k, key) {
		return nil, false
	}
	return stored, true
}

// seek finds the first row whose key begins with prefix; its key is nil if there is none.
func (t *tx) seek(b bucket, prefix []byte) (k, v []byte) {
	k, stored := t.seekStored(b, prefix)
	if k == nil || !bytes.HasPrefix(k, prefix) {
		return nil, nil
	}
	return k, t.value(b, k, stored)
}

// get returns the value under key, or nil. It belongs to the transaction.
func (t *tx) get(b bucket, key []byte) []byte {
	v, _ := t.row(b, key)
	return v
}

func (t *tx) has(b bucket, key []byte) bool {
	_, ok := t.row(b, key)
	return ok
}

func (t *tx) row(b bucket, key []byte) (v []byte, ok bool) {
	stored, ok := t.findStored(b, key)
	if !ok {
		return nil, false
	}
	return t.value(b, key, stored), true
}

// hasPrefix reports whether a key begins with prefix.
func (t *tx) hasPrefix(b bucket, prefix []byte) bool {
	k, _ := t.seek(b, prefix)
	return k != nil
}

// put writes a row. A value without a tag must not change until the transaction ends; the key is
// copied.
func (t *tx) put(b bucket, key, value []byte) error {
	if err := t.touch(b, key, false); err != nil {
		return err
	}
	t.subtract(b, key)
	return t.write(b, key, value)
}

// add is put for a new row; it does not search an old one.
func (t *tx) add(b bucket, key, value []byte) error {
	if err := t.touch(b, key, false); err != nil {
		return err
	}
	return t.write(b, key, value)
}

func (t *tx) write(b bucket, key, value []byte) error {
	if hasTag(b, key) {
		value = t.seal(b, key, value)
	}
	t.bytes += len(value)
	t.changes.note(b, key, len(value))
	if err := t.bucket(b).Put(key, value); err != nil {
		return fmt.Errorf("write to %s: %w", b, err)
	}
	return nil
}

// delete deletes a row without verifying it.
func (t *tx) delete(b bucket, key []byte) error {
	if err := t.touch(b, key, true); err != nil {
		return err
	}
	t.subtract(b, key)
	t.changes.note(b, key, 0)
	if err := t.bucket(b).Delete(key); err != nil {
		return fmt.Errorf("delete from %s: %w", b, err)
	}
	return nil
}

// touch counts an attempt to write, and verifies the leaves that it changes.
func (t *tx) touch(b bucket, key []byte, siblings bool) error {
	t.writes++
	return t.verify(b, key, siblings)
}

// deletePrefix deletes every row whose key begins with prefix, without reading the values.
func (t *tx) deletePrefix(b bucket, prefix []byte) error {
	_, err := t.deleteSome(b, prefix, math.MaxInt)
	return err
}

// deleteSome deletes up to limit rows whose key begins with prefix, and reports whether
// there may be more.
func (t *tx) deleteSome(b bucket, prefix []byte, limit int) (more bool, err error) {
	var last lastKey
	for range limit {
		k, _ := t.seekStored(b, prefix)
		if k == nil || !bytes.HasPrefix(k, prefix) {
			return false, nil
		}
		k, err := last.advance(b, k)
		if err == nil {
			err = t.delete(b, k)
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// removeEach calls remove with every row whose key begins with prefix. remove must
// delete the row.
func (t *tx) removeEach(b bucket, prefix []byte, remove func(k, v []byte) error) error {
	for last := lastKey(nil); ; {
		k, v := t.seek(b, prefix)
		if k == nil {
			return nil
		}
		k, err := last.advance(b, k)
		if err == nil {
			err = remove(k, v)
		}
		if err != nil {
			return err
		}
	}
}

// A lastKey is the last key in a loop that deletes rows. In a damaged file a row may be in a place
// where delete does not find it, and the loop would never end.
type lastKey []byte

// advance returns a copy of the key of a row, or an error if the last row had the same key.
func (r *lastKey) advance(b bucket, key []byte) ([]byte, error) {
	if *r != nil && bytes.Equal(*r, key) {
		return nil, fmt.Errorf("%w: a row of %s is in the wrong place", record.ErrCorrupt, b)
	}
	kept, err := cloneKey(b, key)
	*r = kept
	return kept, err
}

// verify verifies the leaf of a present or future row before bbolt reads and rewrites the leaf;
// with siblings, also its neighbours.
func (t *tx) verify(b bucket, key []byte, siblings bool) error {
	if t.handle == nil {
		return nil
	}
	return t.handle.verified.VerifyLeaf(t.bucket(b), key, siblings, &t.handle.leaves[b])
}

// move replaces an index row by another. Nil means no row; an unchanged row is not
// written.
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

// nextID returns the next number of a bucket's sequence. The sequence has no tag: it must match the
// sums, or numbers would be assigned twice.
func (t *tx) nextID(b bucket) (uint64, error) {
	if err := t.touch(b, nil, false); err != nil {
		return 0, err
	}
	kept, err := t.sums()
	if err != nil {
		return 0, err
	}
	if kept.last[b] != t.bucket(b).Sequence() {
		return 0, fmt.Errorf("%w: %s: its last number is too low", record.ErrCorrupt, b)
	}
	n, err := t.bucket(b).NextSequence()
	if err != nil {
		return 0, fmt.Errorf("next number of %s: %w", b, err)
	}
	kept.last[b] = n
	return n, nil
}

// lastID is the last number of a bucket's sequence.
func (t *tx) lastID(b bucket) uint64 { return t.bucket(b).Sequence() }

// raiseID raises the sequence of a bucket to n, so that it assigns only higher numbers.
func (t *tx) raiseID(b bucket, n uint64) error {
	if n <= t.lastID(b) {
		return nil
	}
	if err := t.touch(b, nil, false); err != nil {
		return err
	}
	kept, err := t.sums()
	if err != nil {
		return err
	}
	if err := t.bucket(b).SetSequence(n); err != nil {
		return fmt.Errorf("last number of %s: %w", b, err)
	}
	kept.last[b] = n
	return nil
}
