package bolt

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.etcd.io/bbolt"

	"pushbox/store"
)

// A checker looks for what is wrong in one transaction.
type checker struct {
	*tx
	ctx    context.Context
	report func(string)
	// strays are pushes with an index row that they should not have.
	strays map[store.ID]bool
}

// Check reads everything in one read transaction and reports what is wrong.
// Changes wait while bbolt checks its pages, and go on while the rows are
// checked.
func (db *DB) Check(ctx context.Context, report func(problem string)) error {
	if err := db.admit(ctx); err != nil {
		return err
	}
	db.writing.Lock()
	unlock := sync.OnceFunc(db.writing.Unlock)
	defer unlock()
	return db.view(ctx, func(t *tx) error {
		c := &checker{tx: t, ctx: ctx, report: report, strays: make(map[store.ID]bool)}
		err := guard(func() error {
			if sound, err := c.pages(); err != nil || !sound {
				return err
			}
			unlock()
			if err := c.seeJournal(); err != nil {
				return err
			}
			return c.rows()
		})
		// Damage is what a check is to find, and no reason to stop the store.
		if d := (*damageError)(nil); errors.As(err, &d) {
			report(d.Error())
			return nil
		}
		return err
	})
}

func (c *checker) notef(format string, args ...any) { c.report(fmt.Sprintf(format, args...)) }

// pages has bbolt check its own structure, unless that is damaged in a way that
// would end the process there, and tells which.
func (c *checker) pages() (sound bool, err error) {
	defer c.keepUnmapped()()
	if _, err := lookAtTrees(c.bolt, true); err != nil {
		c.report("page structure: " + err.Error())
		return false, nil
	}
	for err := range c.bolt.Check(bbolt.WithKVStringer(lengthOnly{})) {
		if c.ctx.Err() == nil { // else only wait for bbolt to end
			c.report("page structure: " + err.Error())
		}
	}
	return true, c.ctx.Err()
}

// unmapPause is how long bbolt's check may read before the mapping is let go of.
// It reads some gigabytes a second, so this keeps memory small on a machine that
// has time for it, and not on one that has none.
const unmapPause = 2 * time.Millisecond

// keepUnmapped lets go of the mapping again and again, until stop is called.
func (c *checker) keepUnmapped() (stop func()) {
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

// lengthOnly keeps keys, such as addresses, out of what bbolt reports.
type lengthOnly struct{}

func (lengthOnly) KeyToString(b []byte) string   { return fmt.Sprintf("(%d bytes)", len(b)) }
func (lengthOnly) ValueToString(b []byte) string { return fmt.Sprintf("(%d bytes)", len(b)) }

// each calls fn with every row of a bucket.
func (c *checker) each(b bucket, fn func(k, v []byte) error) error {
	cur := c.cursor(b)
	for k, v := cur.First(); k != nil; k, v = cur.Next() {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		if err := fn(k, v); err != nil {
			return err
		}
		c.noteRead(len(k) + len(v))
	}
	return c.ctx.Err()
}

// seeJournal has the checker see what is in the journal of its own transaction.
func (c *checker) seeJournal() error {
	g, _, _, err := c.tx.readJournal()
	c.over = overlay{}
	switch {
	case errors.Is(err, store.ErrCorrupt):
		c.notef("%v", err)
		return nil
	case err == nil:
		c.over.current = g
	}
	return err
}

func (c *checker) rows() error {
	for _, step := range []func() error{
		c.findStrays, c.pushes, c.orphans, c.chunks, c.grants, c.accounts, c.emails, c.tokens, c.tokenIndexes, c.sessions, c.sessionIndex, c.hooks, c.messages, c.quotas,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// findStrays looks for index rows that are not those of their push. A row whose
// push does not exist is an orphan, and none of this.
func (c *checker) findStrays() error {
	for b, row := range map[bucket]func(store.Push) []byte{owners: ownerRow, expiry: expiryRow} {
		err := c.each(b, func(k, _ []byte) error {
			if len(k) < idLen {
				return nil
			}
			p, err := c.push(lastID(k))
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
		p, err := c.decodePush(store.ID(k), v)
		if err != nil {
			c.notef("push %s: its record is malformed", store.ID(k))
			return nil
		}
		t, err := c.tally(p)
		if err != nil {
			return err
		}
		for _, problem := range p.Problems(t) {
			c.notef("push %s: %s", p.ID, problem)
		}
		return nil
	})
}

// tally counts what there is of a push beside its record.
func (c *checker) tally(p store.Push) (store.Tally, error) {
	t := store.Tally{
		Payload:  c.hasPrefix(payloads, p.ID[:]),
		Numbered: true,
		Indexed:  !c.strays[p.ID] && c.has(expiry, expiryRow(p)) && (p.Owner == 0 || c.has(owners, ownerRow(p))),
	}
	if err := c.tallyFiles(p.ID, &t); err != nil {
		return t, err
	}
	cur := c.cursor(audit)
	for k, v := cur.Seek(p.ID[:]); len(k) == auditLen && store.ID(k[:idLen]) == p.ID; k, v = cur.Next() {
		if err := c.ctx.Err(); err != nil {
			return t, err
		}
		t.Numbered = t.Numbered && binary.BigEndian.Uint32(k[idLen:]) == t.Entries
		var e store.Entry
		if decode(&e, audit, v) != nil {
			c.notef("push %s: an audit entry is malformed", p.ID)
			t.Entries++
			continue
		}
		tallyEntry(&t, e)
	}
	err := c.pendingEntries(p.ID, t.Entries, func(e store.Entry) bool {
		tallyEntry(&t, e)
		return true
	})
	if err != nil {
		c.notef("push %s: an audit entry in the journal is malformed", p.ID)
	}
	return t, nil
}

func tallyEntry(t *store.Tally, e store.Entry) {
	t.Entries++
	if e.Kind == store.EntryView {
		t.Views++
	}
	if e.Kind.Minor() {
		t.Minor++
	}
}
