package record

import (
	"encoding/binary"
	"errors"
	"time"

	"pushbox/internal/secret"
)

// ErrRecord says that no version of pushbox up to this one wrote the record.
var ErrRecord = errors.New("malformed record")

// AppendTime appends t as milliseconds since 1970 plus one; the zero time is 0.
func AppendTime(b []byte, t time.Time) []byte {
	if t.IsZero() {
		return binary.AppendUvarint(b, 0)
	}
	return binary.AppendUvarint(b, uint64(t.UnixMilli())+1)
}

// AppendBytes appends the length of v and then v.
func AppendBytes[T ~string | []byte](b []byte, v T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(v))), v...)
}

// A Reader reads the fields of a record. After a failure it returns zeros, and End
// returns the error.
type Reader struct {
	Rest []byte // the unread rest
	Bad  bool   // a field was malformed
}

// Take reads n bytes, which it shares with the record.
func (r *Reader) Take(n int) []byte {
	if r.Bad || n > len(r.Rest) {
		r.Bad = true
		return make([]byte, min(n, 32)) // 32: the longest array that is converted from it
	}
	v := r.Rest[:n]
	r.Rest = r.Rest[n:]
	return v
}

// Byte reads a byte.
func (r *Reader) Byte() byte { return r.Take(1)[0] }

// Version reads the version of most records.
func (r *Reader) Version() { r.VersionIs(recordVersion) }

// VersionIs reads the version of a record, which must be that one.
func (r *Reader) VersionIs(version byte) {
	if r.Byte() != version {
		r.Bad = true
	}
}

// Flags reads flags, all of which must be known.
func (r *Reader) Flags(known byte) byte {
	f := r.Byte()
	if f&^known != 0 {
		r.Bad = true
	}
	return f
}

// Uvarint reads a number of at most limit. It refuses all but the shortest form, so
// that a record that is read and written again is the same.
func (r *Reader) Uvarint(limit uint64) uint64 {
	v, n := binary.Uvarint(r.Rest)
	if r.Bad || n <= 0 || v > limit || n > 1 && r.Rest[n-1] == 0 {
		r.Bad = true
		return 0
	}
	r.Rest = r.Rest[n:]
	return v
}

// Time reads what AppendTime wrote.
func (r *Reader) Time() time.Time {
	const year9999 = 253402300800000
	v := r.Uvarint(year9999)
	if v == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(v) - 1).UTC()
}

// Bytes reads a length and a copy of that many bytes; nil for none.
func (r *Reader) Bytes() []byte {
	n := r.Uvarint(uint64(len(r.Rest)))
	if n == 0 {
		return nil
	}
	return append([]byte(nil), r.Take(int(n))...)
}

// Text is Bytes for a text that must not be printed.
func (r *Reader) Text() secret.Text { return secret.New(string(r.Bytes())) }

// End returns ErrRecord if a field was malformed, or if bytes remain.
func (r *Reader) End() error {
	if r.Bad || len(r.Rest) != 0 {
		return ErrRecord
	}
	return nil
}
