package bolt

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"pushbox/internal/humanize"
	"pushbox/store/bolt/page"
	"pushbox/store/record"
)

// upgradeReports is the time between two progress reports of an upgrade.
const upgradeReports = 10 * time.Second

// An upgrade replaces a file of an older schema by a converted copy. It uses the code of a
// compaction, but nothing else runs meanwhile. It holds the lock of the old file throughout.
type upgrade struct {
	*compaction
	schema  uint32 // of the old file
	convert record.Converter
	keys    record.RowKeys
	old     journalOf5
	sums    sums
	rooms   rooms  // that pushes take
	stored  []byte // buffer for a row with its tag

	link       func(from, to string) error
	setTime    func(path string, read, changed time.Time) error
	closeFirst bool // this system cannot rename an open file
}

func newUpgrade(ctx context.Context, db *DB, convert record.Converter) *upgrade {
	u := &upgrade{schema: db.found, convert: convert, keys: *db.keys.Load(), rooms: make(rooms), link: os.Link, setTime: os.Chtimes, closeFirst: runtime.GOOS == "windows"}
	u.compaction = newCompaction(ctx, db, progressNotes(db.note, upgradeReports))
	u.from = db.current.Load()
	u.add = u.addRow
	if u.schema >= taggedSchema {
		u.add = u.keepRow
	}
	u.bounds.rows, u.bounds.unsynced = 4*u.bounds.rows, 8*u.bounds.unsynced // no commit competes for the disk
	return u
}

// progressNotes returns a function that reports progress at most once in upgradeReports.
func progressNotes(note func(string), every time.Duration) func(done, total int64) {
	last := time.Now()
	return func(done, total int64) {
		if now := time.Now(); now.Sub(last) >= every && total > 0 {
			last = now
			note(fmt.Sprintf("upgrading the database: %s of at most %s are written", humanize.Size(done), humanize.Size(total)))
		}
	}
}

// run makes the converted copy and gives it the name of the file. If it is interrupted before, the
// copy is a leftover, and the next upgrade starts again.
func (u *upgrade) run() (err error) {
	kept, there, err := u.nameOld()
	if err == nil {
		err = u.measureUpgrade()
	}
	if err != nil {
		return err
	}
	u.db.note(fmt.Sprintf("upgrading the database from schema %d to %d: rewriting it, %s", u.schema, schemaNumber, humanize.Size(u.total)))
	if err := u.create(); err != nil {
		return u.explain(err)
	}
	defer func() {
		if !u.kept {
			err = errors.Join(err, u.discard())
		}
	}()
	err = u.copyAll()
	if err == nil && !there {
		err = u.keepOld(kept)
	}
	if err == nil {
		err = u.swap(kept)
	}
	if err != nil {
		return u.explain(err)
	}
	u.db.note(fmt.Sprintf("upgraded the database from schema %d to %d; the old one is kept in %s; the server removes it after %d days, or remove it yourself once you are sure that you will not go back",
		u.schema, schemaNumber, kept, record.CopiesStay/(24*time.Hour)))
	return nil
}

// upgradeGrowth is the fraction by which the copy may exceed the used size of the file, because
// rows get tags.
const upgradeGrowth = 4

// measureUpgrade refuses to begin without space for the copy.
func (u *upgrade) measureUpgrade() error {
	if err := u.measure(); err != nil {
		return err
	}
	return u.wantFree(upgradeRoom(u.total))
}

// upgradeRoom is how many bytes the copy of a file with used bytes may need.
func upgradeRoom(used int64) int64 { return used + used/upgradeGrowth }

// copyAll makes the copy complete, verified, and durable.
func (u *upgrade) copyAll() error {
	u.batch = newBatch(u.bounds.batch)
	if u.schema < taggedSchema {
		if err := u.read(u.readJournal); err != nil {
			return err
		}
	}
	for u.at.bucket < bucketCount {
		if err := u.copyBucket(); err != nil {
			return err
		}
		u.at = position{bucket: u.at.bucket + 1}
	}
	if err := u.read(u.closeCopy); err != nil {
		return err
	}
	if err := u.to.file.Sync(); err != nil {
		return fmt.Errorf("sync the copy: %w", err)
	}
	err := u.to.read(func(t *tx) (err error) {
		defer t.dropMapped()
		u.to.verified, err = page.Verify(t.bolt, false)
		return err
	})
	if err != nil {
		return u.damage(u.to, err)
	}
	return u.interrupted()
}

// copyBucket copies a bucket of the old file, if that has it. It appends the entries in an older
// journal to the audit log; the records of pushes already have the rest of the journal.
func (u *upgrade) copyBucket() error {
	b := u.at.bucket
	if b == journalRows && u.schema < taggedSchema || madeIn[b] > u.schema {
		return nil
	}
	for more := true; more; {
		var err error
		if more, err = u.copySome(); err != nil {
			return err
		}
	}
	if b == audit {
		return u.copyEntries()
	}
	return nil
}

// closeCopy copies the sequences of the buckets, and writes the sums and the schema, which need the
// complete copy.
func (u *upgrade) closeCopy(from *tx) error {
	u.batch.reset()
	err := u.to.write(func(to *tx) error {
		for b := range bucketCount {
			if madeIn[b] > u.schema {
				continue
			}
			u.sums.last[b] = from.bucket(b).Sequence()
			if err := to.bucket(b).SetSequence(u.sums.last[b]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if u.schema < taggedSchema {
		err = u.addSums(from)
	}
	if err == nil {
		err = u.batch.add(from, meta, []byte(metaSchema), binary.BigEndian.AppendUint32(nil, schemaNumber))
	}
	if err != nil {
		return err
	}
	return u.writeBatch()
}

// addSums adds the room of pushes, and the sums of all rows.
func (u *upgrade) addSums(from *tx) error {
	for key, takes := range u.rooms {
		if err := u.addTagged(from, room, []byte(key), roomValue(takes)); err != nil {
			return err
		}
	}
	value, err := u.sums.AppendBinary(nil)
	if err != nil {
		return err
	}
	return u.addTagged(from, meta, []byte(metaSums), value)
}

// swap gives the name of the old file to the copy. The old file then has the name kept
// alone.
func (u *upgrade) swap(kept string) error {
	if named, err := u.from.isNamed(u.path); err != nil || !named {
		return errors.Join(errors.New("the database is no longer there under its name"), err)
	}
	if u.closeFirst {
		if err := errors.Join(u.to.close(), u.from.close()); err != nil {
			return u.db.fail(err)
		}
	}
	replaced, err := u.replace(u.temp, u.path)
	if err != nil {
		err = fmt.Errorf("replace the database: %w", err)
		if replaced || u.closeFirst {
			return u.db.fail(err)
		}
		return err
	}
	u.kept = true
	if u.closeFirst { // another process may have opened either file in between
		to, err := openNamed(u.path, defaultTimeout)
		if err != nil {
			return u.db.fail(err)
		}
		u.to, to.keys = to, &u.db.keys
	}
	u.to.bolt.NoSync, u.to.bolt.NoGrowSync = false, false
	u.db.found = schemaNumber
	u.db.current.Store(u.to)
	_ = u.from.closeAfter((*handle).scrub)                       // the old file was only read; if an earlier upgrade kept the same bytes, it has no name now
	if dir, err := os.OpenRoot(filepath.Dir(kept)); err == nil { // a link to a file elsewhere is not followed
		_ = dir.Chmod(filepath.Base(kept), 0o600) // otherwise it keeps the mode of the database
		_ = dir.Close()
	}
	return nil
}

// An Upgrade describes what Unlock will do to a file of an older schema.
type Upgrade struct {
	From, To uint32 // schemas
	Room     int64  // bytes that it needs free on the file system
}

// FindUpgrade returns the pending upgrade of a database that is not in use; nil if it has the
// present schema. It writes nothing. The error wraps record.ErrInUse, record.ErrCorrupt,
// record.ErrSchema if it cannot be upgraded, or fs.ErrNotExist.
func FindUpgrade(path string, timeout time.Duration) (u *Upgrade, err error) {
	o := bbolt.Options{Timeout: timeout, PreLoadFreelist: true} // which says how much is in use
	err = readWith(path, o, false, func(t *tx) error {
		found, err := readSchema(t.bolt)
		if err == nil && found != schemaNumber {
			u = &Upgrade{From: found, To: schemaNumber, Room: upgradeRoom(t.bolt.Size()-t.unused()) + copyReserve}
		}
		return err
	})
	if errors.Is(err, berrors.ErrTimeout) {
		err = record.ErrInUse
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return u, nil
}

const (
	// oldestSchema is the oldest layout that can be upgraded.
	oldestSchema = 4
	// taggedSchema is the oldest layout whose rows have the present form: an upgrade copies them.
	taggedSchema = 6
	// sharedSchema is a number that builds between two releases used for several layouts, each with
	// more buckets than the one before. The last of them is the layout of schema 7.
	sharedSchema = 6
)

// madeIn has the schemas in which buckets were added since the oldest one.
var madeIn = func() map[bucket]uint32 {
	all := map[bucket]uint32{outbox: 5, hooks: 5, quotas: 5, requests: 6, requestOwners: 6, identities: 6, room: 6, events: 6}
	addedBuckets(func(b bucket, of *record.Table) { all[b] = uint32(of.Added.Bolt) })
	return all
}()

// readSchema returns the schema of a file, or record.ErrSchema if it cannot be upgraded.
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
		return 0, fmt.Errorf("%w: its schema number is %d; this version knows %d and none after it", record.ErrSchema, n, schemaNumber)
	case n < oldestSchema:
		return 0, fmt.Errorf("%w: its schema number is %d; this version knows %d and can upgrade from %d or later; open it first with a version in between",
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
