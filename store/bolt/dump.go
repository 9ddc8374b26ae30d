package bolt

import (
	"bytes"
	"context"
	"encoding"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"

	"pushbox/internal/durable"
	"pushbox/store"
)

// Dump returns all records as they are at one instant. No operation commits until the
// caller has taken the last of them.
func (db *DB) Dump(ctx context.Context) store.Records {
	return func(yield func(store.DumpRecord, error) bool) {
		if err := db.admit(ctx); err != nil {
			yield(store.DumpRecord{}, err)
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
			yield(store.DumpRecord{}, err)
		}
	}
}

// errEnough ends a dump whose caller wants no more.
var errEnough = errors.New("enough")

// A dump is a walk through all records.
type dump struct {
	ctx   context.Context
	tx    *tx
	yield func(store.DumpRecord, error) bool
}

func (d *dump) run(t *tx) (err error) {
	defer catchUnreadable(&err)
	d.tx = t
	for _, part := range []func() error{
		d.ring, d.latest, d.numbers, d.head,
		d.rows(store.RecordAccount, accounts), d.rows(store.RecordSession, sessions), d.rows(store.RecordToken, tokens),
		d.rows(store.RecordHook, hooks), d.rows(store.RecordRequest, requests), d.rows(store.RecordQuota, quotas), d.rows(store.RecordEvent, events),
		d.pushes, d.payloads, d.entries, d.rows(store.RecordOrphan, orphans), d.chunks,
		d.rows(store.RecordGrant, grants), d.rows(store.RecordMessage, outbox),
	} {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

func (d *dump) give(kind store.RecordKind, key, value []byte) error {
	if err := d.ctx.Err(); err != nil {
		return err
	}
	d.tx.noteRead(len(key) + len(value))
	if !d.yield(store.DumpRecord{Kind: kind, Key: key, Value: value}, nil) {
		return errEnough
	}
	return nil
}

// rows gives a bucket as it is.
func (d *dump) rows(kind store.RecordKind, b bucket) func() error {
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
	return d.give(store.RecordRing, nil, v)
}

func (d *dump) latest() error {
	v := d.tx.get(meta, []byte(metaLatestTime))
	if v == nil {
		return nil
	}
	return d.give(store.RecordTime, nil, v)
}

func (d *dump) numbers() error {
	n := store.LastNumbers{Account: d.tx.lastID(accounts), Session: d.tx.lastID(sessions), Token: d.tx.lastID(tokens), Hook: d.tx.lastID(hooks)}
	return d.record(store.RecordNumbers, nil, n)
}

func (d *dump) head() error {
	h, err := d.tx.eventHead()
	if err != nil {
		return err
	}
	return d.record(store.RecordHead, nil, h)
}

func (d *dump) record(kind store.RecordKind, key []byte, r encoding.BinaryAppender) error {
	v, err := r.AppendBinary(nil)
	if err != nil {
		return fmt.Errorf("encode %T: %w", r, err)
	}
	return d.give(kind, key, v)
}

// each calls fn with each push, with what the journal has of it.
func (d *dump) each(fn func(p store.Push) error) error {
	c := d.tx.cursor(pushes)
	for k, v := c.First(); k != nil; k, v = c.Next() {
		p, err := d.tx.decodePush(store.ID(k), v)
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
	return d.each(func(p store.Push) error { return d.record(store.RecordPush, p.ID[:], p) })
}

func (d *dump) payloads() error {
	return d.each(func(p store.Push) error {
		if sealed := d.tx.payloadOf(p); sealed != nil {
			return d.give(store.RecordPayload, p.ID[:], sealed)
		}
		return nil
	})
}

func (d *dump) entries() error {
	return d.each(func(p store.Push) error {
		for from := uint32(0); from < p.Seq; {
			es, err := d.tx.entries(p.ID, int(from), 256)
			if err != nil {
				return err
			}
			for i, e := range es {
				if err := d.record(store.RecordEntry, auditKey(p.ID, from+uint32(i)), e); err != nil {
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
		if err := d.give(store.RecordChunk, k, read); err != nil {
			return err
		}
	}
	return nil
}

// Load keeps all records, in several commits. After an error the file must be removed.
func (db *DB) Load(ctx context.Context, all store.Records, last func(kept store.Records) error) error {
	empty, err := viewed(ctx, db, func(t *tx) (bool, error) {
		return t.keyRing() == nil && !t.hasPrefix(pushes, nil) && !t.hasPrefix(accounts, nil) && !t.hasPrefix(events, nil) && !t.hasPrefix(chunks, nil), nil
	})
	if err == nil && !empty {
		err = fmt.Errorf("%w: the database is not empty", store.ErrExists)
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

// take returns copies of some records; none at the end. Chunks that follow each other in a
// file stay together, four at a time, as uploads write them.
func take(next func() (store.DumpRecord, error, bool)) (batch []store.DumpRecord, err error) {
	for size := 0; len(batch) < loadRows && size < loadBytes; {
		r, err, ok := next()
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		batch = append(batch, store.DumpRecord{Kind: r.Kind, Key: bytes.Clone(r.Key), Value: bytes.Clone(r.Value)})
		size += len(r.Key) + len(r.Value) + rowWeight
	}
	return batch, nil
}

func (t *tx) load(batch []store.DumpRecord) error {
	for i := 0; i < len(batch); {
		n := 1
		var err error
		if batch[i].Kind == store.RecordChunk {
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

// together is how many chunks, up to four, follow each other in one file.
func together(batch []store.DumpRecord) (n int) {
	const most = 4
	for n < min(most, len(batch)) && batch[n].Kind == store.RecordChunk && len(batch[n].Key) == chunkLen {
		id, file, number := splitChunkKey(batch[n].Key)
		firstID, firstFile, first := splitChunkKey(batch[0].Key)
		if id != firstID || file != firstFile || number != first+n {
			break
		}
		n++
	}
	return max(1, n)
}

func (t *tx) loadChunks(batch []store.DumpRecord) error {
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

// errMalformed says that a record has another key than records of its kind.
var errMalformed = fmt.Errorf("%w: its key is malformed", store.ErrCorrupt)

func (t *tx) loadRecord(r store.DumpRecord) error {
	fits := len(r.Key) == loadKeys[r.Kind]
	if r.Kind == store.RecordQuota {
		_, fits = store.QuotaOfKey(r.Key)
	}
	if !fits {
		return errMalformed
	}
	switch r.Kind {
	case store.RecordRing:
		return t.put(meta, []byte(metaKeyRing), r.Value)
	case store.RecordTime:
		return t.put(meta, []byte(metaLatestTime), r.Value)
	case store.RecordNumbers:
		return t.loadNumbers(r.Value)
	case store.RecordHead:
		return t.put(meta, []byte(metaEvents), r.Value)
	case store.RecordAccount:
		var a store.Account
		if err := decode(&a, accounts, r.Value); err != nil {
			return err
		}
		if err := t.put(emails, []byte(a.Email), bytes.Clone(r.Key)); err != nil {
			return err
		}
		if err := t.putIdentities("", a); err != nil {
			return err
		}
		return t.put(accounts, r.Key, r.Value)
	case store.RecordSession:
		return t.loadSession(r)
	case store.RecordToken:
		return t.loadToken(r)
	case store.RecordRequest:
		q := store.Request{ID: store.RequestID(r.Key)}
		if err := decode(&q, requests, r.Value); err != nil {
			return err
		}
		return t.putRequest(nil, q)
	case store.RecordPush:
		return t.loadPush(r)
	case store.RecordPayload:
		return t.put(payloads, payloadKey(store.ID(r.Key), r.Value), r.Value)
	case store.RecordGrant:
		g := store.Grant{Digest: store.GrantDigest(r.Key)}
		if err := decode(&g, grants, r.Value); err != nil {
			return err
		}
		return t.putGrant(g)
	case store.RecordMessage:
		if err := t.raiseID(outbox, binary.BigEndian.Uint64(r.Key[8:])); err != nil {
			return err
		}
		return t.put(outbox, r.Key, r.Value)
	default:
		return t.put(loadBuckets[r.Kind], r.Key, r.Value)
	}
}

// loadKeys are the lengths of keys, where all have the same, and loadBuckets where records
// go that have no index rows.
var (
	loadKeys = map[store.RecordKind]int{
		store.RecordAccount: 8, store.RecordSession: digestLen, store.RecordToken: digestLen, store.RecordHook: hookLen, store.RecordRequest: idLen,
		store.RecordEvent: 8, store.RecordPush: idLen, store.RecordPayload: idLen, store.RecordEntry: auditLen, store.RecordOrphan: idLen,
		store.RecordGrant: digestLen, store.RecordMessage: messageLen,
	}
	loadBuckets = map[store.RecordKind]bucket{
		store.RecordHook: hooks, store.RecordQuota: quotas, store.RecordEvent: events, store.RecordEntry: audit, store.RecordOrphan: orphans,
	}
)

func (t *tx) loadNumbers(v []byte) error {
	var n store.LastNumbers
	if err := n.UnmarshalBinary(v); err != nil {
		return fmt.Errorf("%w: %w", store.ErrCorrupt, err)
	}
	for b, last := range map[bucket]uint64{accounts: n.Account, sessions: n.Session, tokens: n.Token, hooks: n.Hook} {
		if err := t.raiseID(b, last); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) loadSession(r store.DumpRecord) error {
	s := store.Session{Digest: store.SessionDigest(r.Key)}
	if err := decode(&s, sessions, r.Value); err != nil {
		return err
	}
	if err := t.put(sessionOwners, sessionOwnerKey(s.Owner, s.ID), r.Key); err != nil {
		return err
	}
	return t.put(sessions, r.Key, r.Value)
}

func (t *tx) loadToken(r store.DumpRecord) error {
	var a store.APIToken
	if err := decode(&a, tokens, r.Value); err != nil {
		return err
	}
	if err := t.put(tokenIDs, uint64Key(uint64(a.ID)), r.Key); err != nil {
		return err
	}
	if err := t.put(tokenOwners, tokenOwnerKey(a.Owner, a.ID), r.Key); err != nil {
		return err
	}
	return t.put(tokens, r.Key, r.Value)
}

func (t *tx) loadPush(r store.DumpRecord) error {
	p := store.Push{ID: store.ID(r.Key)}
	if err := decode(&p, pushes, r.Value); err != nil {
		return err
	}
	if err := t.putPush(nil, p, r.Value); err != nil {
		return err
	}
	t.countLive(nil, expiryRow(p))
	return t.countRoom(p, store.Room{}, p.Room())
}

// OpenCopy makes an empty database beside path, under a temporary name that
// durable.RemoveLeftovers finds, for a copy of another engine. The caller unlocks it,
// closes it, and removes the file.
func OpenCopy(path string) (db *DB, temp string, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), durable.TempPattern(path))
	if err != nil {
		return nil, "", err
	}
	temp = f.Name()
	if err := errors.Join(f.Close(), writeEmpty(temp), syncPath(temp)); err != nil {
		return nil, "", errors.Join(err, os.Remove(temp))
	}
	return Reopen(temp)
}

// Reopen opens a file that OpenCopy made.
func Reopen(temp string) (db *DB, _ string, err error) {
	if db, err = open(Options{Path: temp}); err != nil {
		return nil, "", errors.Join(err, durable.Scrub(temp))
	}
	db.start()
	return db, temp, nil
}
