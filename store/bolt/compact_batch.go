package bolt

import (
	"bytes"
	"errors"
	"fmt"

	"pushbox/store"
)

// A row is one on its way to the copy.
type row struct {
	bucket     bucket
	key, value []byte
	gone       bool // it is not in the file any more
}

// A batch is what goes to the copy in one transaction. Rows lie in its memory,
// since they outlast the transaction that they were read in.
type batch struct {
	rows   []row
	memory []byte
	bytes  int // of keys and values
}

// newBatch has memory for that many bytes, and makes more where it must.
func newBatch(n int) batch { return batch{memory: make([]byte, 0, n)} }

// reset empties the batch.
func (b *batch) reset() {
	clear(b.rows)
	*b = batch{rows: b.rows[:0], memory: b.memory[:0]}
}

func (b *batch) full(most bounds) bool { return b.bytes >= most.batch || len(b.rows) >= most.rows }

// add takes a row of a read transaction.
func (b *batch) add(t *tx, in bucket, key, value []byte) error {
	if value == nil {
		return errors.Join(store.ErrCorrupt, errors.New("there is a bucket in a bucket"))
	}
	if len(key)+len(value) > mostValue {
		return fmt.Errorf("%w: %s: a row of %d bytes", store.ErrCorrupt, in, len(key)+len(value))
	}
	r := row{bucket: in, key: b.room(len(key)), value: b.room(len(value))}
	copy(r.key, key)
	if err := t.copyValue(r.value, value); err != nil {
		return err
	}
	b.rows = append(b.rows, r)
	b.bytes += len(key) + len(value)
	return nil
}

// remove takes a row that is to go.
func (b *batch) remove(in bucket, key []byte) {
	r := row{bucket: in, key: b.room(len(key)), gone: true}
	copy(r.key, key)
	b.rows = append(b.rows, r)
	b.bytes += len(key)
}

// room is memory for n bytes: the batch's own, or for what does not fit into
// that, other.
func (b *batch) room(n int) []byte {
	used := len(b.memory)
	if used+n > cap(b.memory) {
		return make([]byte, n)
	}
	b.memory = b.memory[:used+n]
	return b.memory[used : used+n : used+n]
}

// compare reports whether a transaction of the copy has the batch's rows.
func (b *batch) compare(t *tx) error {
	for _, r := range b.rows {
		v := t.get(r.bucket, r.key)
		if r.gone != (v == nil) || !bytes.Equal(v, r.value) {
			return errors.New("the copy does not have what was written to it")
		}
	}
	return nil
}
