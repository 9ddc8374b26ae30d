package bolt

import (
	"context"
	"errors"
	"fmt"

	"pushbox/store/record"
)

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
