package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"pushbox/store/record"
)

// addRow adds a row of the old file to the batch, in the form that it has now.
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

// keepRow adds a row of the old file to the batch as it is, but for the schema.
func (u *upgrade) keepRow(t *tx, b bucket, key, value []byte) error {
	if isSchema(b, key) { // closeCopy writes it
		u.batch.remove(b, key) // which is not there; the batch knows how far it has come
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

// convertPush returns the record of a push, with what the journal has of it.
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

// A journalOf5 is the journal of a file of schema 4 or 5. Its rows give counts of pushes
// and audit entries. It has some ten thousand rows at most.
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
		return errors.Join(malformed, errors.New("it does not follow the one before"))
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

// errUnlocked is the mistake of a caller that unlocks twice.
var errUnlocked = errors.New("the database was unlocked before")

// Unlock gives the DB the keys of its rows, once, and begins its work. If an older
// version of pushbox wrote the file, Unlock writes it anew in the present schema, with
// c, and keeps the old one beside it; without c it refuses such a file. Then the file has its name at any moment, whole and
// of one of the two schemas.
//
// The error wraps record.ErrCorrupt if the rows are not those that the keys are for, or
// cannot be converted; record.ErrFull if there is no space for the new file. After an error
// nothing has changed, unless the DB has failed, and Unlock may be called again.
func (db *DB) Unlock(ctx context.Context, keys record.RowKeys, c record.Converter) error {
	db.unlocking.Lock()
	defer db.unlocking.Unlock()
	if err := db.alive(ctx); err != nil {
		return err
	}
	if db.unlocked.Load() {
		return errUnlocked
	}
	db.keys.Store(&keys)
	if err := db.load(ctx, c); err != nil {
		db.keys.Store(nil)
		return fmt.Errorf("%s: %w", db.path, err)
	}
	go db.commitLoop()
	db.unlocked.Store(true)
	if db.noErase {
		close(db.erased)
	} else {
		go db.eraseLoop()
	}
	return nil
}

// load brings the file to the present schema, and reads the journal.
func (db *DB) load(ctx context.Context, c record.Converter) error {
	if found := db.found; found != schemaNumber {
		if c == nil && found < taggedSchema {
			return fmt.Errorf("%w: it says that it has schema %d, and its key ring is not of that time", record.ErrCorrupt, found)
		}
		if err := newUpgrade(ctx, db, c).run(); err != nil {
			return fmt.Errorf("upgrade from schema %d to %d: %w", found, schemaNumber, err)
		}
	}
	h := db.current.Load()
	err := h.read(db.journal.load)
	if h.noteDamage(err) {
		return db.fail(err)
	}
	return err
}

const (
	// oldestSchema is the oldest layout that can be upgraded.
	oldestSchema = 4
	// taggedSchema is the oldest layout whose rows are as they are now: an upgrade copies them.
	taggedSchema = 6
	// sharedSchema is the number that builds between two releases gave to several layouts,
	// each with more buckets than the one before. The last of them is that of schema 7.
	sharedSchema = 6
)

// madeIn has the schemas in which buckets were added since the oldest one.
var madeIn = map[bucket]uint32{outbox: 5, hooks: 5, quotas: 5, requests: 6, requestOwners: 6, identities: 6, room: 6, events: 6}

// readSchema returns the schema of a file, or record.ErrSchema where that cannot be
// upgraded.
func readSchema(b *bbolt.Tx) (uint32, error) {
	m := b.Bucket(bucketNames[meta])
	if m == nil {
		return 0, fmt.Errorf("%w: it has no schema number", record.ErrSchema)
	}
	v := m.Get([]byte(metaSchema))
	if len(v) != 4 {
		return 0, fmt.Errorf("%w: its schema number is malformed", record.ErrSchema)
	}
	n := binary.BigEndian.Uint32(v)
	switch {
	case n > schemaNumber:
		return 0, fmt.Errorf("%w: its schema number is %d, this version knows %d and none after it", record.ErrSchema, n, schemaNumber)
	case n < oldestSchema:
		return 0, fmt.Errorf("%w: its schema number is %d, this version knows %d and can come from %d at the earliest; a version in between has to open it first",
			record.ErrSchema, n, schemaNumber, oldestSchema)
	}
	return n, nil
}

// wantBuckets refuses a file that lacks a bucket of its schema.
func wantBuckets(b *bbolt.Tx, schema uint32) error {
	for n, name := range bucketNames {
		switch made := madeIn[bucket(n)]; {
		case made > schema || b.Bucket(name) != nil:
		case made == sharedSchema && schema == sharedSchema:
			return fmt.Errorf("%w: its schema number is %d, but it has no %s, as builds between two releases left it", record.ErrSchema, schema, name)
		default:
			return fmt.Errorf("%w: bucket %s is missing", record.ErrCorrupt, name)
		}
	}
	return nil
}
