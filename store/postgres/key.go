package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"pushbox/store/record"
)

// The row ring has the sealed key ring. Its version grows with each ring, and each server looks at
// it every second. Its floor is the version below which a server may write nothing: Reseal raises
// it before it looks for rows under older keys, so that no server that has not read the new ring
// adds others. Each writing statement compares the floor. A floor above all versions means that the
// records were moved out (see departure.go).

// KeyRing returns the sealed key ring; nil in a new store. It works before Unlock.
func (db *DB) KeyRing(ctx context.Context) (sealed []byte, err error) {
	done, err := db.beginLocked(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	sealed, version, err := db.readRing(ctx)
	if err == nil {
		db.known.Store(version)
	}
	return bytes.Clone(sealed), err
}

func (db *DB) readRing(ctx context.Context) (sealed []byte, version int64, err error) {
	err = db.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		return c.QueryRow(ctx, "select sealed, version from ring").Scan(&sealed, &version)
	})
	return sealed, version, err
}

var errUnlocked = errors.New("the database was unlocked before")

// Unlock gives the DB the keys of its rows, once. There is no older schema that a
// converter could bring to the present one. If the ring was replaced since the caller read it, f
// gets the present one.
func (db *DB) Unlock(ctx context.Context, keys record.RowKeys, c record.Converter, f record.Follower) error {
	done, err := db.beginLocked(ctx)
	if err != nil {
		return err
	}
	defer done()
	db.unlocking.Lock()
	defer db.unlocking.Unlock()
	if db.ring.Load() != nil {
		return errUnlocked
	}
	if c != nil {
		return fmt.Errorf("%w: its key ring is older than this database", record.ErrCorrupt)
	}
	if err := db.refuseMoved(ctx); err != nil {
		return err
	}
	r := &ring{keys, db.known.Load()}
	if err := db.checkHead(ctx, r); err != nil {
		return err
	}
	db.follow = f
	db.ring.Store(r)
	db.watch()
	return nil
}

// checkHead verifies the row with which every change of the instance begins: the keys must be those
// of this database.
func (db *DB) checkHead(ctx context.Context, r *ring) error {
	return db.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		_, _, err := loadHead(ctx, c, sealer{r})
		var stale *staleError
		if errors.As(err, &stale) { // another server is renewing the keys
			return nil
		}
		if db.opts.Moved && errors.Is(err, record.ErrStaleKeys) { // refused by the mark of a move; Dump reads the row
			return nil
		}
		return err
	})
}

// reloadRing loads the keys of the present ring, if that is not the one in use. It also checks
// whether this version may still use the database.
func (db *DB) reloadRing(ctx context.Context) error {
	db.reloading.Lock()
	defer db.reloading.Unlock()
	var version, floor int64
	var tables []byte
	err := db.attempt(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		return c.QueryRow(ctx, "select version, floor, (select value from meta where name = 'schema') from ring").Scan(&version, &floor, &tables)
	})
	if err == nil {
		err = db.checkSchema(tables)
	}
	if err != nil || db.follow == nil {
		return err
	}
	db.moved.Store(floor >= floorMoving)
	if version == db.ring.Load().version {
		return nil
	}
	sealed, version, err := db.readRing(ctx)
	if err != nil {
		return err
	}
	keys, err := db.follow(bytes.Clone(sealed))
	if err != nil {
		return err
	}
	db.useRing(&ring{keys, version})
	return nil
}

// checkSchema ends the engine if it may no longer use the database.
func (db *DB) checkSchema(value []byte) error {
	s, err := parseSchema(value)
	if err != nil {
		return err
	}
	if err = s.refuses(len(db.migrations())); err != nil {
		db.outdate(err)
	}
	return err
}

// refreshed runs a step or a read. If that met a row under an unknown key, or may not write because
// rows are being resealed, it runs again under the newer key ring of another server: at most twice,
// since a rotation makes two rings. If the operation itself has sealed something under older keys,
// refreshed returns record.ErrStaleKeys, so that the operation begins again.
func (db *DB) refreshed(ctx context.Context, run func(s sealer) error) error {
	for n := 0; ; n++ {
		s := sealer{db.ring.Load()}
		if s.newerThan(ctx) {
			return record.ErrStaleKeys
		}
		err := run(s)
		if !oldRing(err) || n == maxRings || db.reloadRing(ctx) != nil || db.ring.Load() == s.ring {
			return err
		}
	}
}

const maxRings = 2

// newerThan reports whether an operation has sealed something under keys that the ring has
// replaced.
func (r *ring) newerThan(ctx context.Context) bool {
	under, seals := record.SealedUnder(ctx)
	return seals && under < r.keys.RowVersion()
}

// oldRing reports whether an error may disappear with a newer key ring.
func oldRing(err error) bool {
	var stale *staleError
	return errors.As(err, &stale) || errors.Is(err, record.ErrStaleKeys)
}

// SetKeyRing replaces the sealed key ring. record.ErrStaleKeys if another server did so
// since this one read it.
func (db *DB) SetKeyRing(ctx context.Context, sealed []byte, keys record.RowKeys, e record.AdminEvent) error {
	done, err := db.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	before := db.ring.Load()
	next := &ring{keys, before.version + 1}
	// It does not load a newer ring, as other steps do: the caller has read the ring that it
	// replaces, and holds a lock that reload needs.
	these := func(ctx context.Context, try keyedTry) error { return db.underThese(ctx, sealer{before}, try) }
	err = db.administerUnder(ctx, these, func(ctx context.Context, c *pgxpool.Conn, a *change) error {
		var version int64
		if err := c.QueryRow(ctx, "select version from ring").Scan(&version); err != nil {
			return err
		}
		if version != before.version {
			return decide(record.ErrStaleKeys)
		}
		a.write("update ring set sealed = $2::bytea, version = version + 1 where one and version = $3::bigint", sealed, before.version)
		return a.tell(e)
	})
	if oldRing(err) {
		return record.ErrStaleKeys
	}
	if err == nil {
		db.useRing(next)
	}
	return err
}

// useRing puts a ring into use, unless a later one is in use.
func (db *DB) useRing(next *ring) {
	for {
		now := db.ring.Load()
		if now.version >= next.version || db.ring.CompareAndSwap(now, next) {
			return
		}
	}
}

const metaLatest = "latest_time"

// latestTime returns the stored time and its row; 0 and nil if there is none.
func latestTime(ctx context.Context, c *pgxpool.Conn, s sealer) (ms uint64, row []byte, err error) {
	err = c.QueryRow(ctx, "select value from meta where name = $1", metaLatest).Scan(&row)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil, nil
	}
	if err != nil {
		return 0, nil, err
	}
	v, err := s.open(tableMeta, []byte(metaLatest), row)
	if err == nil {
		ms, err = number(tableMeta, v)
	}
	return ms, row, err
}

// KeepTime stores a time if it is later than the stored one, and returns the later one.
func (db *DB) KeepTime(ctx context.Context, at time.Time) (latest time.Time, err error) {
	done, err := db.begin(ctx)
	if err != nil {
		return latest, err
	}
	defer done()
	err = db.underKeys(ctx, func(ctx context.Context, c *pgxpool.Conn, s sealer) error {
		kept, row, err := latestTime(ctx, c, s)
		if err != nil {
			return err
		}
		if latest = (time.Time{}); kept != 0 {
			latest = timeOf(int64(kept))
		}
		ms := milliseconds(at)
		if uint64(ms) <= kept {
			return nil
		}
		next := s.sealValue(tableMeta, []byte(metaLatest), uint64Key(uint64(ms)))
		t, err := c.Exec(ctx, `insert into meta select $1::text, $2::bytea from ring where floor <= $4::bigint
			on conflict (name) do update set value = excluded.value where meta.value = $3::bytea`, metaLatest, next, row, s.version)
		if err == nil && t.RowsAffected() == 0 {
			return db.touchedElsewhere(ctx, c, s)
		}
		latest = timeOf(ms)
		return err
	})
	return latest, err
}
