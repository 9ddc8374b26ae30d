package record

import (
	"context"
	"crypto/subtle"
	"encoding/binary"
)

// A row that affects decisions ends with a tag, so that pushbox refuses a row that another program
// changed or moved. The tag is the version of the row key as uint16, then the first half of the
// row's sum under that key.
const (
	tagSum = 16
	// TagLen is the length of a row's tag.
	TagLen = 2 + tagSum
)

// A RowShare is the second half of a row's sum, which is not stored in the row. An engine may add
// up the shares of all rows.
type RowShare [tagSum]byte

// SealRow appends a row's value and its tag to dst, under the newest key.
func SealRow(dst []byte, keys RowKeys, bucket string, key, value []byte) ([]byte, RowShare) {
	version := keys.RowVersion()
	sum, ok := keys.RowSum(version, bucket, key, value)
	if !ok {
		panic("the key ring has no key of its own version") // a mistake in the code
	}
	dst = binary.BigEndian.AppendUint16(append(dst, value...), version)
	return append(dst, sum[:tagSum]...), RowShare(sum[tagSum:])
}

// OpenRow returns the value of a row that SealRow wrote, and shares memory with it; false
// if pushbox did not write the row there, or its key is not known.
func OpenRow(keys RowKeys, bucket string, key, row []byte) (value []byte, s RowShare, ok bool) {
	value, sum, ok := sumRow(keys, bucket, key, row)
	if !ok || subtle.ConstantTimeCompare(sum[:tagSum], row[len(value)+2:]) != 1 {
		return nil, s, false
	}
	return value, RowShare(sum[tagSum:]), true
}

// ShareOf returns the share of a row without verifying its tag; false if its key is not known.
func ShareOf(keys RowKeys, bucket string, key, row []byte) (s RowShare, ok bool) {
	_, sum, ok := sumRow(keys, bucket, key, row)
	return RowShare(sum[tagSum:]), ok
}

// RowKeyOf returns the version of the key that a row's tag names; false if the row has no
// tag.
func RowKeyOf(row []byte) (version uint16, ok bool) {
	if len(row) < TagLen {
		return 0, false
	}
	return binary.BigEndian.Uint16(row[len(row)-TagLen:]), true
}

func sumRow(keys RowKeys, bucket string, key, row []byte) (value []byte, sum [32]byte, ok bool) {
	version, ok := RowKeyOf(row)
	if !ok {
		return nil, sum, false
	}
	n := len(row) - TagLen
	value = row[:n:n]
	sum, ok = keys.RowSum(version, bucket, key, value)
	return value, sum, ok
}

// sealedUnder is the context key of the key version of an operation.
type sealedUnder struct{}

// SealedUnder returns the version of the newest row key when the operation of ctx began to seal; ok
// is false if it seals nothing. The operation seals under the keys of that moment or later ones. An
// engine that several servers share refuses the operation with ErrStaleKeys once this server uses
// newer row keys: another server may already have resealed everything, and drop the older keys.
func SealedUnder(ctx context.Context) (version uint16, ok bool) {
	version, ok = ctx.Value(sealedUnder{}).(uint16)
	return version, ok
}

// SealUnder returns a context for which SealedUnder returns that version.
func SealUnder(ctx context.Context, version uint16) context.Context {
	return context.WithValue(ctx, sealedUnder{}, version)
}
