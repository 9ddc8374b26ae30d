package bolt

import (
	"bytes"
	"errors"
	"fmt"
	"math"

	"go.etcd.io/bbolt"

	"pushbox/store/record"
)

// A longer value or key is damage: payloads, the longest values, have a MiB, and
// addresses, the longest keys, some hundred bytes.
const (
	maxValue = 64 << 20
	maxKey   = 4 << 10
)

// errLongValue is what a transaction panics with over a value of more than maxValue. An
// error in its place would need a branch in each of the many callers of get.
var errLongValue = errors.New("a value is longer than any row")

// keptArena is how much memory for records is kept from one batch to the next.
const keptArena = 1 << 20

// A tx is a bbolt transaction with its buckets at hand.
type tx struct {
	bolt      *bbolt.Tx
	handle    *handle
	keys      record.RowKeys        // nil before Unlock
	ledger    *ledger               // in a transaction that writes
	journal   *journal              // in a transaction that writes
	overlay   overlay               // what the journal says beside the rows
	local     map[record.ID]pending // what this transaction added to the journal
	nextRow   uint64                // of the journal
	changes   *changes              // records each row written; nil: no compaction runs
	buckets   [mostBuckets]*bbolt.Bucket
	cursors   [mostBuckets]*bbolt.Cursor
	arena     []byte // the records written: bbolt needs them unchanged until the end
	writes    int    // attempts to write
	bytes     int    // in the values written
	touched   int    // other bytes of the mapping that were read
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
	*t = tx{bolt: b, arena: arena, local: t.local, ledger: l}
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

// value returns the value of a row that was found. Every row that is read comes through
// here, except where its bytes are copied or compared as they are (stored). It panics
// with unreadable over a row that must not be believed.
func (t *tx) value(b bucket, key, stored []byte) []byte {
	if len(stored) > maxValue {
		panic(errLongValue) // guard makes it an error, as it does with bbolt's panics
	}
	if !hasTag(b, key) {
		return stored
	}
	return t.open(b, key, stored)
}

// stored returns a cursor over the rows of a bucket as they are in the file, for what
// copies them, or wants to know their keys alone.
func (t *tx) stored(b bucket) *bbolt.Cursor { return t.bucket(b).Cursor() }

// seekStored finds the first row whose key is not less than key, as it is in the file.
// It uses one cursor a bucket, and so allocates nothing.
func (t *tx) seekStored(b bucket, key []byte) (k, stored []byte) {
	if t.cursors[b] == nil {
		t.cursors[b] = t.stored(b)
	}
	return t.cursors[b].Seek(key)
}

// findStored returns what the file has under key, and whether there is such a row.
func (t *tx) findStored(b bucket, key []byte) (stored []byte, ok bool) {
	k, stored := t.seekStored(b, key)
	if k == nil || !bytes.Equal(k, key) {
		return nil, false
	}
	return stored, true
}

// seek finds the first row whose key begins with prefix; its key is nil where there is
// none.
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

// put writes a row. A value without a tag must stay as it is until the transaction ends;
// the key is copied.
func (t *tx) put(b bucket, key, value []byte) error {
	if err := t.touch(b, key, false); err != nil {
		return err
	}
	t.subtract(b, key)
	return t.write(b, key, value)
}

// add is put for a row that is not there yet, which it does not look for.
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

// delete deletes a row, whether it is to be believed or not.
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

// deletePrefix deletes every row whose key begins with prefix. It believes nothing that
// they say.
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

// A lastKey is the key that a loop over rows which it deletes met last. In a damaged
// file a row may be where no delete finds it, and the loop would never end.
type lastKey []byte

// advance returns a copy of the key of a row, or an error where the last row had the
// same key.
func (r *lastKey) advance(b bucket, key []byte) ([]byte, error) {
	if *r != nil && bytes.Equal(*r, key) {
		return nil, fmt.Errorf("%w: a row of %s is not where it belongs", record.ErrCorrupt, b)
	}
	kept, err := cloneKey(b, key)
	*r = kept
	return kept, err
}

// verify verifies the leaf that a row is in, or will be, before bbolt reads it to write
// it anew; with siblings, the leaves beside it, too.
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

// nextID returns the next number of a bucket's sequence. The sequence has no tag: it
// must be where the sums say, or numbers would be given out again.
func (t *tx) nextID(b bucket) (uint64, error) {
	if err := t.touch(b, nil, false); err != nil {
		return 0, err
	}
	kept, err := t.sums()
	if err != nil {
		return 0, err
	}
	if kept.last[b] != t.bucket(b).Sequence() {
		return 0, fmt.Errorf("%w: %s: its numbers do not follow the last one", record.ErrCorrupt, b)
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

// raiseID keeps a bucket from giving out numbers up to n.
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
