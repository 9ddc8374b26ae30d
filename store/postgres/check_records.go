package postgres

import (
	"fmt"

	"github.com/jackc/pgx/v5"

	"pushbox/store/record"
)

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

func (c *checker) hooks() error { return c.ownedRecords(record.Hooks.Table, "webhooks", "webhook") }

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
