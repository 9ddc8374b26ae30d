package postgres

import (
	"fmt"

	"github.com/jackc/pgx/v5"

	"pushbox/store/record"
)

// records reports rows of tables that pushbox did not write, or whose account does not exist: each
// by its number, if that is its key. Another check follows the chain of events.
func (c *checker) records() error {
	accounts, err := c.accountIDs()
	if err != nil {
		return err
	}
	for _, of := range record.Tables() {
		if of == record.AdminEvents.Table {
			continue
		}
		l := layouts[of]
		err := eachRow(c, l.selects(""), func(r pgx.Rows) error {
			one, _, err := l.scan(c.sealer, of, r)
			if err == nil {
				if owner := one.Belongs(); owner != 0 && !accounts[owner] {
					c.notef("%s: account %d, its owner, does not exist", one.Title(), owner)
				}
				return nil
			}
			if columns, _ := r.Values(); len(l.keys[nil]) == 1 && len(columns) > 0 {
				if n, ok := columns[0].(int64); ok {
					return c.note(fmt.Sprintf("%s %d", of.Name, n), err)
				}
			}
			return c.note(of.Name, err)
		})
		if err != nil {
			return err
		}
	}
	return c.reportRows("select id from push p where owner <> 0 and not exists (select from account a where a.id = p.owner)", func(id []byte) {
		c.notef("push %s: its owner does not exist", idOf(id))
	})
}

// accountIDs has the IDs of all accounts, even of damaged rows.
func (c *checker) accountIDs() (map[record.AccountID]bool, error) {
	all := make(map[record.AccountID]bool)
	err := eachRow(c, "select id from account", func(r pgx.Rows) error {
		var id int64
		err := r.Scan(&id)
		all[record.AccountID(id)] = true
		return err
	})
	return all, err
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

// events walks the chain of the instance log, and reports events that are missing or were changed,
// and assigned numbers that are higher than those in the head.
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
	if err := c.numbers(h); err != nil {
		return err
	}
	w := record.NewLogWalk(h.LogHead, c.report)
	err := eachRow(c, "select number, value from event order by number", func(r pgx.Rows) error {
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

// numbers reports an assigned number that is higher than the head says.
func (c *checker) numbers(h head) error {
	for _, of := range record.Numbered() {
		var last uint64
		if err := c.tx.QueryRow(c.ctx, "select coalesce(max(id), 0) from "+layouts[of].name).Scan(&last); err != nil {
			return err
		}
		if last > h.numbers[of] {
			c.notef("head: its numbers do not follow the last ones")
			return nil
		}
	}
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

// roomName returns the same name for all rows that are added up.
func roomName(key []byte) string {
	if len(key) > 0 && key[0] == roomOfAnonymous {
		key = key[:1]
	}
	return string(key)
}

// checkRooms reports rows of room that differ from the room of the pushes.
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
			c.notef("room: a sender has %d pushes of %d bytes, but a row counts %d of %d", want.Pushes, want.Bytes, is.Pushes, is.Bytes)
		}
		delete(c.rooms, of)
	}
	if len(c.rooms) > 0 {
		c.notef("room: %d senders have pushes, but no row counts them", len(c.rooms))
	}
	return nil
}
