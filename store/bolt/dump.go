package bolt

import (
	"bytes"
	"context"
	"encoding"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"pushbox/internal/durable"
	"pushbox/store/record"
)

// Dump returns all records at one instant. No operation commits until the caller has read the last
// one.
func (db *DB) Dump(ctx context.Context) record.Records {
	return func(yield func(record.DumpRecord, error) bool) {
		if err := db.admit(ctx); err != nil {
			yield(record.DumpRecord{}, err)
			return
		}
		db.writing.Lock()
		defer db.writing.Unlock()
		d := dump{ctx: ctx, yield: yield}
		err := db.refusal()
		if err == nil {
			err = db.viewOnce(d.run, func() error { return nil }) // all commits are synced
		}
		if err != nil && !errors.Is(err, errEnough) {
			yield(record.DumpRecord{}, err)
		}
	}
}

// errEnough ends a dump when its caller stops.
var errEnough = errors.New("enough")

// A dump is a walk through all records.
type dump struct {
	ctx   context.Context
	tx    *tx
	yield func(record.DumpRecord, error) bool
}

func (d *dump) run(t *tx) (err error) {
	defer catchUnreadable(&err)
	d.tx = t
	parts := map[record.RecordKind]func() error{
		record.RecordRing: d.ring, record.RecordTime: d.latest, record.RecordNumbers: d.numbers, record.RecordHead: d.head,
		record.RecordPush: d.pushes, record.RecordPayload: d.payloads,
		record.RecordEntry: d.entries, record.RecordOrphan: d.rows(record.RecordOrphan, orphans), record.RecordChunk: d.chunks,
		record.RecordGrant: d.rows(record.RecordGrant, grants),
	}
	for _, of := range record.Tables() {
		parts[of.Dumped] = d.rows(of.Dumped, tables[of])
	}
	for _, kind := range slices.Sorted(maps.Keys(parts)) {
		if err := parts[kind](); err != nil {
			return err
		}
	}
	return nil
}

func (d *dump) give(kind record.RecordKind, key, value []byte) error {
	if err := d.ctx.Err(); err != nil {
		return err
	}
	d.tx.noteRead(len(key) + len(value))
	if !d.yield(record.DumpRecord{Kind: kind, Key: key, Value: value}, nil) {
		return errEnough
	}
	return nil
}

// rows dumps a bucket whose rows are records.
func (d *dump) rows(kind record.RecordKind, b bucket) func() error {
	return func() error {
		c := d.tx.cursor(b)
		for k, v := c.First(); k != nil; k, v = c.Next() {
			if err := d.give(kind, k, v); err != nil {
				return err
			}
		}
		return nil
	}
}

func (d *dump) ring() error {
	v := d.tx.keyRing()
	if v == nil {
		return nil
	}
	return d.give(record.RecordRing, nil, v)
}

func (d *dump) latest() error {
	v := d.tx.get(meta, []byte(metaLatestTime))
	if v == nil {
		return nil
	}
	return d.give(record.RecordTime, nil, v)
}

func (d *dump) numbers() error {
	n := make(record.LastNumbers)
	for _, of := range record.Numbered() {
		n[of] = d.tx.lastID(tables[of])
	}
	return d.record(record.RecordNumbers, nil, n)
}

func (d *dump) head() error {
	h, err := d.tx.eventHead()
	if err != nil {
		return err
	}
	return d.record(record.RecordHead, nil, h)
}

func (d *dump) record(kind record.RecordKind, key []byte, r encoding.BinaryAppender) error {
	v, err := r.AppendBinary(nil)
	if err != nil {
		return fmt.Errorf("encode %T: %w", r, err)
	}
	return d.give(kind, key, v)
}

// each calls fn with each push in its state after the journal.
func (d *dump) each(fn func(p record.Push) error) error {
	c := d.tx.cursor(pushes)
	for k, v := c.First(); k != nil; k, v = c.Next() {
		p, err := d.tx.decodePush(record.ID(k), v)
		if err == nil {
			err = fn(p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *dump) pushes() error {
	return d.each(func(p record.Push) error { return d.record(record.RecordPush, p.ID[:], p) })
}

func (d *dump) payloads() error {
	return d.each(func(p record.Push) error {
		if sealed := d.tx.payloadOf(p); sealed != nil {
			return d.give(record.RecordPayload, p.ID[:], sealed)
		}
		return nil
	})
}

func (d *dump) entries() error {
	return d.each(func(p record.Push) error {
		for from := uint32(0); from < p.Seq; {
			es, err := d.tx.entries(p.ID, int(from), 256)
			if err != nil {
				return err
			}
			for i, e := range es {
				if err := d.record(record.RecordEntry, auditKey(p.ID, from+uint32(i)), e); err != nil {
					return err
				}
			}
			from += uint32(len(es))
		}
		return nil
	})
}

func (d *dump) chunks() error {
	c := d.tx.cursor(chunks)
	var read []byte
	for k, v := c.First(); k != nil; k, v = c.Next() {
		if len(k) != chunkLen { // a pad
			continue
		}
		read = append(read[:0], make([]byte, len(v))...)
		if err := d.tx.copyValue(read, v); err != nil {
			return err
		}
		if err := d.give(record.RecordChunk, k, read); err != nil {
			return err
		}
	}
	return nil
}

// Load stores all records, in several commits. After an error the caller must remove the file.
func (db *DB) Load(ctx context.Context, all record.Records, last func(kept record.Records) error) error {
	empty, err := viewed(ctx, db, func(t *tx) (bool, error) {
		return t.keyRing() == nil && !t.hasPrefix(pushes, nil) && !t.hasPrefix(accounts, nil) && !t.hasPrefix(events, nil) && !t.hasPrefix(chunks, nil), nil
	})
	if err == nil && !empty {
		err = fmt.Errorf("%w: the database is not empty", record.ErrExists)
	}
	if err != nil {
		return err
	}
	next, stop := iter.Pull2(all)
	defer stop()
	for more := true; more; {
		batch, err := take(next)
		if err != nil {
			return err
		}
		if more = len(batch) > 0; more {
			if err := db.doBulk(ctx, 0, loadBytes, func(t *tx) error { return t.load(batch) }); err != nil {
				return err
			}
		}
	}
	return last(db.Dump(ctx))
}

// Bounds of one commit of a load.
const (
	loadRows  = 4096
	loadBytes = 1 << 20
)

// take returns copies of some records; none at the end. It groups consecutive chunks of a file, up
// to four, as uploads write them.
func take(next func() (record.DumpRecord, error, bool)) (batch []record.DumpRecord, err error) {
	for size := 0; len(batch) < loadRows && size < loadBytes; {
		r, err, ok := next()
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		batch = append(batch, record.DumpRecord{Kind: r.Kind, Key: bytes.Clone(r.Key), Value: bytes.Clone(r.Value)})
		size += len(r.Key) + len(r.Value) + rowWeight
	}
	return batch, nil
}

func (t *tx) load(batch []record.DumpRecord) error {
	for i := 0; i < len(batch); {
		n := 1
		var err error
		if batch[i].Kind == record.RecordChunk {
			n = together(batch[i:])
			err = t.loadChunks(batch[i : i+n])
		} else {
			err = t.loadRecord(batch[i])
		}
		if err != nil {
			return fmt.Errorf("load %s: %w", batch[i].Kind, err)
		}
		i += n
	}
	return nil
}

// together returns how many chunks, up to four, are consecutive in one file.
func together(batch []record.DumpRecord) (n int) {
	const most = 4
	for n < min(most, len(batch)) && batch[n].Kind == record.RecordChunk && len(batch[n].Key) == chunkLen {
		id, file, number := splitChunkKey(batch[n].Key)
		firstID, firstFile, first := splitChunkKey(batch[0].Key)
		if id != firstID || file != firstFile || number != first+n {
			break
		}
		n++
	}
	return max(1, n)
}

func (t *tx) loadChunks(batch []record.DumpRecord) error {
	if len(batch[0].Key) != chunkLen {
		return errMalformed
	}
	id, file, first := splitChunkKey(batch[0].Key)
	var sealed [][]byte
	var sums []byte
	for _, r := range batch {
		sealed, sums = append(sealed, r.Value), appendSum(sums, r.Value)
	}
	return t.putChunks(id, file, first, sealed, sums)
}

// errMalformed says that a record has a key that its kind cannot have.
var errMalformed = fmt.Errorf("%w: its key is malformed", record.ErrCorrupt)

func (t *tx) loadRecord(r record.DumpRecord) error {
	if of := record.TableOf(r.Kind); of != nil {
		one, err := readRecord(of, tables[of], r.Key, r.Value)
		if m, ok := one.(record.Message); ok && err == nil {
			err = t.raiseID(outbox, m.Number)
		}
		if err != nil {
			return err
		}
		return t.tables().Put(of, one)
	}
	if len(r.Key) != loadKeys[r.Kind] {
		return errMalformed
	}
	switch r.Kind {
	case record.RecordRing:
		return t.put(meta, []byte(metaKeyRing), r.Value)
	case record.RecordTime:
		return t.put(meta, []byte(metaLatestTime), r.Value)
	case record.RecordNumbers:
		return t.loadNumbers(r.Value)
	case record.RecordHead:
		return t.put(meta, []byte(metaEvents), r.Value)
	case record.RecordPush:
		return t.loadPush(r)
	case record.RecordPayload:
		return t.put(payloads, payloadKey(record.ID(r.Key), r.Value), r.Value)
	case record.RecordGrant:
		g := record.Grant{Digest: record.GrantDigest(r.Key)}
		if err := decode(&g, grants, r.Value); err != nil {
			return err
		}
		return t.putGrant(g)
	default:
		return t.put(loadBuckets[r.Kind], r.Key, r.Value)
	}
}

// loadKeys are the lengths of keys, for kinds with a fixed length. loadBuckets are the buckets of
// records without index rows.
var (
	loadKeys = map[record.RecordKind]int{
		record.RecordPush: idLen, record.RecordPayload: idLen, record.RecordEntry: auditLen, record.RecordOrphan: idLen,
		record.RecordGrant: digestLen,
	}
	loadBuckets = map[record.RecordKind]bucket{record.RecordEntry: audit, record.RecordOrphan: orphans}
)

func (t *tx) loadNumbers(v []byte) error {
	var n record.LastNumbers
	if err := n.UnmarshalBinary(v); err != nil {
		return fmt.Errorf("%w: %w", record.ErrCorrupt, err)
	}
	for _, of := range record.Numbered() {
		if err := t.raiseID(tables[of], n[of]); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) loadPush(r record.DumpRecord) error {
	p := record.Push{ID: record.ID(r.Key)}
	if err := decode(&p, pushes, r.Value); err != nil {
		return err
	}
	if err := t.putPush(nil, p, r.Value); err != nil {
		return err
	}
	return t.countRoom(p, record.Room{}, p.Room())
}

// OpenCopy makes an empty database beside path, under a temporary name that
// durable.RemoveLeftovers finds, for a copy of another engine. The caller unlocks it,
// closes it, and removes the file.
func OpenCopy(path string) (db *DB, temp string, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), durable.TempPattern(path))
	if err != nil {
		return nil, "", err
	}
	if err := writeEmpty(f); err != nil {
		return nil, "", errors.Join(err, os.Remove(f.Name()))
	}
	return (&DB{path: f.Name()}).Reopen()
}

// Reopen opens the file of OpenCopy again, after Close.
func (db *DB) Reopen() (again *DB, temp string, err error) {
	if again, err = open(Options{Path: db.path}); err != nil {
		return nil, "", errors.Join(err, durable.Scrub(db.path))
	}
	again.start()
	return again, db.path, nil
}
