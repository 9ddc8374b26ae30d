package postgres

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

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

// A checker looks for what is wrong at one instant.
type checker struct {
	sealer
	ctx    context.Context
	tx     pgx.Tx
	report func(string)
	rooms  map[string]record.Room
}

func (c *checker) notef(format string, args ...any) { c.report(fmt.Sprintf(format, args...)) }

// note reports the decision of a reader about a row, with what the row is of, and returns
// any other error.
func (c *checker) note(subject string, err error) error {
	var d *decision
	if !errors.As(err, &d) {
		return err
	}
	c.notef("%s: %v", subject, d.error)
	return nil
}

// Check reads everything in one transaction and reports what is wrong: rows that are not
// as pushbox wrote them, columns that do not agree with their rows, and what breaks a
// promise.
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
		for _, step := range []func() error{c.pushes, c.checkRooms, c.strays, c.orphans, c.grants, c.accounts, c.sessions, c.tokens, c.hooks, c.requests, c.messages, c.quotas, c.meta, c.events} {
			if err := step(); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkPage is how many pushes are compared at a time.
const checkPage = 500

// A counted is a push with what there is of it.
type counted struct {
	push  record.Push
	sound bool // its row could be read
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

// pushPage reads some pushes behind an ID, and counts what there is of them.
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
			if w.push.ID == (record.ID{}) { // not even its key has the form of one
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
			return nil // strays reports it
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

// ignoreDecision leaves out what another part of the check reports.
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

func (c *checker) addRoom(p record.Push) {
	takes := p.Room()
	if takes == (record.Room{}) {
		return
	}
	own, shared := roomKeys(p)
	for _, key := range [][]byte{own, shared} {
		if key != nil {
			of := roomName(key)
			c.rooms[of] = c.rooms[of].Plus(takes)
		}
	}
}

// roomName is the same for all rows that add up.
func roomName(key []byte) string {
	if len(key) > 0 && key[0] == roomOfAnonymous {
		key = key[:1]
	}
	return string(key)
}

// checkRooms reports rows of room that are not what the pushes take.
func (c *checker) checkRooms() error {
	rows := make(map[string]record.Room)
	err := eachRow(c, "select key, pushes, bytes from room", func(r pgx.Rows) error {
		var key []byte
		var is record.Room
		if err := r.Scan(&key, &is.Pushes, &is.Bytes); err != nil {
			return err
		}
		of := roomName(key)
		rows[of] = rows[of].Plus(is)
		return nil
	})
	if err != nil {
		return err
	}
	for of, is := range rows {
		if want := c.rooms[of]; is != want {
			c.notef("room: a sender has %d pushes of %d bytes, and a row says %d of %d", want.Pushes, want.Bytes, is.Pushes, is.Bytes)
		}
		delete(c.rooms, of)
	}
	if len(c.rooms) > 0 {
		c.notef("room: %d senders have pushes, and no row says so", len(c.rooms))
	}
	return nil
}

// records reports rows of a table that are not as pushbox wrote them: each by its number, if
// that is its key.
func (c *checker) records(of *record.Table, what string) error {
	l := layouts[of]
	return eachRow(c, l.selects(), func(r pgx.Rows) error {
		_, _, err := l.scan(c.sealer, of, r)
		if columns, _ := r.Values(); err != nil && len(l.keys[nil]) == 1 && len(columns) > 0 {
			if n, ok := columns[0].(int64); ok {
				return c.note(fmt.Sprintf("%s %d", what, n), err)
			}
		}
		return c.note(what, err)
	})
}

func (c *checker) accounts() error {
	if err := c.records(record.Accounts.Table, "account"); err != nil {
		return err
	}
	return c.reportRows("select id from push p where owner <> 0 and not exists (select from account a where a.id = p.owner)", func(id []byte) {
		c.notef("push %s: its owner does not exist", idOf(id))
	})
}

// owned reports rows whose account does not exist.
func (c *checker) owned(table, what string) error {
	return eachRow(c, "select id, owner from "+table+" t where not exists (select from account a where a.id = t.owner)", func(r pgx.Rows) error {
		var id, owner int64
		if err := r.Scan(&id, &owner); err != nil {
			return err
		}
		c.notef("%s %d: account %d, its owner, does not exist", what, id, owner)
		return nil
	})
}

func (c *checker) sessions() error {
	return c.ownedRecords(record.Sessions.Table, "sessions", "session")
}
func (c *checker) tokens() error { return c.ownedRecords(record.Tokens.Table, "tokens", "token") }
func (c *checker) hooks() error  { return c.ownedRecords(record.Hooks.Table, "webhooks", "webhook") }

func (c *checker) ownedRecords(of *record.Table, what, one string) error {
	if err := c.records(of, what); err != nil {
		return err
	}
	return c.owned(layouts[of].name, one)
}

func (c *checker) requests() error {
	if err := c.records(record.Requests.Table, "requests"); err != nil {
		return err
	}
	return c.reportRows("select id from request r where not exists (select from account a where a.id = r.owner)", func(id []byte) {
		c.notef("request %s: its owner does not exist", record.RequestID(idOf(id)))
	})
}

func (c *checker) messages() error {
	return eachRow(c, "select "+messageColumns+" from outbox", func(r pgx.Rows) error {
		_, _, err := c.scanMessage(r)
		return c.note("messages", err)
	})
}

func (c *checker) quotas() error {
	return eachRow(c, "select q.of, q.value, a.id is not null from quota q left join account a on int8send(a.id) = q.of", func(r pgx.Rows) error {
		var key, stored []byte
		var owned bool
		if err := r.Scan(&key, &stored, &owned); err != nil {
			return err
		}
		switch q, ok := record.QuotaOfKey(key); {
		case !ok:
			c.notef("quotas: a key of %d bytes instead of 8", len(key))
		case q.Whose() == record.QuotaOfAccount && !owned:
			c.notef("quota of account %d: it does not exist", q.Of)
		}
		_, _, err := c.readQuota(key, stored)
		return c.note("quotas", err)
	})
}

func (c *checker) meta() error {
	return eachRow(c, "select name, value from meta where name <> 'schema'", func(r pgx.Rows) error {
		var name string
		var stored []byte
		if err := r.Scan(&name, &stored); err != nil {
			return err
		}
		_, err := c.open(tableMeta, []byte(name), stored)
		return c.note("meta", err)
	})
}

// events walks the chain of the instance log, and reports events that are missing or were
// changed, and numbers that were given out and are higher than the head says.
func (c *checker) events() error {
	var stored []byte
	var h head
	if err := c.tx.QueryRow(c.ctx, "select value from head").Scan(&stored); err != nil {
		return err
	}
	if stored != nil {
		if err := c.read(tableHead, nil, stored, &h); err != nil {
			return c.note("events: the ends of the log", err)
		}
	}
	var account, session, token, hook uint64
	err := c.tx.QueryRow(c.ctx, `select (select coalesce(max(id), 0) from account), (select coalesce(max(id), 0) from session),
		(select coalesce(max(id), 0) from token), (select coalesce(max(id), 0) from hook)`).Scan(&account, &session, &token, &hook)
	if err != nil {
		return err
	}
	if account > h.account || session > h.session || token > h.token || hook > h.hook {
		c.notef("head: its numbers do not go on from the last ones")
	}
	w := record.NewLogWalk(h.LogHead, c.report)
	err = eachRow(c, "select number, value from event order by number", func(r pgx.Rows) error {
		var number int64
		var stored []byte
		if err := r.Scan(&number, &stored); err != nil {
			return err
		}
		e := record.AdminEvent{Number: uint64(number)}
		err := c.read(tableEvent, uint64Key(e.Number), stored, &e)
		w.Step(e, err)
		return ignoreDecision(err)
	})
	w.End()
	return err
}

// contentStep is how many bytes of payloads and chunks are read at a time, about.
const contentStep = 16

// CheckContents compares every payload and every chunk with the digest that is kept beside
// it, some at a time.
func (db *DB) CheckContents(ctx context.Context, report func(problem string), progress func(done, total int64)) (cover record.Coverage, err error) {
	done, err := db.begin(ctx)
	if err != nil {
		return cover, err
	}
	defer done()
	total, err := db.measure(ctx, "select pg_database_size(current_database())")
	if err != nil {
		return cover, err
	}
	read := func(data []byte) {
		cover.Bytes += int64(len(data))
		progress(cover.Bytes, max(total, cover.Bytes))
	}
	for last := []byte{}; last != nil; {
		from := last
		err := db.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
			last = nil
			rows, err := c.Query(ctx, "select id, sum, data from payload where id > $1 order by id limit $2", from, contentStep)
			if err != nil {
				return err
			}
			var id, data []byte
			var sum int64
			_, err = pgx.ForEachRow(rows, []any{&id, &sum, &data}, func() error {
				if digest(data) != sum {
					report(fmt.Sprintf("push %s: its payload is not as it was written", idOf(id)))
				}
				cover.Payloads++
				read(data)
				last = bytes.Clone(id)
				return nil
			})
			return err
		})
		if err != nil {
			return cover, err
		}
	}
	type place struct {
		id           []byte
		file, number int64
	}
	for last := (place{id: []byte{}}); last.id != nil; {
		from := last
		err := db.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
			last = place{}
			rows, err := c.Query(ctx, "select id, file, number, sum, data from chunk where (id, file, number) > ($1, $2::integer, $3) order by id, file, number limit $4",
				from.id, int32(from.file), from.number, contentStep)
			if err != nil {
				return err
			}
			var at place
			var data []byte
			var sum int64
			_, err = pgx.ForEachRow(rows, []any{&at.id, &at.file, &at.number, &sum, &data}, func() error {
				if digest(data) != sum {
					report(fmt.Sprintf("push %s: chunk %d of file %d is not as it was written", idOf(at.id), at.number, at.file))
				}
				cover.Chunks++
				read(data)
				last = place{bytes.Clone(at.id), at.file, at.number}
				return nil
			})
			return err
		})
		if err != nil {
			return cover, err
		}
	}
	progress(cover.Bytes, cover.Bytes)
	return cover, nil
}

func chunkKey(id []byte, file, number int64) []byte {
	k := binary.BigEndian.AppendUint16(append(make([]byte, 0, len(id)+6), id...), uint16(file))
	return binary.BigEndian.AppendUint32(k, uint32(number))
}
