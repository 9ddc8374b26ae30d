package bolt

import (
	"bytes"
	"encoding/binary"
	"iter"
	"math"
	"slices"

	"pushbox/store/record"
)

// An endedPush has the rows in the two indexes of a push that ended in the journal. Until it is
// folded, the file has the rows of the live push.
type endedPush struct {
	id            record.ID
	owner, expiry []byte
}

func newEnded(id record.ID, d delta) endedPush {
	q := d.indexed(id)
	return endedPush{id: id, owner: ownerRow(q), expiry: expiryRow(q)}
}

// row returns the row in an index: owners or expiry.
func (e endedPush) row(b bucket) []byte {
	if b == owners {
		return e.owner
	}
	return e.expiry
}

// last returns the last state of a push in the journal, or false.
func (o *overlay) last(id record.ID) (delta, bool, error) {
	found, n, err := o.of(id)
	if n == 0 || err != nil {
		return delta{}, false, err
	}
	return found[n-1].delta, true, nil
}

// ended reports whether the push has ended in the journal.
func (o *overlay) ended(id record.ID) (bool, error) {
	d, ok, err := o.last(id)
	return ok && d.ended(), err
}

// endRows returns, in order, the rows with a prefix that the journal adds to an index. The index
// may have them already.
func (o *overlay) endRows(b bucket, prefix []byte) (rows [][]byte, err error) {
	for _, g := range [...]*generation{o.old, o.current} {
		if g == nil {
			continue
		}
		g.mu.RLock()
		ends := g.ends
		g.mu.RUnlock()
		for _, e := range ends {
			row := e.row(b)
			if row == nil || !bytes.HasPrefix(row, prefix) {
				continue
			}
			d, ok, err := o.last(e.id)
			if err != nil {
				return nil, err
			}
			if ok && d.ended() && bytes.Equal(newEnded(e.id, d).row(b), row) { // else the push was purged
				rows = append(rows, row)
			}
		}
	}
	slices.SortFunc(rows, bytes.Compare)
	return slices.CompactFunc(rows, bytes.Equal), nil
}

// indexed walks the rows of an index with a prefix as they will be after a fold: forwards in
// expiry, backwards in owners. The rows belong to the transaction.
func (t *tx) indexed(b bucket, prefix []byte) iter.Seq2[[]byte, error] {
	from := prefix
	if b == owners {
		from = after(prefix)
	}
	return t.indexedFrom(b, prefix, from)
}

// indexedFrom is indexed for the rows from one on; a walk back begins before that one; nil: at the last row.
func (t *tx) indexedFrom(b bucket, prefix, from []byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		added, err := t.overlay.endRows(b, prefix)
		if err != nil {
			yield(nil, err)
			return
		}
		w := indexWalk{c: t.cursor(b), prefix: prefix, from: from, added: added, back: b == owners}
		n, _ := slices.BinarySearchFunc(added, from, bytes.Compare)
		switch {
		case !w.back:
			w.added = added[n:]
		case from != nil:
			w.added = added[:n]
		}
		if w.back {
			slices.Reverse(w.added)
		}
		for k := w.first(); k != nil; k = w.next() {
			ended, err := t.overlay.ended(lastID(k))
			if err == nil && ended && ofLive(b, k) {
				continue
			}
			if !yield(k, err) || err != nil {
				return
			}
		}
	}
}

// ofLive reports whether a row of an index belongs to a live push.
func ofLive(b bucket, row []byte) bool {
	if b == owners {
		return row[ownerLen-idLen-1] == 1
	}
	return record.ExpiryQueue(row[0]) == record.Expiring
}

// An indexWalk merges the rows of an index with those that the journal adds.
type indexWalk struct {
	c      cursor
	prefix []byte
	from   []byte   // where the walk begins; a walk back begins before it; nil: at the last row
	added  [][]byte // in the order of the walk
	back   bool
	row    []byte // the next row of the index; nil: there is none
}

func (w *indexWalk) first() []byte {
	switch {
	case !w.back:
		w.row, _ = w.c.Seek(w.from)
	case w.from == nil:
		w.row, _ = w.c.Last()
	default:
		if w.row, _ = w.c.Seek(w.from); w.row == nil {
			w.row, _ = w.c.Last()
		} else {
			w.row, _ = w.c.Prev()
		}
	}
	return w.next()
}

// next returns the next row, or nil after the last.
func (w *indexWalk) next() (row []byte) {
	if !bytes.HasPrefix(w.row, w.prefix) {
		w.row = nil
	}
	order := -1 // compares the row of the index with the added one
	switch {
	case w.row == nil && len(w.added) == 0:
		return nil
	case w.row == nil:
		order = 1
	case len(w.added) > 0:
		order = bytes.Compare(w.row, w.added[0])
		if w.back {
			order = -order
		}
	}
	if order >= 0 {
		row, w.added = w.added[0], w.added[1:]
	}
	if order > 0 {
		return row
	}
	row = w.row
	if w.back {
		w.row, _ = w.c.Prev()
	} else {
		w.row, _ = w.c.Next()
	}
	return row
}

// A journalRow is a row of the journal: the state of a push after a change, and the audit entry of
// that change.
type journalRow struct {
	id record.ID
	delta
	entry []byte // as in the audit log; empty: the change has none
}

// number is the number of the entry in the audit log.
func (r *journalRow) number() uint32 { return r.seq - 1 }

// The versions of a row. The first has only counts.
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

// readEnd reads the fields of a row after the counts.
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

// taken removes n bytes and returns them as a number.
func taken[N uint64 | int64](v *varints, n N, size int) N {
	if v.bad || size <= 0 {
		v.bad = true
		return 0
	}
	v.b = v.b[size:]
	return n
}
