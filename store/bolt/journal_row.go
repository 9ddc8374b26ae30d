package bolt

import (
	"encoding/binary"
	"math"

	"pushbox/store/record"
)

// A journalRow is a row of the journal: what a push is after a change, and the audit
// entry of that change.
type journalRow struct {
	id record.ID
	delta
	entry []byte // as it is in the audit log; empty: the change has none
}

// number is the number of the entry in the audit log.
func (r *journalRow) number() uint32 { return r.seq - 1 }

// The versions of a row. The first has counts alone.
const (
	journalCounts  = 1
	journalVersion = 2
)

// rowHolds says that an ended push still holds its files. It is added to the state.
const rowHolds = 0x80

// AppendBinary appends the row to b.
func (r *journalRow) AppendBinary(b []byte) ([]byte, error) {
	version, state := byte(journalVersion), byte(r.state)
	if r.state == 0 {
		version = journalCounts
	}
	b = append(append(b, version), r.id[:]...)
	for _, n := range [...]uint64{uint64(r.views), uint64(r.seq), uint64(r.minor)} {
		b = binary.AppendUvarint(b, n)
	}
	b = binary.AppendVarint(b, r.updated)
	if version == journalCounts {
		return append(b, r.entry...), nil
	}
	if r.files {
		state |= rowHolds
	}
	b = binary.AppendVarint(append(b, state), r.grants)
	if r.ended() {
		b = binary.AppendUvarint(b, uint64(r.owner))
		b = binary.AppendVarint(binary.AppendVarint(b, r.expires), r.expired)
	}
	return append(b, r.entry...), nil
}

// UnmarshalBinary reads a row, whose entry shares memory with b.
func (r *journalRow) UnmarshalBinary(b []byte) error {
	if len(b) <= 1+idLen || b[0] != journalCounts && b[0] != journalVersion {
		return errJournalRow
	}
	v := varints{b: b[1+idLen:]}
	q := journalRow{id: record.ID(b[1:])}
	q.views, q.seq, q.minor = int(v.count()), v.count(), v.count()
	q.updated = v.signed()
	if b[0] == journalVersion {
		v.readEnd(&q.delta)
	}
	if q.entry = v.b; v.bad || q.seq == 0 || len(q.entry) == 0 && !q.ended() {
		return errJournalRow
	}
	*r = q
	return nil
}

// varints reads numbers. After a failure it returns zeros, and bad is set.
type varints struct {
	b   []byte
	bad bool
}

// readEnd reads what a row says beside the counts.
func (v *varints) readEnd(d *delta) {
	if len(v.b) == 0 {
		v.bad = true
		return
	}
	d.state, d.files = record.State(v.b[0]&^rowHolds), v.b[0]&rowHolds != 0
	v.b = v.b[1:]
	d.grants = v.signed()
	switch d.state {
	case record.Live:
		v.bad = v.bad || d.files
	case record.Expired, record.Deleted:
		d.owner, d.expires, d.expired = record.AccountID(v.unsigned()), v.signed(), v.signed()
	default:
		v.bad = true
	}
}

func (v *varints) unsigned() uint64 {
	n, size := binary.Uvarint(v.b)
	return taken(v, n, size)
}

func (v *varints) signed() int64 {
	n, size := binary.Varint(v.b)
	return taken(v, n, size)
}

func (v *varints) count() uint32 {
	n := v.unsigned()
	v.bad = v.bad || n > math.MaxUint32
	return uint32(n)
}

// taken returns a number of that many bytes, and removes those.
func taken[N uint64 | int64](v *varints, n N, size int) N {
	if v.bad || size <= 0 {
		v.bad = true
		return 0
	}
	v.b = v.b[size:]
	return n
}
