package postgres

import (
	"encoding"
	"encoding/binary"
	"fmt"
	"time"

	"pushbox/store/record"
)

// A ring is the keys of rows, with the version of the key ring that they belong to.
type ring struct {
	keys    record.RowKeys
	version int64
}

// errStale says that a row has a tag under a key that this process does not know yet.
type staleError struct{ table string }

func (e *staleError) Error() string {
	return fmt.Sprintf("%v: %s: a row was not written by pushbox", record.ErrCorrupt, e.table)
}

// Unwrap returns record.ErrCorrupt.
func (*staleError) Unwrap() error { return record.ErrCorrupt }

// A sealer makes and verifies rows under the keys of one ring.
type sealer struct{ *ring }

// seal returns the row of a record: its value with its tag.
func (s sealer) seal(table string, key []byte, r encoding.BinaryAppender) ([]byte, error) {
	value, err := r.AppendBinary(nil)
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", r, err)
	}
	return s.sealValue(table, key, value), nil
}

func (s sealer) sealValue(table string, key, value []byte) []byte {
	row, _ := record.SealRow(make([]byte, 0, len(value)+record.TagLen), s.keys, table, key, value)
	return row
}

// open verifies a row and returns its value. Its error is a decision.
func (s sealer) open(table string, key, row []byte) ([]byte, error) {
	value, _, ok := record.OpenRow(s.keys, table, key, row)
	if ok {
		return value, nil
	}
	if v, tagged := record.RowKeyOf(row); tagged {
		if _, known := s.keys.RowSum(v, table, nil, nil); !known {
			return nil, decide(&staleError{table})
		}
	}
	return nil, decide(fmt.Errorf("%w: %s: a row was not written by pushbox", record.ErrCorrupt, table))
}

// read reads the record of a row into r. Its error is a decision, and names no content.
func (s sealer) read(table string, key, row []byte, r encoding.BinaryUnmarshaler) error {
	value, err := s.open(table, key, row)
	if err != nil {
		return err
	}
	if err := r.UnmarshalBinary(value); err != nil {
		return decide(fmt.Errorf("%w: %s: %w", record.ErrCorrupt, table, err))
	}
	return nil
}

// mismatch says that a column does not agree with the row.
func mismatch(table, column string) error {
	return decide(fmt.Errorf("%w: %s: the column %s does not agree with its row", record.ErrCorrupt, table, column))
}

func uint64Key(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// pushKey is the key for the tag of a push's row. It includes the number of changes, so that an old
// row is not accepted as a later one.
func pushKey(id record.ID, seq int64) []byte {
	return binary.BigEndian.AppendUint64(append(make([]byte, 0, len(id)+8), id[:]...), uint64(seq))
}

func auditKey(id record.ID, number uint32) []byte {
	return binary.BigEndian.AppendUint32(append(make([]byte, 0, len(id)+4), id[:]...), number)
}

// milliseconds returns t in the form of columns. A time before 1970 counts as 1970.
func milliseconds(t time.Time) int64 { return max(0, t.UnixMilli()) }

func timeOf(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// number reads a value that is one number.
func number(table string, v []byte) (uint64, error) {
	if len(v) != 8 {
		return 0, decide(fmt.Errorf("%w: %s: a number of %d bytes", record.ErrCorrupt, table, len(v)))
	}
	return binary.BigEndian.Uint64(v), nil
}
