package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"pushbox/internal/durable"
	"pushbox/store/record"
)

// requestWeight is about how many bytes a request takes beside its sealed part.
const requestWeight = 256

// requestRow is the key of a request's row in requestOwners.
func requestRow(r record.Request) []byte {
	return append(ownerPrefix(r.Owner, r.EndedAt.IsZero()), r.ID[:]...)
}

// CreateRequest keeps a new request.
func (db *DB) CreateRequest(ctx context.Context, r record.Request) error {
	size := requestWeight + len(r.Sealed)
	return db.do(ctx, size, func(t *tx) error {
		if t.has(requests, r.ID[:]) {
			return record.ErrExists
		}
		if err := t.mayOwn(r.Owner); err != nil {
			return err
		}
		if err := t.mayAsk(r); err != nil {
			return err
		}
		if err := t.reserve(size, *db.limits.Load(), durable.FreeSpace); err != nil {
			return err
		}
		return t.putRequest(nil, r)
	})
}

// mayAsk refuses a request of an account that has as many live ones as it may have.
func (t *tx) mayAsk(r record.Request) error {
	c, prefix, n := t.cursor(requestOwners), ownerPrefix(r.Owner, true), 0
	for k, _ := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, _ = c.Next() {
		other, err := t.requestOf(k)
		if err != nil {
			return err
		}
		if other.Live(r.CreatedAt) {
			n++
		}
	}
	if n >= record.MaxRequests {
		return record.ErrRequests
	}
	return nil
}

// AnswerRequest keeps a push that answers a request, and counts it there.
func (db *DB) AnswerRequest(ctx context.Context, p record.Push, payload []byte, e record.Entry) (kept record.Entry, err error) {
	err = db.create(ctx, p, payload, e, func(t *tx) error {
		old, err := t.request(p.Request)
		if err != nil {
			return err
		}
		r, err := old.Answer(p)
		if err != nil {
			return err
		}
		kept = e
		if kept.Mail, err = t.putOrLeaveMail(e.Mail, *db.limits.Load()); err != nil {
			return err
		}
		if kept.Messages, err = t.putMessages(e.Messages, *db.limits.Load()); err != nil {
			return err
		}
		return t.putRequest(&old, r)
	})
	if err != nil {
		return record.Entry{}, err
	}
	return kept, nil
}

// Request returns the request, or record.ErrNotFound.
func (db *DB) Request(ctx context.Context, id record.RequestID) (record.Request, error) {
	return viewed(ctx, db, func(t *tx) (record.Request, error) { return t.request(id) })
}

// Requests lists an account's requests: first those without a time of their end, newest
// first.
func (db *DB) Requests(ctx context.Context, owner record.AccountID, behind record.Request, skip, limit int) ([]record.Request, error) {
	return viewed(ctx, db, func(t *tx) (list []record.Request, err error) {
		c, prefix := t.cursor(requestOwners), uint64Key(uint64(owner))
		end := after(prefix)
		if behind.ID != (record.RequestID{}) {
			behind.Owner = owner
			end = requestRow(behind)
		}
		k, _ := c.Last()
		if end != nil {
			if k, _ = c.Seek(end); k == nil {
				k, _ = c.Last()
			} else {
				k, _ = c.Prev()
			}
		}
		for ; bytes.HasPrefix(k, prefix) && len(list) < limit; k, _ = c.Prev() {
			if skip > 0 {
				skip--
				continue
			}
			r, err := t.requestOf(k)
			if err != nil {
				return nil, err
			}
			list = append(list, r)
		}
		return list, nil
	})
}

// ScanRequests lists requests by ID, from the first after the given one.
func (db *DB) ScanRequests(ctx context.Context, after record.RequestID, limit int) ([]record.Request, error) {
	return viewed(ctx, db, func(t *tx) (list []record.Request, err error) {
		c := t.cursor(requests)
		for k, v := c.Seek(append(after[:], 0)); k != nil && len(list) < limit; k, v = c.Next() {
			r, err := readRequest(k, v)
			if err != nil {
				return nil, err
			}
			list = append(list, r)
		}
		return list, nil
	})
}

// ChangeRequest applies a rule to the request, which it returns.
func (db *DB) ChangeRequest(ctx context.Context, id record.RequestID, rule record.RequestRule) (record.Request, error) {
	return changed(ctx, db, func(t *tx) (r record.Request, err error) {
		old, err := t.request(id)
		if err != nil {
			return r, err
		}
		var gone bool
		var ruleErr error
		if err := record.CatchPanic(func() { r, gone, ruleErr = rule(old) }); err != nil || ruleErr != nil {
			return r, errors.Join(err, ruleErr)
		}
		if gone {
			return old, t.removeRequest(old)
		}
		r.ID = id
		return r, t.putRequest(&old, r)
	})
}

// putRequest writes a request, and its row in the index. old is the one that it replaces.
func (t *tx) putRequest(old *record.Request, r record.Request) error {
	var row []byte
	if old != nil {
		row = requestRow(*old)
	}
	if err := t.move(requestOwners, row, requestRow(r)); err != nil {
		return err
	}
	return putRecord(t, requests, bytes.Clone(r.ID[:]), r)
}

func (t *tx) removeRequest(r record.Request) error {
	if err := t.delete(requestOwners, requestRow(r)); err != nil {
		return err
	}
	return t.delete(requests, r.ID[:])
}

// removeRequestRow removes the request of a row in requestOwners, with that row.
func (t *tx) removeRequestRow(row, _ []byte) error {
	if len(row) != ownerLen {
		return fmt.Errorf("%w: %s: a key of %d bytes", record.ErrCorrupt, requestOwners, len(row))
	}
	row = bytes.Clone(row)
	if err := t.delete(requestOwners, row); err != nil {
		return err
	}
	return t.delete(requests, row[ownerLen-idLen:])
}

func (t *tx) request(id record.RequestID) (record.Request, error) {
	r := record.Request{ID: id}
	err := t.find(requests, id[:], &r)
	return r, err
}

// requestOf returns the request of a row in requestOwners.
func (t *tx) requestOf(row []byte) (record.Request, error) {
	if len(row) == ownerLen {
		r, err := t.request(record.RequestID(lastID(row)))
		if err == nil && bytes.Equal(requestRow(r), row) {
			return r, nil
		}
		if err != nil && !errors.Is(err, record.ErrNotFound) {
			return r, err
		}
	}
	return record.Request{}, fmt.Errorf("%w: %s: a row leads to no request of that account", record.ErrCorrupt, requestOwners)
}

func readRequest(k, v []byte) (record.Request, error) {
	if len(k) != idLen {
		return record.Request{}, fmt.Errorf("%w: %s: a key of %d bytes", record.ErrCorrupt, requests, len(k))
	}
	r := record.Request{ID: record.RequestID(k)}
	err := decode(&r, requests, v)
	return r, err
}

// requests reports requests that are not in the index, or of no account.
func (c *checker) requests() error {
	return c.each(requests, func(k, v []byte) error {
		r, err := readRequest(k, v)
		switch {
		case len(k) != idLen:
			c.notef("requests: a key of %d bytes instead of %d", len(k), idLen)
		case err != nil:
			c.notef("requests: a record is malformed")
		case !c.has(accounts, uint64Key(uint64(r.Owner))):
			c.notef("request %s: account %d, its owner, does not exist", r.ID, r.Owner)
		case !c.has(requestOwners, requestRow(r)):
			c.notef("request %s: its owner does not lead to it", r.ID)
		}
		return nil
	})
}

// requestIndex reports index rows that do not belong to their request.
func (c *checker) requestIndex() error {
	return c.each(requestOwners, func(k, _ []byte) error {
		if _, err := c.requestOf(k); errors.Is(err, record.ErrCorrupt) {
			c.notef("request_owners: a row leads to a request that does not have it")
		}
		return nil
	})
}
