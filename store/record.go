package store

import (
	"encoding/binary"
	"errors"
	"time"

	"pushbox/internal/secret"
)

// Records begin with their version, so that a later version can tell them apart.
const (
	recordVersion    = 1
	pushVersion      = 2
	firstPushVersion = 1 // of schema 5 and before: without a link and a count of wrong passphrases
	tokenVersion     = 2 // that of schema 5 and before is recordVersion: without scopes
)

var errRecord = errors.New("malformed record")

// Flags of a push record.
const (
	flagRetrievalStep = 1 << iota
	flagDeletable
	flagProtected
	flagFrozen
	flagClientEncrypted
	allPushFlags = flagRetrievalStep | flagDeletable | flagProtected | flagFrozen | flagClientEncrypted
)

// What the end of a push record has.
const (
	hasHolder = 1 << iota
	hasReceipt
	hasRequest
	hasWrappedKey
	hasReadAt
	allPushParts = hasHolder | hasReceipt | hasRequest | hasWrappedKey | hasReadAt
)

// AppendBinary appends the push's record to b. The ID is not part of it: it is the key.
func (p Push) AppendBinary(b []byte) ([]byte, error) {
	b = append(b, pushVersion, byte(p.Kind), byte(p.State), p.flags())
	b = binary.AppendUvarint(b, uint64(p.Owner))
	for _, t := range [...]time.Time{p.CreatedAt, p.UpdatedAt, p.ExpiresAt, p.ExpiredAt} {
		b = appendTime(b, t)
	}
	for _, n := range [...]int{p.Days, p.ViewLimit, p.Views, int(p.Seq), int(p.Minor), p.Failed} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	b = appendBytes(appendBytes(appendBytes(appendBytes(b, p.Wrap), p.Link), p.Details), p.Files)
	b = appendTime(binary.AppendUvarint(b, uint64(p.Stored)), p.GrantsEnd)
	b = binary.AppendUvarint(b, uint64(p.Size))
	at := len(b)
	b = append(b, 0)
	if p.Holder != (Holder{}) {
		b[at] |= hasHolder
		b = append(b, p.Holder[:]...)
	}
	if !p.Receipt.IsZero() {
		b[at] |= hasReceipt
		b = append(b, p.Receipt[:]...)
	}
	if p.IsAnswer() {
		b[at] |= hasRequest
		b = append(b, p.Request[:]...)
	}
	if p.WrappedKey != nil {
		b[at] |= hasWrappedKey
		b = appendBytes(b, p.WrappedKey)
	}
	if !p.ReadAt.IsZero() {
		b[at] |= hasReadAt
		b = appendTime(b, p.ReadAt)
	}
	return b, nil
}

func (p Push) flags() (f byte) {
	if p.RetrievalStep {
		f |= flagRetrievalStep
	}
	if p.DeletableByViewer {
		f |= flagDeletable
	}
	if p.Protected {
		f |= flagProtected
	}
	if p.Frozen {
		f |= flagFrozen
	}
	if p.ClientEncrypted {
		f |= flagClientEncrypted
	}
	return f
}

// UnmarshalBinary reads a record and leaves the ID as it is. The push shares
// no memory with b.
func (p *Push) UnmarshalBinary(b []byte) error {
	return p.unmarshal(b, pushVersion)
}

// unmarshal reads a record of a version.
func (p *Push) unmarshal(b []byte, version byte) error {
	r := reader{b: b}
	r.versionIs(version)
	q := Push{ID: p.ID, Kind: Kind(r.byte()), State: State(r.byte())}
	f := r.flags(allPushFlags)
	q.RetrievalStep, q.DeletableByViewer, q.Protected = f&flagRetrievalStep != 0, f&flagDeletable != 0, f&flagProtected != 0
	q.Frozen, q.ClientEncrypted = f&flagFrozen != 0, f&flagClientEncrypted != 0
	q.Owner = AccountID(r.uvarint(1<<64 - 1))
	for _, t := range [...]*time.Time{&q.CreatedAt, &q.UpdatedAt, &q.ExpiresAt, &q.ExpiredAt} {
		*t = r.time()
	}
	for _, n := range [...]*int{&q.Days, &q.ViewLimit, &q.Views} {
		*n = int(r.uvarint(1<<31 - 1))
	}
	q.Seq, q.Minor = uint32(r.uvarint(1<<32-1)), uint32(r.uvarint(1<<32-1))
	if version != firstPushVersion {
		q.Failed = int(r.uvarint(1<<31 - 1))
	}
	q.Wrap = r.bytes()
	if version != firstPushVersion {
		q.Link = r.bytes()
	}
	q.Details, q.Files = r.bytes(), r.bytes()
	q.Stored, q.GrantsEnd = int64(r.uvarint(1<<63-1)), r.time()
	if version != firstPushVersion {
		q.Size = int64(r.uvarint(1<<63 - 1))
		has := r.flags(allPushParts)
		if has&hasHolder != 0 {
			q.Holder = Holder(r.take(len(Holder{})))
			r.bad = r.bad || q.Holder == Holder{}
		}
		if has&hasReceipt != 0 {
			q.Receipt = ReceiptDigest(r.take(len(ReceiptDigest{})))
			r.bad = r.bad || q.Receipt.IsZero()
		}
		if has&hasRequest != 0 {
			q.Request = RequestID(r.take(len(RequestID{})))
			r.bad = r.bad || q.Request == RequestID{}
		}
		if has&hasWrappedKey != 0 {
			q.WrappedKey = r.bytes()
			r.bad = r.bad || q.WrappedKey == nil
		}
		if has&hasReadAt != 0 {
			q.ReadAt = r.time()
			r.bad = r.bad || q.ReadAt.IsZero()
		}
	}
	if err := r.end(); err != nil || q.Kind.String() == "" || q.State < Live || q.State > Deleted {
		return errRecord
	}
	*p = q
	return nil
}

// AppendBinary appends the entry's record to b.
func (e Entry) AppendBinary(b []byte) ([]byte, error) {
	b = appendTime(append(b, recordVersion, byte(e.Kind)), e.At)
	return appendBytes(b, e.Sealed), nil
}

// UnmarshalBinary reads a record. The entry shares no memory with b.
func (e *Entry) UnmarshalBinary(b []byte) error {
	r := reader{b: b}
	r.version()
	f := Entry{Kind: EntryKind(r.byte()), At: r.time(), Sealed: r.bytes()}
	if err := r.end(); err != nil || f.Kind.String() == "" {
		return errRecord
	}
	*e = f
	return nil
}

// AppendBinary appends the grant's record to b. The digest is not part of it:
// it is the key.
func (g Grant) AppendBinary(b []byte) ([]byte, error) {
	b = append(append(b, recordVersion), g.Push[:]...)
	return appendBytes(appendTime(appendTime(b, g.ExpiresAt), g.Until), g.Sealed), nil
}

// UnmarshalBinary reads a record and leaves the digest as it is.
func (g *Grant) UnmarshalBinary(b []byte) error {
	r := reader{b: b}
	r.version()
	h := Grant{Digest: g.Digest, Push: ID(r.take(len(ID{}))), ExpiresAt: r.time(), Until: r.time(), Sealed: r.bytes()}
	if err := r.end(); err != nil {
		return err
	}
	*g = h
	return nil
}

// appendTime appends t as milliseconds since 1970 plus one; the zero time is 0.
func appendTime(b []byte, t time.Time) []byte {
	if t.IsZero() {
		return binary.AppendUvarint(b, 0)
	}
	return binary.AppendUvarint(b, uint64(t.UnixMilli())+1)
}

func appendBytes[T ~string | []byte](b []byte, v T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(v))), v...)
}

// A reader reads the parts of a record. After a failure it returns zeros, and end
// returns the error.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) take(n int) []byte {
	if r.bad || n > len(r.b) {
		r.bad = true
		return make([]byte, min(n, 32)) // 32: the longest array that is converted from it
	}
	v := r.b[:n]
	r.b = r.b[n:]
	return v
}

func (r *reader) byte() byte { return r.take(1)[0] }

func (r *reader) version() { r.versionIs(recordVersion) }

func (r *reader) versionIs(version byte) {
	if r.byte() != version {
		r.bad = true
	}
}

func (r *reader) flags(known byte) byte {
	f := r.byte()
	if f&^known != 0 {
		r.bad = true
	}
	return f
}

// uvarint reads a number of at most limit. It refuses all but the shortest form, so
// that a record that is read and written again is the same.
func (r *reader) uvarint(limit uint64) uint64 {
	v, n := binary.Uvarint(r.b)
	if r.bad || n <= 0 || v > limit || n > 1 && r.b[n-1] == 0 {
		r.bad = true
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) time() time.Time {
	const year9999 = 253402300800000
	v := r.uvarint(year9999)
	if v == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(v) - 1).UTC()
}

// bytes reads a length and a copy of that many bytes; nil for none.
func (r *reader) bytes() []byte {
	n := r.uvarint(uint64(len(r.b)))
	if n == 0 {
		return nil
	}
	return append([]byte(nil), r.take(int(n))...)
}

// text is bytes for a text that must not print.
func (r *reader) text() secret.Text { return secret.New(string(r.bytes())) }

func (r *reader) end() error {
	if r.bad || len(r.b) != 0 {
		return errRecord
	}
	return nil
}
