package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"pushbox/store/record"
)

// PutChunks stores chunks of a file whose push does not exist yet. It keeps no reference to them.
func (db *DB) PutChunks(ctx context.Context, id record.ID, file, first int, sealed [][]byte) error {
	done, err := db.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	if err := db.mayAdd(ctx); err != nil {
		return err
	}
	numbers, sums := make([]int64, len(sealed)), make([]int64, len(sealed))
	for i, c := range sealed {
		numbers[i], sums[i] = int64(first+i), digest(c)
	}
	return db.step(ctx, func(ctx context.Context) error {
		return db.attempt(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
			var b pgx.Batch
			b.Queue(`insert into orphan (id) select $1::bytea where not exists (select from push where id = $1)
				on conflict (id) do update set id = excluded.id`, id[:])
			b.Queue(`insert into chunk (id, file, number, sum, data)
				select $1::bytea, $2::integer, u.number, u.sum, u.data from unnest($3::bigint[], $4::bigint[], $5::bytea[]) as u (number, sum, data)
				where exists (select from orphan where id = $1) and not exists (select from push where id = $1)
				on conflict (id, file, number) do update set sum = excluded.sum, data = excluded.data`, id[:], int32(file), numbers, sums, sealed)
			rows, err := queued(ctx, c, &b)
			if err == nil && rows[1] == 0 && len(sealed) > 0 {
				err = decide(record.ErrExists)
			}
			return err
		})
	})
}

// Chunk appends a chunk of a file to dst and returns the grant under which it was read.
func (db *DB) Chunk(ctx context.Context, d record.GrantDigest, file, n int, dst []byte) (g record.Grant, sealed []byte, err error) {
	done, err := db.begin(ctx)
	if err != nil {
		return g, nil, err
	}
	defer done()
	err = db.refreshed(ctx, func(s sealer) error {
		return db.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
			rows, err := c.Query(ctx, `select g.id, g.ends, g.value, c.data from grants g
				left join chunk c on c.id = g.id and c.file = $2 and c.number = $3 where g.digest = $1`, d[:], int32(file), int64(n))
			if err != nil {
				return err
			}
			defer rows.Close()
			if !rows.Next() {
				if err := rows.Err(); err != nil {
					return err
				}
				return decide(record.ErrNotFound)
			}
			var data pgtype.DriverBytes // valid until the next row
			if g, err = s.scanGrant(rows, d, &data); err != nil {
				return err
			}
			if data == nil {
				return decide(fmt.Errorf("%w: chunk %d of file %d of push %s is missing", record.ErrCorrupt, n, file, g.Push))
			}
			sealed = append(dst, data...)
			rows.Close()
			return rows.Err()
		})
	})
	if err != nil {
		return record.Grant{}, nil, err
	}
	return g, sealed, nil
}

// scanGrant reads the columns id, ends and value of a grant, which must agree, and the columns
// after them.
func (s sealer) scanGrant(r pgx.Row, d record.GrantDigest, more ...any) (g record.Grant, err error) {
	var id, stored []byte
	var ends int64
	if err := r.Scan(append([]any{&id, &ends, &stored}, more...)...); err != nil {
		return g, err
	}
	g.Digest = d
	if err := s.read(tableGrants, d[:], stored, &g); err != nil {
		return record.Grant{}, err
	}
	switch {
	case !bytes.Equal(g.Push[:], id):
		return record.Grant{}, mismatch(tableGrants, "id")
	case milliseconds(g.ExpiresAt) != ends:
		return record.Grant{}, mismatch(tableGrants, "ends")
	}
	return g, nil
}

// grant reads a grant, or returns record.ErrNotFound.
func (s sealer) grant(ctx context.Context, c *pgxpool.Conn, d record.GrantDigest) (record.Grant, error) {
	g, err := s.scanGrant(c.QueryRow(ctx, "select id, ends, value from grants where digest = $1", d[:]), d)
	if errors.Is(err, pgx.ErrNoRows) {
		err = decide(record.ErrNotFound)
	}
	return g, err
}

// Grant returns the grant of that digest and its push.
func (db *DB) Grant(ctx context.Context, d record.GrantDigest) (g record.Grant, p record.Push, err error) {
	done, err := db.begin(ctx)
	if err != nil {
		return g, p, err
	}
	defer done()
	err = db.refreshed(ctx, func(s sealer) error {
		return db.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
			g = record.Grant{Digest: d}
			var ends int64
			var stored []byte
			w, err := s.scanPush(c.QueryRow(ctx, "select "+pushColumns+", g.ends, g.value from grants g join push p on p.id = g.id where g.digest = $1", d[:]), &ends, &stored)
			if errors.Is(err, pgx.ErrNoRows) {
				return decide(record.ErrNotFound)
			}
			if err == nil {
				err = s.read(tableGrants, d[:], stored, &g)
			}
			if err == nil && g.Push != w.push.ID {
				err = mismatch(tableGrants, "id")
			}
			p = w.push
			return err
		})
	})
	if err != nil {
		return record.Grant{}, record.Push{}, err
	}
	return g, p, nil
}

// ChangeGrant applies r to the grant and to its push.
func (db *DB) ChangeGrant(ctx context.Context, d record.GrantDigest, r record.GrantRule) (next record.Grant, err error) {
	first, _, err := db.Grant(ctx, d)
	if err != nil {
		return next, err
	}
	done, err := db.begin(ctx)
	if err != nil {
		return next, err
	}
	defer done()
	_, _, err = db.changePush(ctx, first.Push, func(ctx context.Context, c *pgxpool.Conn, s sealer, w row) (p plan, err error) {
		g, err := s.grant(ctx, c, d)
		if err != nil {
			return p, wire(err)
		}
		p.next = w.push
		var now record.Push
		var keep bool
		if err := record.CatchPanic(func() { now, next, keep = r(w.push, g) }); err != nil {
			return p, err
		}
		switch {
		case !keep:
			p.drop = &g
		case !next.ExpiresAt.Equal(g.ExpiresAt):
			p.next, p.grant = now, &next
		}
		return p, nil
	})
	if err != nil {
		return record.Grant{}, err
	}
	return next, nil
}

// wire marks an error of a planner's query, unless it is a decision.
func wire(err error) error {
	if isOwn(err) {
		return err
	}
	return &wireError{err}
}

// Orphans lists the IDs of orphaned chunks, from the first after the one given.
func (db *DB) Orphans(ctx context.Context, after record.ID, limit int) (ids []record.ID, err error) {
	done, err := db.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	err = db.read(ctx, func(ctx context.Context, c *pgxpool.Conn) (err error) {
		ids, err = collect(ctx, c, scanID, "select id from orphan where id > $1 order by id limit $2", after[:], limit)
		return err
	})
	return ids, err
}

func scanID(r pgx.CollectableRow) (id record.ID, err error) {
	var b []byte
	if err := r.Scan(&b); err != nil {
		return id, err
	}
	if len(b) != len(id) {
		return id, decide(fmt.Errorf("%w: an ID of %d bytes", record.ErrCorrupt, len(b)))
	}
	return record.ID(b), nil
}

// FreeOrphans removes orphaned chunks of an ID. It locks the row of the orphan first, so that
// chunks are either freed or adopted by a push.
func (db *DB) FreeOrphans(ctx context.Context, id record.ID, limit int) (more bool, err error) {
	done, err := db.begin(ctx)
	if err != nil {
		return false, err
	}
	defer done()
	p, _, err := db.pushOf(ctx, id)
	if err == nil && p.HoldsFiles() { // pushbox did not write the row of the orphan
		return false, nil
	}
	if err != nil && !errors.Is(err, record.ErrNotFound) {
		return false, err
	}
	err = db.step(ctx, func(ctx context.Context) error {
		return db.attempt(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
			var b pgx.Batch
			b.Queue("select from orphan where id = $1 for update", id[:])
			b.Queue(`delete from chunk where id = $1 and exists (select from orphan where id = $1)
				and (file, number) in (select file, number from chunk where id = $1 order by file, number limit $2)`, id[:], limit)
			b.Queue("delete from orphan where id = $1 and not exists (select from chunk where id = $1)", id[:])
			b.Queue("select from orphan where id = $1", id[:])
			rows, err := queued(ctx, c, &b)
			if err == nil {
				more = rows[3] > 0
			}
			return err
		})
	})
	return more, err
}
