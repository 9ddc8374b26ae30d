package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"pushbox/store/bolt/page"
	"pushbox/store/record"
)

// KeyRing returns the sealed key ring; nil in a new store. It works before Unlock.
func (db *DB) KeyRing(ctx context.Context) (sealed []byte, err error) {
	if err := db.alive(ctx); err != nil {
		return nil, err
	}
	err = db.viewAdmitted(func(t *tx) error {
		sealed = bytes.Clone(t.keyRing())
		return nil
	})
	return sealed, err
}

// keyRing is the sealed key ring; nil if there is none.
func (t *tx) keyRing() []byte { return t.get(meta, []byte(metaKeyRing)) }

// SetKeyRing replaces the sealed key ring. The new keys are in use once the ring is on the disk:
// until then, nothing is written under a new version.
func (db *DB) SetKeyRing(ctx context.Context, sealed []byte, keys record.RowKeys, e record.AdminEvent) error {
	err := db.do(ctx, 0, func(t *tx) error {
		if err := t.put(meta, []byte(metaKeyRing), sealed); err != nil {
			return err
		}
		return t.addEvent(e)
	})
	if err == nil {
		db.keys.Store(&keys)
	}
	return err
}

// Ready returns nil if the file can be read and still has its name. A file without a name accepts
// writes while it is open, but is lost when it is closed.
func (db *DB) Ready(ctx context.Context) error {
	if err := db.View(ctx, func(record.View) error { return nil }); err != nil || db.isNamed() == nil {
		return err
	}
	db.writing.Lock() // a compaction may have replaced the file just now
	defer db.writing.Unlock()
	if err := db.isNamed(); err != nil {
		return fmt.Errorf("%w: %w", record.ErrLost, err)
	}
	return nil
}

// isNamed returns an error unless the path names the file that is open.
func (db *DB) isNamed() error {
	h := db.enter()
	if h == nil {
		return nil // it is closing
	}
	defer h.leave()
	named, err := h.isNamed(db.path)
	if err == nil && !named {
		err = fmt.Errorf("%s is a different file", db.path)
	}
	return err
}

// KeepTime stores a time if it is later than the stored one, and returns the later one.
func (db *DB) KeepTime(ctx context.Context, at time.Time) (time.Time, error) {
	return changed(ctx, db, func(t *tx) (latest time.Time, err error) {
		kept, err := t.latestTime()
		if ms := milliseconds(at); err == nil && ms > kept {
			kept, err = ms, t.put(meta, []byte(metaLatestTime), uint64Key(ms))
		}
		if err != nil || kept == 0 {
			return latest, err
		}
		return time.UnixMilli(int64(kept)).UTC(), nil
	})
}

// latestTime is the stored time; 0 for none.
func (t *tx) latestTime() (uint64, error) {
	v := t.get(meta, []byte(metaLatestTime))
	if v == nil {
		return 0, nil
	}
	return number(meta, v)
}

// ReadKeyRing returns the sealed key ring of a database that is not in use; nil if it
// has none. It reads databases of any schema, and writes nothing. The error wraps
// record.ErrInUse, record.ErrCorrupt, or fs.ErrNotExist.
func ReadKeyRing(ctx context.Context, path string, timeout time.Duration) (sealed []byte, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	err = readAlone(path, timeout, false, func(t *tx) error {
		if t.bucket(meta) != nil {
			sealed = bytes.Clone(t.keyRing())
		}
		return nil
	})
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return nil, fmt.Errorf("%s: %w", path, record.ErrInUse)
	case err != nil:
		return nil, fmt.Errorf("open the database %s: %w", path, err)
	}
	return sealed, nil
}

// readAlone verifies the pages of a file that is not in use, with or without its leaves,
// and runs fn in a read transaction. It writes nothing.
func readAlone(path string, timeout time.Duration, leaves bool, fn func(*tx) error) error {
	return readWith(path, bbolt.Options{Timeout: timeout}, leaves, fn)
}

func readWith(path string, o bbolt.Options, leaves bool, fn func(*tx) error) error {
	o.ReadOnly = true
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	h, err := openHandle(path, o, page.CheckHeader)
	if err != nil {
		return err
	}
	err = h.read(func(t *tx) error {
		if _, err := page.Verify(t.bolt, leaves); err != nil {
			return err
		}
		return fn(t)
	})
	h.noteDamage(err)
	return errors.Join(err, h.close())
}

// SealedRing returns the sealed key ring of a backup, and writes nothing. The error wraps
// record.ErrSchema if a later version of pushbox wrote the file, record.ErrCorrupt if it is not a
// complete database or has no key ring.
func SealedRing(path string) (sealed []byte, err error) {
	err = readAlone(path, defaultTimeout, false, func(t *tx) (err error) {
		sealed, err = t.ringOfBackup()
		return err
	})
	return sealed, err
}

func (t *tx) ringOfBackup() ([]byte, error) {
	m := t.bucket(meta)
	if m == nil {
		return nil, fmt.Errorf("%w: it is not a database of pushbox", record.ErrSchema)
	}
	if v := m.Get([]byte(metaSchema)); len(v) == 4 && binary.BigEndian.Uint32(v) > schemaNumber {
		return nil, fmt.Errorf("%w: its schema number is %d, this version knows %d", record.ErrSchema, binary.BigEndian.Uint32(v), schemaNumber)
	}
	sealed := t.keyRing()
	if sealed == nil {
		return nil, fmt.Errorf("%w: its key ring is missing", record.ErrCorrupt)
	}
	return bytes.Clone(sealed), nil
}

// FindRing searches every byte of the file, in use or not, for places that name the key ring, as
// every page does that has or had one. It reports whether opens returns true for one of them. opens
// gets the ring, if there is one, and the bytes after it.
func (db *DB) FindRing(ctx context.Context, opens func(b []byte) bool) (found bool, err error) {
	if err := db.admit(ctx); err != nil {
		return false, err
	}
	h := db.enter()
	if h == nil {
		return false, record.ErrClosed
	}
	defer h.leave()
	name, buffer := []byte(metaKeyRing), make([]byte, searchStep+len(metaKeyRing)+searchReach)
	for at := int64(0); ; at += searchStep {
		n, err := h.file.ReadAt(buffer, at)
		if err != nil && !errors.Is(err, io.EOF) {
			return false, err
		}
		last := errors.Is(err, io.EOF)
		for i := bytes.Index(buffer[:n], name); i >= 0 && (last || i < searchStep); {
			rest := buffer[i+len(name) : n]
			if opens(rest[:min(len(rest), searchReach)]) {
				return true, nil
			}
			next := bytes.Index(rest, name)
			if next < 0 {
				break
			}
			i += len(name) + next
		}
		if last {
			return false, nil
		}
		if err := ctx.Err(); err != nil {
			return false, err
		}
	}
}
