package bolt

import (
	"fmt"

	"pushbox/store"
)

// Stats tells how the file is, as of the last commit that readers see.
func (db *DB) Stats() (s store.Stats, err error) {
	if err := db.refusal(); err != nil {
		return store.Stats{}, err
	}
	h := db.enter()
	if h == nil {
		return store.Stats{}, store.ErrClosed
	}
	defer h.leave()
	err = h.read(func(t *tx) error {
		info, err := t.file().Stat()
		if err != nil {
			return fmt.Errorf("size of the database: %w", err)
		}
		s.Size, s.Unused = info.Size(), t.unused()
		s.FreePages = int(s.Unused) / t.bolt.DB().Info().PageSize
		_, s.Oldest = t.due(store.Expiring, 0, 0)
		return nil
	})
	if h.noteDamage(err) {
		return store.Stats{}, db.fail(err)
	}
	s.Journal, s.Live = int(db.journal.waiting.Load()), db.census.told()
	return s, err
}
