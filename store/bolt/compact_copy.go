package bolt

import (
	"bytes"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"pushbox/store/record"
)

// A position says how far the rows of the file have been copied: all buckets before the one named,
// and of that bucket the rows up to last. Rows that are added after end, once the copying of the
// bucket has begun, are in the changes.
type position struct {
	bucket    bucket
	last, end []byte // nil before the bucket is begun
}

// ahead reports whether copyAll will still reach a row.
func (p position) ahead(b bucket, key []byte) bool {
	switch {
	case b != p.bucket:
		return b > p.bucket
	case p.end == nil:
		return true
	default:
		return bytes.Compare(key, p.last) > 0 && bytes.Compare(key, p.end) <= 0
	}
}

// copyAll copies every bucket, and now and then what commits have written meanwhile.
func (c *compaction) copyAll() error {
	if err := c.wantKnownBuckets(); err != nil {
		return err
	}
	for c.at.bucket < bucketCount {
		more, err := c.copySome()
		if err != nil {
			return err
		}
		if !more { // later rows are in the changes
			c.at = position{bucket: c.at.bucket + 1}
		}
		if err := c.copyPending(); err != nil {
			return err
		}
	}
	return nil
}

// wantKnownBuckets refuses a file with buckets that this version does not know, because the copy
// would lose them.
func (c *compaction) wantKnownBuckets() error {
	return c.read(func(t *tx) error {
		n := 0
		return errors.Join(t.bolt.ForEach(func([]byte, *bbolt.Bucket) error {
			n++
			return nil
		}), wantCount(n))
	})
}

func wantCount(n int) error {
	if n != int(bucketCount) {
		return fmt.Errorf("%w: it has %d buckets, this version knows %d", record.ErrSchema, n, bucketCount)
	}
	return nil
}

// copySome copies the next rows of a bucket. It reports false after the last.
func (c *compaction) copySome() (more bool, err error) {
	if err := c.interrupted(); err != nil {
		return false, err
	}
	c.batch.reset()
	err = c.read(func(t *tx) error {
		more, err = c.readRows(t)
		return err
	})
	if err != nil || len(c.batch.rows) == 0 {
		return false, err
	}
	if err := c.writeBatch(); err != nil {
		return false, err
	}
	last := c.batch.rows[len(c.batch.rows)-1]
	c.at.last = append(c.at.last[:0], last.key...)
	c.advance(int64(c.batch.bytes))
	return more, nil
}

// readRows adds rows to the batch from the position on, and reports whether there are more. It
// refuses keys that do not grow: with such damage it might never end.
func (c *compaction) readRows(t *tx) (more bool, err error) {
	cur := t.stored(c.at.bucket)
	if c.at.end == nil {
		k, _ := cur.Last()
		if c.at.end, err = cloneKey(c.at.bucket, k); err != nil {
			return false, err
		}
	}
	last := c.at.last
	k, v := cur.Seek(last)
	if last != nil && bytes.Equal(k, last) {
		k, v = cur.Next()
	}
	for ; k != nil && bytes.Compare(k, c.at.end) <= 0; k, v = cur.Next() {
		if bytes.Compare(k, last) <= 0 {
			return false, fmt.Errorf("%w: keys of %s are not in order", record.ErrCorrupt, c.at.bucket)
		}
		if c.batch.full(c.bounds) {
			return true, nil
		}
		if err := c.add(t, c.at.bucket, k, v); err != nil {
			return false, err
		}
		last = k
	}
	return false, nil
}

// read runs fn in a read transaction of the file that is copied. Damage that fn finds does not fail
// the store: it may be in a push that is never used.
func (c *compaction) read(fn func(*tx) error) error {
	var found error
	err := c.from.read(func(t *tx) error {
		found = guard(func() error { return fn(t) })
		t.dropMapped()
		return nil
	})
	if err != nil {
		return c.damage(c.from, err)
	}
	return found
}

// damage makes the DB fail if a transaction of its own file, not of the copy, ended
// with a panic.
func (c *compaction) damage(h *handle, err error) error {
	if h.noteDamage(err) && h == c.from {
		return c.db.fail(err)
	}
	return err
}

// A row is a row for the copy.
type row struct {
	bucket     bucket
	key, value []byte
	gone       bool // it was deleted from the file
}

// A batch has the rows that one transaction writes to the copy. It has its own memory, since the
// rows outlive the transaction that read them.
type batch struct {
	rows   []row
	memory []byte
	bytes  int // of keys and values
}

// newBatch has memory for n bytes, and allocates more where needed.
func newBatch(n int) batch { return batch{memory: make([]byte, 0, n)} }

// reset empties the batch.
func (b *batch) reset() {
	clear(b.rows)
	*b = batch{rows: b.rows[:0], memory: b.memory[:0]}
}

func (b *batch) full(limit bounds) bool { return b.bytes >= limit.batch || len(b.rows) >= limit.rows }

// add adds a row of a read transaction.
func (b *batch) add(t *tx, in bucket, key, value []byte) error {
	if value == nil {
		return errors.Join(record.ErrCorrupt, errors.New("a bucket contains a bucket"))
	}
	if len(key)+len(value) > maxValue {
		return fmt.Errorf("%w: %s: a row of %d bytes", record.ErrCorrupt, in, len(key)+len(value))
	}
	r := row{bucket: in, key: b.alloc(len(key)), value: b.alloc(len(value))}
	copy(r.key, key)
	if err := t.copyValue(r.value, value); err != nil {
		return err
	}
	b.rows = append(b.rows, r)
	b.bytes += len(key) + len(value)
	return nil
}

// remove adds a row to delete.
func (b *batch) remove(in bucket, key []byte) {
	r := row{bucket: in, key: b.alloc(len(key)), gone: true}
	copy(r.key, key)
	b.rows = append(b.rows, r)
	b.bytes += len(key)
}

// alloc returns memory for n bytes: the batch's own, or new memory if that is used up.
func (b *batch) alloc(n int) []byte {
	used := len(b.memory)
	if used+n > cap(b.memory) {
		return make([]byte, n)
	}
	b.memory = b.memory[:used+n]
	return b.memory[used : used+n : used+n]
}

// compare returns an error unless a transaction of the copy has the batch's rows.
func (b *batch) compare(t *tx) error {
	for _, r := range b.rows {
		v, ok := t.findStored(r.bucket, r.key)
		if r.gone == ok || !bytes.Equal(v, r.value) {
			return errors.New("the copy differs from what was written")
		}
	}
	return nil
}
