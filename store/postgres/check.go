package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"pushbox/store/record"
)

// snapshot runs fn in a transaction that sees one instant and writes nothing.
func (db *DB) snapshot(ctx context.Context, fn func(t pgx.Tx) error) error {
	c, err := db.pool.Acquire(ctx)
	if err != nil {
		return db.named(again(err))
	}
	defer c.Release()
	err = pgx.BeginTxFunc(ctx, c, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, fn)
	var d *decision
	switch {
	case errors.As(err, &d):
		return d.error
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return db.named(err)
	}
	return nil
}

// A checker looks for problems at one instant.
type checker struct {
	sealer
	ctx    context.Context
	tx     pgx.Tx
	report func(string)
	rooms  map[string]record.Room
}

func (c *checker) notef(format string, args ...any) { c.report(fmt.Sprintf(format, args...)) }

// note reports a problem that a reader found in a row, with the subject of the row, and returns any
// other error.
func (c *checker) note(subject string, err error) error {
	var d *decision
	if !errors.As(err, &d) {
		return err
	}
	c.notef("%s: %v", subject, d.error)
	return nil
}

// Check reads everything in one transaction and reports problems: rows that pushbox did not write,
// columns that do not agree with their rows, and broken promises.
func (db *DB) Check(ctx context.Context, report func(problem string)) error {
	done, err := db.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	if err := db.reloadRing(ctx); err != nil {
		return db.named(err)
	}
	return db.snapshot(ctx, func(t pgx.Tx) error {
		c := &checker{sealer: sealer{db.ring.Load()}, ctx: ctx, tx: t, report: report, rooms: make(map[string]record.Room)}
		for _, step := range []func() error{c.pushes, c.checkRooms, c.strays, c.orphans, c.grants, c.records, c.meta, c.events} {
			if err := step(); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkPage is how many pushes are compared at a time.
const checkPage = 500

// A counted is a push with the counts of its rows.
type counted struct {
	push  record.Push
	sound bool // the row of the push could be read
	tally record.Tally
}

func (c *checker) pushes() error {
	for last := (record.ID{}); ; {
		page, err := c.pushPage(last)
		if err != nil {
			return err
		}
		for _, n := range page {
			if !n.sound {
				continue
			}
			for _, problem := range n.push.Problems(n.tally) {
				c.notef("push %s: %s", n.push.ID, problem)
			}
		}
		if len(page) < checkPage {
			return nil
		}
		last = page[len(page)-1].push.ID
	}
}

// pushPage reads some pushes after an ID, and counts their rows.
func (c *checker) pushPage(after record.ID) ([]*counted, error) {
	rows, err := c.tx.Query(c.ctx, "select "+pushColumns+" from push p where id > $1 order by id limit $2", after[:], checkPage)
	if err != nil {
		return nil, err
	}
	var page []*counted
	byID := make(map[record.ID]*counted)
	for rows.Next() {
		w, err := c.scanPush(rows)
		n := &counted{push: w.push, sound: err == nil, tally: record.Tally{Numbered: true, Indexed: true}}
		if err != nil {
			if w.push.ID == (record.ID{}) { // not even its key has the form of an ID
				return nil, c.note("push", err)
			}
			if err := c.note("push "+w.push.ID.String(), err); err != nil {
				return nil, err
			}
		} else {
			c.addRoom(w.push)
		}
		page, byID[n.push.ID] = append(page, n), n
	}
	if err := rows.Err(); err != nil || len(page) == 0 {
		return nil, err
	}
	first, last := page[0].push.ID, page[len(page)-1].push.ID
	for _, part := range []func(byID map[record.ID]*counted, first, last []byte) error{c.tallyPayloads, c.tallyEntries, c.tallyChunks, c.tallyGrants} {
		if err := part(byID, first[:], last[:]); err != nil {
			return nil, err
		}
	}
	return page, nil
}

// between runs a query for rows of the pushes of a page.
func (c *checker) between(query string, first, last []byte, to []any, fn func() error) error {
	rows, err := c.tx.Query(c.ctx, query, first, last)
	if err != nil {
		return err
	}
	_, err = pgx.ForEachRow(rows, to, fn)
	return err
}

func (c *checker) tallyPayloads(byID map[record.ID]*counted, first, last []byte) error {
	var id []byte
	return c.between("select id from payload where id between $1 and $2", first, last, []any{&id}, func() error {
		if n := byID[idOf(id)]; n != nil {
			n.tally.Payload = true
		}
		return nil
	})
}

func (c *checker) tallyEntries(byID map[record.ID]*counted, first, last []byte) error {
	var id, stored []byte
	var number int64
	return c.between("select id, number, value from audit where id between $1 and $2 order by id, number", first, last, []any{&id, &number, &stored}, func() error {
		n := byID[idOf(id)]
		if n == nil {
			return nil // strays reports the row
		}
		n.tally.Numbered = n.tally.Numbered && number == int64(n.tally.Entries)
		n.tally.Entries++
		var e record.Entry
		if err := c.read(tableAudit, auditKey(n.push.ID, uint32(number)), stored, &e); err != nil {
			return c.note("push "+n.push.ID.String(), err)
		}
		if e.Kind == record.EntryView {
			n.tally.Views++
		}
		if e.Kind.Minor() {
			n.tally.Minor++
		}
		return nil
	})
}

func (c *checker) tallyChunks(byID map[record.ID]*counted, first, last []byte) error {
	var id []byte
	var size int64
	return c.between(`select id, sum(octet_length(data))::bigint from chunk c where id between $1 and $2
		and not exists (select from orphan o where o.id = c.id) group by id`, first, last, []any{&id, &size}, func() error {
		if n := byID[idOf(id)]; n != nil {
			n.tally.Stored = size
		}
		return nil
	})
}

func (c *checker) tallyGrants(byID map[record.ID]*counted, first, last []byte) error {
	var id []byte
	var ends int64
	return c.between("select id, max(ends) from grants where id between $1 and $2 group by id", first, last, []any{&id, &ends}, func() error {
		if n := byID[idOf(id)]; n != nil {
			n.tally.GrantsEnd = timeOf(ends)
		}
		return nil
	})
}

// strays reports rows of pushes that do not exist.
func (c *checker) strays() error {
	for _, table := range []string{"payload", tableAudit, tableGrants} {
		if err := c.reportRows("select distinct id from "+table+" t where not exists (select from push p where p.id = t.id)", func(id []byte) {
			c.notef("%s: a row of push %s, which does not exist", table, idOf(id))
		}); err != nil {
			return err
		}
	}
	return c.reportRows(`select distinct id from chunk t where not exists (select from push p where p.id = t.id)
		and not exists (select from orphan o where o.id = t.id)`, func(id []byte) {
		c.notef("chunk: a row of push %s, which does not exist", idOf(id))
	})
}

// reportRows calls fn with each value of a query for one column.
func (c *checker) reportRows(query string, fn func(v []byte)) error {
	rows, err := c.tx.Query(c.ctx, query)
	if err != nil {
		return err
	}
	var v []byte
	_, err = pgx.ForEachRow(rows, []any{&v}, func() error {
		fn(v)
		return nil
	})
	return err
}

func (c *checker) orphans() error {
	return eachRow(c, "select "+pushColumns+" from orphan o join push p on p.id = o.id", func(r pgx.Rows) error {
		w, err := c.scanPush(r)
		if err == nil && w.push.HoldsFiles() {
			c.notef("push %s: its files are listed as orphans", w.push.ID)
		}
		return ignoreDecision(err)
	})
}

// ignoreDecision drops an error that another part of the check reports.
func ignoreDecision(err error) error {
	if isOwn(err) {
		return nil
	}
	return err
}

func eachRow(c *checker, query string, fn func(r pgx.Rows) error) error {
	rows, err := c.tx.Query(c.ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := fn(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (c *checker) grants() error {
	return eachRow(c, "select id, ends, value, digest from grants", func(r pgx.Rows) error {
		var id, stored, digest []byte
		var ends int64
		if err := r.Scan(&id, &ends, &stored, &digest); err != nil {
			return err
		}
		if len(digest) != len(record.GrantDigest{}) {
			c.notef("grants: a digest of %d bytes", len(digest))
			return nil
		}
		_, err := c.scanGrant(grantRow{id, ends, stored}, record.GrantDigest(digest))
		return c.note("push "+idOf(id).String(), err)
	})
}

// A grantRow is the columns of a grant that were read with another row.
type grantRow struct {
	id    []byte
	ends  int64
	value []byte
}

// Scan copies the columns.
func (g grantRow) Scan(to ...any) error {
	*to[0].(*[]byte), *to[1].(*int64), *to[2].(*[]byte) = g.id, g.ends, g.value
	return nil
}
