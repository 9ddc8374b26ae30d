package main

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"time"

	"go.etcd.io/bbolt"
)

// The buckets that a create and a view write to: see store/bolt.
const (
	pushesBucket   = "pushes"   // ID → record; a create
	payloadsBucket = "payloads" // ID, digest → payload; a create
	auditBucket    = "audit"    // ID, number → entry; a create
	expiryBucket   = "expiry"   // queue, time, ID → nothing; a create
	journalBucket  = "journal"  // number → ID, counts, entry; a view

	idLen     = 22      // 6 bytes of time, the rest random
	countsLen = 12      // a version, and the counts that a view changes
	rowsAfter = 1 << 40 // greater than the number of any row of the journal
)

// A bareFile is a copy of a pushbox database. Its rows are written with bbolt alone, and
// as many and as long as those of a create and a view; their content has no meaning.
type bareFile struct {
	db    *bbolt.DB
	ids   [][]byte // of the pushes in the copy
	views uint64   // number of rows written

	record, payload []byte // of the newest push
	digest          []byte // of the payload; all have the same length
	entry           []byte // of the audit log: entries of creates and views are equally long
	expiry          []byte // the last key
	opened          time.Time
}

var errShape = errors.New("the database does not have the expected layout: compare bolt_file.go with store/bolt")

// openBareFile opens the copy and reads an example of each row.
func openBareFile(path string) (*bareFile, error) {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: time.Second, FreelistType: bbolt.FreelistMapType, InitialMmapSize: 1 << 30})
	if err != nil {
		return nil, err
	}
	f := &bareFile{db: db, opened: time.Now()}
	if err := db.View(f.read); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return f, nil
}

func (f *bareFile) close() error { return f.db.Close() }

// read finds an example of each row.
func (f *bareFile) read(tx *bbolt.Tx) error {
	for _, name := range []string{pushesBucket, payloadsBucket, auditBucket, expiryBucket, journalBucket} {
		if tx.Bucket([]byte(name)) == nil {
			return fmt.Errorf("%w: there is no bucket %s", errShape, name)
		}
	}
	pushes := tx.Bucket([]byte(pushesBucket)).Cursor()
	for k, v := pushes.First(); k != nil; k, v = pushes.Next() {
		f.ids, f.record = append(f.ids, bytes.Clone(k)), v
	}
	f.digest, f.payload = tx.Bucket([]byte(payloadsBucket)).Cursor().Last()
	f.expiry, _ = tx.Bucket([]byte(expiryBucket)).Cursor().Last()
	_, f.entry = tx.Bucket([]byte(auditBucket)).Cursor().Last()
	if len(f.ids) == 0 || len(f.ids[0]) != idLen || len(f.digest) < idLen || len(f.payload) == 0 || len(f.entry) == 0 || len(f.expiry) != 1+8+idLen {
		return fmt.Errorf("%w: a row is missing or has another length", errShape)
	}
	f.digest = f.digest[idLen:]
	for _, row := range []*[]byte{&f.record, &f.digest, &f.payload, &f.entry, &f.expiry} {
		*row = bytes.Clone(*row) // they belong to the transaction
	}
	return nil
}

// create commits the rows of a new push.
func (f *bareFile) create() error {
	now := time.Now()
	id := make([]byte, 8, idLen)
	binary.BigEndian.PutUint64(id, uint64(now.UnixMilli()))
	id = append(id[2:], make([]byte, idLen-6)...)
	_, _ = rand.Read(id[6:]) // never fails
	expiry := bytes.Clone(f.expiry)
	due := binary.BigEndian.Uint64(expiry[1:]) + uint64(now.Sub(f.opened).Milliseconds())
	binary.BigEndian.PutUint64(expiry[1:], due)
	copy(expiry[1+8:], id)
	return f.db.Update(func(tx *bbolt.Tx) error {
		return errors.Join(
			put(tx, pushesBucket, id, f.record),
			put(tx, payloadsBucket, append(bytes.Clone(id), f.digest...), f.payload),
			put(tx, auditBucket, auditKey(id, 0), f.entry),
			put(tx, expiryBucket, expiry, nil))
	})
}

// view commits the row of a view of a random push.
func (f *bareFile) view() error {
	row := append(bytes.Clone(f.ids[mathrand.IntN(len(f.ids))]), make([]byte, countsLen)...)
	f.views++
	return f.db.Update(func(tx *bbolt.Tx) error {
		return put(tx, journalBucket, binary.BigEndian.AppendUint64(nil, rowsAfter+f.views), append(row, f.entry...))
	})
}

func auditKey(id []byte, number uint32) []byte {
	return binary.BigEndian.AppendUint32(append(make([]byte, 0, idLen+4), id...), number)
}

func put(tx *bbolt.Tx, bucket string, key, value []byte) error {
	return tx.Bucket([]byte(bucket)).Put(key, value)
}
