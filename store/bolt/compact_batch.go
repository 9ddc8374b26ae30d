package bolt

import (
	"bytes"
	"errors"
	"fmt"

	"pushbox/store/record"
)

// A row is one on its way to the copy.
type row struct {
	bucket     bucket
	key, value []byte
	gone       bool // it was deleted from the file
}

// A batch is what one transaction writes to the copy. Its memory holds the rows, since
// they outlast the transaction that read them.
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
		return errors.Join(record.ErrCorrupt, errors.New("there is a bucket in a bucket"))
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

// alloc returns memory for n bytes: the batch's own, or where that is used up, new
// memory.
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
			return errors.New("the copy does not have what was written to it")
		}
	}
	return nil
}
