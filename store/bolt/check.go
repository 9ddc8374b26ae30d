package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.etcd.io/bbolt"

	"pushbox/store/bolt/page"
	"pushbox/store/record"
)

// A checker looks for problems in one transaction.
type checker struct {
	*tx
	ctx    context.Context
	report func(string)
	// strays are pushes with an index row that they should not have.
	strays map[record.ID]bool
	rooms  rooms // that pushes take
}

// Check reads everything in one read transaction and reports problems. Commits wait while bbolt
// checks its pages, and continue while the rows are checked.
func (db *DB) Check(ctx context.Context, report func(problem string)) error {
	if err := db.admit(ctx); err != nil {
		return err
	}
	db.writing.Lock()
	unlock := sync.OnceFunc(db.writing.Unlock)
	defer unlock()
	return db.view(ctx, func(t *tx) error {
		c := &checker{tx: t, ctx: ctx, report: report, strays: make(map[record.ID]bool), rooms: make(rooms)}
		err := guard(func() error {
			if sound, err := c.pages(); err != nil || !sound {
				return err
			}
			unlock()
			if err := c.loadJournal(); err != nil {
				return err
			}
			return c.rows()
		})
		// A check looks for damage, so damage does not fail the store.
		if d := (*damageError)(nil); errors.As(err, &d) {
			report(d.Error())
			return nil
		}
		return err
	})
}

func (c *checker) notef(format string, args ...any) { c.report(fmt.Sprintf(format, args...)) }

// pages runs bbolt's own check, but first looks for damage that would make that check end the
// process.
func (c *checker) pages() (sound bool, err error) {
	defer c.releaseOften()()
	if _, err := page.Verify(c.bolt, true); err != nil {
		c.report("page structure: " + err.Error())
		return false, nil
	}
	for err := range c.bolt.Check(bbolt.WithKVStringer(lengthOnly{})) {
		if c.ctx.Err() == nil { // otherwise only wait for bbolt to end
			c.report("page structure: " + err.Error())
		}
	}
	return true, c.ctx.Err()
}

// unmapPause is how long bbolt's check may read before the mapping is released. It reads some
// gigabytes a second, so memory stays small unless the machine is too busy to release it in time.
const unmapPause = 2 * time.Millisecond

// releaseOften releases the mapping repeatedly until the caller calls stop.
func (c *checker) releaseOften() (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		t := time.NewTicker(unmapPause)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				c.dropMapped()
			case <-done:
				c.dropMapped()
				return
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

// lengthOnly removes keys, such as addresses, from the reports of bbolt.
type lengthOnly struct{}

func (lengthOnly) KeyToString(b []byte) string   { return fmt.Sprintf("(%d bytes)", len(b)) }
func (lengthOnly) ValueToString(b []byte) string { return fmt.Sprintf("(%d bytes)", len(b)) }

// each calls fn with every row of a bucket, except rows that pushbox did not write, and rows that
// lead to such a row: tags reports those.
func (c *checker) each(b bucket, fn func(k, v []byte) error) error {
	cur := c.stored(b)
	for k, stored := cur.First(); k != nil; k, stored = cur.Next() {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		if err := readable(func() error { return fn(k, c.value(b, k, stored)) }); err != nil {
			return err
		}
		c.noteRead(len(k) + len(stored))
	}
	return c.ctx.Err()
}

// loadJournal loads the journal as the checker's transaction sees it.
func (c *checker) loadJournal() error {
	var g *generation
	err := func() (err error) {
		defer catchUnreadable(&err)
		g, _, _, err = c.tx.readJournal()
		return err
	}()
	c.overlay = overlay{}
	switch {
	case errors.Is(err, record.ErrCorrupt):
		c.notef("%v", err)
		return nil
	case err == nil:
		c.overlay.current = g
	}
	return err
}

func (c *checker) rows() error {
	for _, step := range []func() error{
		c.buckets, c.tags, c.findStrays, c.pushes, c.checkRooms, c.orphans, c.chunks, c.grants, c.records, c.events,
	} {
		if err := readable(step); err != nil {
			return err
		}
	}
	return nil
}

// buckets reports buckets that pushbox did not make: no other step reads them.
func (c *checker) buckets() error {
	return c.tx.bolt.ForEach(func(name []byte, _ *bbolt.Bucket) error {
		if !slices.ContainsFunc(bucketNames[:], func(own []byte) bool { return bytes.Equal(own, name) }) {
			c.notef("a bucket named %.40q does not belong to pushbox", name)
		}
		return nil
	})
}

// findStrays looks for index rows that do not belong to their push. orphans reports rows whose push
// does not exist.
func (c *checker) findStrays() error {
	for b, row := range map[bucket]func(record.Push) []byte{owners: ownerRow, expiry: expiryRow} {
		err := c.each(b, func(k, _ []byte) error {
			if len(k) < idLen {
				return nil
			}
			p, err := c.inPlace(lastID(k))
			if err == nil && string(row(p)) != string(k) {
				c.strays[p.ID] = true
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) pushes() error {
	return c.each(pushes, func(k, v []byte) error {
		if len(k) != idLen {
			c.notef("a push has a key of %d bytes", len(k))
			return nil
		}
		p, err := c.decodePush(record.ID(k), v)
		if err != nil {
			c.notef("push %s: its record is malformed", record.ID(k))
			return nil
		}
		c.rooms.add(p)
		stored, err := c.inPlace(p.ID)
		if err != nil {
			return err
		}
		t, err := c.tally(p, stored)
		if err != nil {
			return err
		}
		for _, problem := range p.Problems(t) {
			c.notef("push %s: %s", p.ID, problem)
		}
		return nil
	})
}

// tally counts the rows of a push beside its record. Index rows and payload are those of the stored
// push until the journal is folded.
func (c *checker) tally(p, stored record.Push) (record.Tally, error) {
	t := record.Tally{
		Payload:  c.hasPrefix(payloads, p.ID[:]) && p.Live() == stored.Live(),
		Numbered: true,
		Indexed: !c.strays[p.ID] && c.has(expiry, expiryRow(stored)) && (p.Owner == 0 || c.has(owners, ownerRow(stored))) &&
			c.endIndexed(p),
	}
	if err := c.tallyFiles(p.ID, &t); err != nil {
		return t, err
	}
	cur := c.cursor(audit)
	for k, v := cur.Seek(p.ID[:]); len(k) == auditLen && record.ID(k[:idLen]) == p.ID; k, v = cur.Next() {
		if err := c.ctx.Err(); err != nil {
			return t, err
		}
		t.Numbered = t.Numbered && binary.BigEndian.Uint32(k[idLen:]) == t.Entries
		var e record.Entry
		if decode(&e, audit, v) != nil {
			c.notef("push %s: an audit entry is malformed", p.ID)
			t.Entries++
			continue
		}
		tallyEntry(&t, e)
	}
	err := c.pendingEntries(p.ID, t.Entries, func(e record.Entry) bool {
		tallyEntry(&t, e)
		return true
	})
	if err != nil {
		c.notef("push %s: an audit entry in the journal is malformed", p.ID)
	}
	return t, nil
}

// endIndexed reports whether a push that has ended in the journal has the right index rows there.
func (c *checker) endIndexed(p record.Push) bool {
	d, ok, err := c.overlay.last(p.ID)
	if err != nil || !ok || !d.ended() {
		return err == nil
	}
	e := newEnded(p.ID, d)
	return bytes.Equal(e.owner, ownerRow(p)) && bytes.Equal(e.expiry, expiryRow(p))
}

func tallyEntry(t *record.Tally, e record.Entry) {
	t.Entries++
	if e.Kind == record.EntryView {
		t.Views++
	}
	if e.Kind.Minor() {
		t.Minor++
	}
}
