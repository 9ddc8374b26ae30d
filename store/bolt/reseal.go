package bolt

import (
	"bytes"
	"context"
	"encoding"
	"encoding/binary"
	"fmt"

	"pushbox/store/record"
)

// A step of Reseal takes a few milliseconds, as long as other operations wait for it.
const (
	resealRows  = 1024
	resealBytes = 256 << 10
)

// Reseal rewrites every record that r reseals, or whose tag is not under the newest key, in steps
// between which other operations run. It returns how many rows it wrote. It calls progress with
// bytes read; the total is not known.
//
// Operations meanwhile must seal under the newest keys: then nothing is left under older ones when
// Reseal returns nil. Rows of the journal come first, since folding moves their entries to the
// audit log.
func (db *DB) Reseal(ctx context.Context, r record.Resealer, progress func(done, total int64)) (changed int64, err error) {
	done := int64(0)
	for _, b := range resealOrder() {
		for s := (resealStep{bucket: b, resealer: r}); !s.ended; {
			if err := db.doBulk(ctx, 0, resealBytes, s.run); err != nil {
				return changed, fmt.Errorf("seal %s anew: %w", b, err)
			}
			s.last, changed, done = s.next, changed+s.changed, done+s.read
			progress(done, 0)
		}
	}
	return changed, nil
}

// resealOrder lists the buckets that Reseal goes through.
func resealOrder() []bucket {
	order := []bucket{journalRows}
	for b := range bucketCount {
		if b != journalRows && (tagged[b] || sealedKeys[b] != 0) {
			order = append(order, b)
		}
	}
	return order
}

// A resealStep reseals some rows of a bucket.
type resealStep struct {
	bucket   bucket
	resealer record.Resealer
	last     []byte // the key after which it begins; nil: at the first

	// Results of the run that counts:
	next    []byte // the key of the last row that it read
	ended   bool   // there are no more rows
	read    int64  // bytes
	changed int64  // rows
}

// run reads rows until the step is full, and then writes those that change.
func (s *resealStep) run(t *tx) error {
	s.next, s.ended, s.read, s.changed = s.last, false, 0, 0
	type row struct{ key, value []byte }
	var rows []row
	c := t.stored(s.bucket)
	k, stored := c.First()
	if s.last != nil {
		k, stored = c.Seek(append(bytes.Clone(s.last), 0))
	}
	for n := 0; n < resealRows && s.read < resealBytes; n++ {
		if k == nil {
			s.ended = true
			break
		}
		value, changed, err := t.reseal(s.resealer, s.bucket, k, stored)
		if err != nil {
			return err
		}
		key, err := cloneKey(s.bucket, k)
		if err != nil {
			return err
		}
		if changed {
			rows = append(rows, row{key, value})
		}
		s.next = key
		s.read += int64(len(k) + len(stored))
		k, stored = c.Next()
	}
	for _, r := range rows {
		if err := t.put(s.bucket, r.key, r.value); err != nil {
			return err
		}
	}
	s.changed = int64(len(rows))
	return nil
}

// reseal returns the resealed value of a row, in memory of the transaction, and whether the row
// must be rewritten.
func (t *tx) reseal(r record.Resealer, b bucket, key, stored []byte) (value []byte, changed bool, err error) {
	if sealedKeys[b] == 0 && !inSums(b, key) { // it has no tag, or each commit rewrites it
		return nil, false, nil
	}
	old := t.value(b, key, stored)
	start := len(t.arena)
	switch raw, err := t.resealed(r, b, key, old); {
	case err != nil:
		return nil, false, err
	case raw == nil:
		t.arena = append(t.arena, old...) // the value is in a page that may change
	default:
		if t.arena, err = raw.AppendBinary(t.arena); err != nil {
			return nil, false, fmt.Errorf("encode %T: %w", raw, err)
		}
	}
	value = t.arena[start:len(t.arena):len(t.arena)]
	if bytes.Equal(value, old) && t.taggedNow(b, key, stored) {
		t.arena = t.arena[:start]
		return nil, false, nil
	}
	return value, true, nil
}

// resealed returns the resealed record of a row; nil if records of the bucket contain nothing to
// reseal.
func (t *tx) resealed(r record.Resealer, b bucket, key, value []byte) (encoding.BinaryAppender, error) {
	if n := sealedKeys[b]; n != 0 && len(key) != n {
		return nil, fmt.Errorf("%w: %s: a key of %d bytes", record.ErrCorrupt, b, len(key))
	}
	switch b {
	case pushes:
		p := record.Push{ID: record.ID(key)}
		if err := decode(&p, b, value); err != nil {
			return nil, err
		}
		over, err := t.overlay.ended(p.ID)
		if err != nil {
			return nil, err
		}
		wrap, link := p.Wrap, p.Link
		if over { // ended in the journal: its keys may have been dropped
			p.Wrap, p.Link = nil, nil
		}
		if p, err = r.ResealPush(p); over { // folding removes them
			p.Wrap, p.Link = wrap, link
		}
		return p, err
	case audit:
		var e record.Entry
		if err := decode(&e, b, value); err != nil {
			return nil, err
		}
		return r.ResealEntry(record.ID(key[:idLen]), e)
	case journalRows:
		return t.resealedJournal(r, value)
	default:
		of := tableIn(b)
		if of == nil {
			return nil, nil
		}
		one, err := readRecord(of, b, key, value)
		if err != nil {
			return nil, err
		}
		return r.ResealRecord(one)
	}
}

// tableIn returns the table whose rows are in a bucket; nil: none.
func tableIn(b bucket) *record.Table {
	for of, in := range tables {
		if in == b {
			return of
		}
	}
	return nil
}

// sealedKeys are the lengths of the keys of records with sealed parts.
var sealedKeys = [mostBuckets]int{pushes: idLen, audit: auditLen}

// resealedJournal returns a row of the journal with its entry, if it has one, resealed.
func (t *tx) resealedJournal(r record.Resealer, value []byte) (encoding.BinaryAppender, error) {
	var row journalRow
	if err := decode(&row, journalRows, value); err != nil || len(row.entry) == 0 {
		return nil, err
	}
	var e record.Entry
	if err := decode(&e, journalRows, row.entry); err != nil {
		return nil, err
	}
	e, err := r.ResealEntry(row.id, e)
	if err != nil {
		return nil, err
	}
	row.entry, err = e.AppendBinary(nil)
	return &row, err
}

// taggedNow reports whether a verified row needs no tag or has one under the newest key.
func (t *tx) taggedNow(b bucket, key, stored []byte) bool {
	return !hasTag(b, key) || binary.BigEndian.Uint16(stored[len(stored)-tagLen:]) == t.unlocked().RowVersion()
}
