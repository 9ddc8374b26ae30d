package seal

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"sync"
)

// A rowState is what one computation of a row's sum works with. It keeps the state of
// HMAC after the key, so that a sum costs no work for the key and allocates nothing.
type rowState struct {
	mac hash.Hash
	row []byte
	sum []byte
}

func rowStates(k key) *sync.Pool {
	return &sync.Pool{New: func() any { return &rowState{mac: hmac.New(sha256.New, k.bytes())} }}
}

// of returns HMAC-SHA256(key, bucket ‖ 0 ‖ length of the row's key 4 ‖ its key ‖ its
// value).
func (s *rowState) of(bucket string, key, value []byte) [sha256.Size]byte {
	s.row = append(append(s.row[:0], bucket...), 0)
	s.row = append(binary.BigEndian.AppendUint32(s.row, uint32(len(key))), key...)
	s.row = append(s.row, value...) // copied, or the caller's memory would move to the heap
	s.mac.Reset()
	_, _ = s.mac.Write(s.row)
	s.sum = s.mac.Sum(s.sum[:0])
	return [sha256.Size]byte(s.sum)
}

// RowVersion returns the version of the key under which rows are authenticated now.
func (r *Ring) RowVersion() uint16 { return uint16(r.newest(RowKeys).version) }

// RowSum returns the sum that authenticates a row of the database: where it is, and its
// value. The name of a bucket has no zero byte. ok is false if the ring has no row key
// of that version. RowSum takes about a microsecond, and allocates nothing.
func (r *Ring) RowSum(version uint16, bucket string, key, value []byte) (sum [sha256.Size]byte, ok bool) {
	for i := len(r.keys[RowKeys]) - 1; i >= 0; i-- {
		if k := &r.keys[RowKeys][i]; k.version == uint32(version) {
			s := k.rows.Get().(*rowState)
			sum = s.of(bucket, key, value)
			k.rows.Put(s)
			return sum, true
		}
	}
	return sum, false
}
