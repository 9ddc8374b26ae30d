package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"pushbox/store/record"
)

// addRow adds a row of the old file to the batch in its present form.
func (u *upgrade) addRow(t *tx, b bucket, key, value []byte) (err error) {
	switch b {
	case pushes:
		value, err = u.convertPush(t, key, value)
	case tokens:
		value, err = u.convertToken(value)
	case hooks:
		value, err = u.convertHook(key, value)
	case outbox:
		value, err = u.convertMessage(key, value)
	}
	if err != nil {
		return err
	}
	if isSchema(b, key) {
		return u.keepRow(t, b, key, value)
	}
	return u.addTagged(t, b, key, value)
}

// keepRow adds a row of the old file to the batch unchanged, except the schema.
func (u *upgrade) keepRow(t *tx, b bucket, key, value []byte) error {
	if isSchema(b, key) { // closeCopy writes it
		u.batch.remove(b, key) // the row is not there; the batch knows its progress
		return nil
	}
	return u.batch.add(t, b, key, value)
}

func isSchema(b bucket, key []byte) bool { return b == meta && string(key) == metaSchema }

// addTagged adds a row to the batch, with its tag if it has one, and to the sums.
func (u *upgrade) addTagged(t *tx, b bucket, key, value []byte) error {
	if value == nil || !hasTag(b, key) {
		return u.batch.add(t, b, key, value)
	}
	stored, s := sealRow(u.stored[:0], u.keys, b, key, value)
	u.stored = stored
	if inSums(b, key) {
		u.sums.rows[b].add(s)
	}
	return u.batch.add(t, b, key, stored)
}

// convertPush returns the record of a push in its state after the journal.
func (u *upgrade) convertPush(t *tx, key, raw []byte) ([]byte, error) {
	if len(key) != idLen {
		return nil, fmt.Errorf("%w: %s: a key of %d bytes", record.ErrCorrupt, pushes, len(key))
	}
	id := record.ID(key)
	size := int64(0)
	if k, sealed := t.seekStored(payloads, id[:]); bytes.HasPrefix(k, id[:]) {
		size = int64(len(sealed))
	}
	p, err := u.convert.ConvertPush(id, raw, size)
	if err != nil {
		return nil, err
	}
	if c, ok := u.old.counts[id]; ok && c.seq > p.Seq {
		p.Views, p.Seq, p.Minor, p.UpdatedAt = c.views, c.seq, c.minor, time.UnixMilli(c.updated).UTC()
	}
	u.rooms.add(p)
	return p.AppendBinary(nil)
}

func (u *upgrade) convertToken(raw []byte) ([]byte, error) {
	t, err := u.convert.ConvertToken(raw)
	if err != nil {
		return nil, err
	}
	return t.AppendBinary(nil)
}

func (u *upgrade) convertHook(key, raw []byte) ([]byte, error) {
	r, err := readRecord(record.Hooks.Table, hooks, key, raw)
	if err != nil {
		return nil, err
	}
	h, err := u.convert.ConvertHook(r.(record.Hook))
	if err != nil {
		return nil, err
	}
	return h.AppendBinary(nil)
}

func (u *upgrade) convertMessage(key, raw []byte) ([]byte, error) {
	m, err := readMessage(key, raw)
	if err == nil {
		m, err = u.convert.ConvertMessage(m)
	}
	if err != nil {
		return nil, err
	}
	return m.AppendBinary(nil)
}

// A journalOf5 is the journal of a file of schema 4 or 5. Its rows have counts of pushes and audit
// entries. It has some ten thousand rows at most.
type journalOf5 struct {
	counts  map[record.ID]countsOf5
	entries []entryOf5 // by key
}

// countsOf5 are the counts of a push after a row of the journal.
type countsOf5 struct {
	views      int
	seq, minor uint32
	updated    int64 // milliseconds since 1970
}

// An entryOf5 is a row of the audit log that is in the journal.
type entryOf5 struct{ key, value []byte }

// readJournal reads the journal of the old file.
func (u *upgrade) readJournal(t *tx) error {
	u.old = journalOf5{counts: make(map[record.ID]countsOf5)}
	c := t.stored(journalRows)
	rows, last := 0, uint64(0)
	for k, v := c.First(); k != nil; k, v = c.Next() {
		n, err := number(journalRows, k)
		if err != nil {
			return err
		}
		if rows++; rows > 1 && n <= last || rows > maxNumberGap {
			return fmt.Errorf("%w: %s: rows are not in order", record.ErrCorrupt, journalRows)
		}
		last = n
		if err := u.old.add(v); err != nil {
			return err
		}
	}
	slices.SortFunc(u.old.entries, func(a, b entryOf5) int { return slices.Compare(a.key, b.key) })
	return nil
}

// add adds a row: a version, the ID of the push, its counts, when it was changed, and
// the audit entry of the change. The last row of a push has its latest counts.
func (j *journalOf5) add(v []byte) error {
	malformed := fmt.Errorf("%w: %s: a row is malformed", record.ErrCorrupt, journalRows)
	if len(v) <= 1+idLen || len(v) > maxValue || v[0] != 1 {
		return malformed
	}
	id, rest := record.ID(v[1:1+idLen]), v[1+idLen:]
	var counts [3]uint64
	for i := range counts {
		c, n := binary.Uvarint(rest)
		if n <= 0 || c > math.MaxUint32 {
			return malformed
		}
		counts[i], rest = c, rest[n:]
	}
	updated, n := binary.Varint(rest)
	if n <= 0 || counts[1] == 0 {
		return malformed
	}
	c := countsOf5{int(counts[0]), uint32(counts[1]), uint32(counts[2]), updated}
	if c.seq <= j.counts[id].seq {
		return errors.Join(malformed, errors.New("its number does not follow the event before it"))
	}
	j.counts[id] = c
	j.entries = append(j.entries, entryOf5{auditKey(id, c.seq-1), slices.Clone(rest[n:])})
	return nil
}

// copyEntries copies the entries in the journal that are not in the audit log yet.
func (u *upgrade) copyEntries() error {
	for rest := u.old.entries; len(rest) > 0; {
		if err := u.interrupted(); err != nil {
			return err
		}
		u.batch.reset()
		err := u.read(func(t *tx) error {
			for ; len(rest) > 0 && !u.batch.full(u.bounds); rest = rest[1:] {
				if _, there := t.findStored(audit, rest[0].key); there {
					continue
				}
				if err := u.addTagged(t, audit, rest[0].key, rest[0].value); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		if err := u.writeBatch(); err != nil {
			return err
		}
	}
	return nil
}
