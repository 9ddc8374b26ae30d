package record

import (
	"encoding/binary"
	"math"
	"time"
)

// Records begin with their version, so that later versions of pushbox can distinguish them.
const (
	recordVersion    = 1
	pushVersion      = 2
	FirstPushVersion = 1 // in schema 5 and before: without a link and a count of wrong passphrases
	tokenVersion     = 2 // schema 5 and before use recordVersion: without scopes
)

// Flags of a push record.
const (
	flagRetrievalStep = 1 << iota
	flagDeletable
	flagProtected
	flagFrozen
	flagClientEncrypted
	flagTypedReveal
	flagRestricted
	flagReminded
	allPushFlags = 1<<8 - 1
)

// Flags of optional fields at the end of a push record.
const (
	hasHolder = 1 << iota
	hasReceipt
	hasRequest
	hasWrappedKey
	hasReadAt
	hasOpensAt
	hasCloseAfter
	allPushParts = hasHolder | hasReceipt | hasRequest | hasWrappedKey | hasReadAt | hasOpensAt | hasCloseAfter
)

// AppendBinary appends the push's record to b. The ID is not part of it: it is the key.
func (p Push) AppendBinary(b []byte) ([]byte, error) {
	b = append(b, pushVersion, byte(p.Kind), byte(p.State), p.flags())
	b = binary.AppendUvarint(b, uint64(p.Owner))
	for _, t := range [...]time.Time{p.CreatedAt, p.UpdatedAt, p.ExpiresAt, p.ExpiredAt} {
		b = AppendTime(b, t)
	}
	for _, n := range [...]int{p.Days, p.ViewLimit, p.Views, int(p.Seq), int(p.Minor), p.Failed} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	b = AppendBytes(AppendBytes(AppendBytes(AppendBytes(b, p.Wrap), p.Link), p.Details), p.Files)
	b = AppendTime(binary.AppendUvarint(b, uint64(p.Stored)), p.GrantsEnd)
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
		b = AppendBytes(b, p.WrappedKey)
	}
	if !p.ReadAt.IsZero() {
		b[at] |= hasReadAt
		b = AppendTime(b, p.ReadAt)
	}
	if !p.OpensAt.IsZero() {
		b[at] |= hasOpensAt
		b = AppendTime(b, p.OpensAt)
	}
	if p.CloseAfter != 0 {
		b[at] |= hasCloseAfter
		b = binary.AppendUvarint(b, uint64(p.CloseAfter/time.Millisecond))
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
	if p.TypedReveal {
		f |= flagTypedReveal
	}
	if p.Restricted {
		f |= flagRestricted
	}
	if p.Reminded {
		f |= flagReminded
	}
	return f
}

// UnmarshalBinary reads a record and leaves the ID as it is. The push shares
// no memory with b.
func (p *Push) UnmarshalBinary(b []byte) error {
	return p.UnmarshalVersion(b, pushVersion)
}

// UnmarshalVersion reads a record of a version.
func (p *Push) UnmarshalVersion(b []byte, version byte) error {
	r := Reader{Rest: b}
	r.VersionIs(version)
	q := Push{ID: p.ID, Kind: Kind(r.Byte()), State: State(r.Byte())}
	f := r.Flags(allPushFlags)
	q.RetrievalStep, q.DeletableByViewer, q.Protected = f&flagRetrievalStep != 0, f&flagDeletable != 0, f&flagProtected != 0
	q.Frozen, q.ClientEncrypted, q.TypedReveal = f&flagFrozen != 0, f&flagClientEncrypted != 0, f&flagTypedReveal != 0
	q.Restricted, q.Reminded = f&flagRestricted != 0, f&flagReminded != 0
	q.Owner = AccountID(r.Uvarint(1<<64 - 1))
	for _, t := range [...]*time.Time{&q.CreatedAt, &q.UpdatedAt, &q.ExpiresAt, &q.ExpiredAt} {
		*t = r.Time()
	}
	for _, n := range [...]*int{&q.Days, &q.ViewLimit, &q.Views} {
		*n = int(r.Uvarint(1<<31 - 1))
	}
	q.Seq, q.Minor = uint32(r.Uvarint(1<<32-1)), uint32(r.Uvarint(1<<32-1))
	if version != FirstPushVersion {
		q.Failed = int(r.Uvarint(1<<31 - 1))
	}
	q.Wrap = r.Bytes()
	if version != FirstPushVersion {
		q.Link = r.Bytes()
	}
	q.Details, q.Files = r.Bytes(), r.Bytes()
	q.Stored, q.GrantsEnd = int64(r.Uvarint(1<<63-1)), r.Time()
	if version != FirstPushVersion {
		q.Size = int64(r.Uvarint(1<<63 - 1))
		has := r.Flags(allPushParts)
		if has&hasHolder != 0 {
			q.Holder = Holder(r.Take(len(Holder{})))
			r.Bad = r.Bad || q.Holder == Holder{}
		}
		if has&hasReceipt != 0 {
			q.Receipt = ReceiptDigest(r.Take(len(ReceiptDigest{})))
			r.Bad = r.Bad || q.Receipt.IsZero()
		}
		if has&hasRequest != 0 {
			q.Request = RequestID(r.Take(len(RequestID{})))
			r.Bad = r.Bad || q.Request == RequestID{}
		}
		if has&hasWrappedKey != 0 {
			q.WrappedKey = r.Bytes()
			r.Bad = r.Bad || q.WrappedKey == nil
		}
		if has&hasReadAt != 0 {
			q.ReadAt = r.Time()
			r.Bad = r.Bad || q.ReadAt.IsZero()
		}
		r.times(&q, has)
	}
	if err := r.End(); err != nil || q.Kind.String() == "" || q.State < Live || q.State > Deleted {
		return ErrRecord
	}
	*p = q
	return nil
}

// times reads the last optional fields of a push.
func (r *Reader) times(p *Push, has byte) {
	if has&hasOpensAt != 0 {
		p.OpensAt = r.Time()
		r.Bad = r.Bad || p.OpensAt.IsZero()
	}
	if has&hasCloseAfter != 0 {
		p.CloseAfter = time.Duration(r.Uvarint(uint64(math.MaxInt64/time.Millisecond))) * time.Millisecond
		r.Bad = r.Bad || p.CloseAfter == 0
	}
}

// AppendBinary appends the entry's record to b.
func (e Entry) AppendBinary(b []byte) ([]byte, error) {
	b = AppendTime(append(b, recordVersion, byte(e.Kind)), e.At)
	return AppendBytes(b, e.Sealed), nil
}

// UnmarshalBinary reads a record. The entry shares no memory with b.
func (e *Entry) UnmarshalBinary(b []byte) error {
	r := Reader{Rest: b}
	r.Version()
	f := Entry{Kind: EntryKind(r.Byte()), At: r.Time(), Sealed: r.Bytes()}
	if err := r.End(); err != nil || f.Kind.String() == "" {
		return ErrRecord
	}
	*e = f
	return nil
}

// AppendBinary appends the grant's record to b. The digest is not part of it:
// it is the key.
func (g Grant) AppendBinary(b []byte) ([]byte, error) {
	b = append(append(b, recordVersion), g.Push[:]...)
	return AppendBytes(AppendTime(AppendTime(b, g.ExpiresAt), g.Until), g.Sealed), nil
}

// UnmarshalBinary reads a record and leaves the digest as it is.
func (g *Grant) UnmarshalBinary(b []byte) error {
	r := Reader{Rest: b}
	r.Version()
	h := Grant{Digest: g.Digest, Push: ID(r.Take(len(ID{}))), ExpiresAt: r.Time(), Until: r.Time(), Sealed: r.Bytes()}
	if err := r.End(); err != nil {
		return err
	}
	*g = h
	return nil
}
