package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"pushbox/internal/limit"

	"pushbox/internal/durable"
	"pushbox/store/record"
)

const (
	// quotaLen is the length of a quota's row.
	quotaLen = 8 + 8
	// quotaWeight is about how many bytes a quota takes.
	quotaWeight = 64
)

// putOrLeaveMail is putMail that leaves out optional mail where it would fail the step,
// and returns what it put.
func (t *tx) putOrLeaveMail(p *record.MailBatch, l limits) (*record.MailBatch, error) {
	err := t.putMail(p, l)
	if err == nil {
		return p, nil
	}
	refused := errors.Is(err, record.ErrFull) || errors.Is(err, record.ErrQuota) || errors.Is(err, record.ErrUnconfirmed) || errors.Is(err, record.ErrToken)
	if p.Optional && refused { // putMail had written nothing
		return nil, nil
	}
	return nil, err
}

// putMail adds mail to the outbox and counts it against its quotas: all of it, or the
// step fails.
func (t *tx) putMail(p *record.MailBatch, l limits) error {
	if p == nil {
		return nil
	}
	if err := t.maySend(p.Sender); err != nil {
		return err
	}
	size := quotaWeight * len(p.Quotas)
	for _, m := range p.Messages {
		size += messageWeight + len(m.Sealed)
	}
	if err := t.reserve(size, l, durable.FreeSpace); err != nil {
		return err
	}
	if err := t.countQuotas(p.Quotas); err != nil {
		return err
	}
	for _, m := range p.Messages {
		n, err := t.nextID(outbox)
		if err != nil {
			return err
		}
		m.Number = n
		if err := t.putMessage(m); err != nil {
			return err
		}
	}
	return nil
}

// maySend refuses mail of an account that may not act, or whose address is not confirmed.
func (t *tx) maySend(sender record.AccountID) error {
	if err := t.mayOwn(sender); err != nil || sender == 0 {
		return err
	}
	a, err := t.account(sender)
	if err == nil && a.Unconfirmed {
		err = record.ErrUnconfirmed
	}
	return err
}

// countQuotas counts against quotas, or refuses where one of them would be exceeded.
func (t *tx) countQuotas(qs []record.Quota) error {
	rows := make([][]byte, len(qs))
	for i, q := range qs {
		day, n, err := t.quota(q.Key())
		if err != nil {
			return err
		}
		if day, n, err = q.Count(day, n); err != nil {
			return err
		}
		rows[i] = binary.BigEndian.AppendUint64(uint64Key(day), n)
	}
	for i, q := range qs {
		if err := t.put(quotas, q.Key(), rows[i]); err != nil {
			return err
		}
	}
	return nil
}

// quota returns the last day on which something was counted, and how much.
func (t *tx) quota(key []byte) (day, n uint64, err error) {
	v := t.get(quotas, key)
	if v == nil {
		return 0, 0, nil
	}
	return readQuota(v)
}

func readQuota(v []byte) (day, n uint64, err error) {
	if len(v) != quotaLen {
		return 0, 0, fmt.Errorf("%w: %s: a record of %d bytes", record.ErrCorrupt, quotas, len(v))
	}
	return binary.BigEndian.Uint64(v), binary.BigEndian.Uint64(v[8:]), nil
}

// ClearQuotas removes counts of mail to addresses that are from days before a day.
func (db *DB) ClearQuotas(ctx context.Context, after record.Addressee, limit int, day uint64) (last record.Addressee, more bool, err error) {
	err = db.do(ctx, 0, func(t *tx) error {
		var old [][]byte
		n, prefix := 0, after.Key()[:1]
		c := t.cursor(quotas)
		last = after
		for k, v := c.Seek(append(after.Key(), 0)); bytes.HasPrefix(k, prefix) && n < limit; k, v = c.Next() {
			of, _, err := readQuota(v)
			if err != nil {
				return err
			}
			q, ok := record.QuotaOfKey(k)
			if !ok {
				return fmt.Errorf("%w: %s: a key of %d bytes", record.ErrCorrupt, quotas, len(k))
			}
			if n++; of < day {
				old = append(old, bytes.Clone(k))
			}
			last = q.To
		}
		more = n == limit
		for _, k := range old {
			if err := t.delete(quotas, k); err != nil {
				return err
			}
		}
		return nil
	})
	return last, more, err
}

// quotas reports quotas of no account.
func (c *checker) quotas() error {
	return c.each(quotas, func(k, v []byte) error {
		q, ok := record.QuotaOfKey(k)
		_, _, err := readQuota(v)
		switch {
		case !ok:
			c.notef("quotas: a key of %d bytes instead of 8", len(k))
		case err != nil:
			c.notef("quotas: a record is malformed")
		case q.Whose() == record.QuotaOfAccount && !c.has(accounts, k):
			c.notef("quota of account %d: it does not exist", q.Of)
		}
		return nil
	})
}

// Tries implements record.TallyEngine.
func (db *DB) Tries(ctx context.Context, at time.Time, ts []limit.Tally) ([]limit.Standing, error) {
	return db.tallied(ctx, db.tallies.Look, at, ts)
}

// CountTry implements record.TallyEngine.
func (db *DB) CountTry(ctx context.Context, at time.Time, ts []limit.Tally) ([]limit.Standing, error) {
	return db.tallied(ctx, db.tallies.Count, at, ts)
}

// UncountTry implements record.TallyEngine.
func (db *DB) UncountTry(ctx context.Context, at time.Time, ts []limit.Tally) error {
	_, err := db.tallied(ctx, func(at time.Time, ts []limit.Tally) []limit.Standing {
		db.tallies.Uncount(at, ts)
		return nil
	}, at, ts)
	return err
}

func (db *DB) tallied(ctx context.Context, do func(time.Time, []limit.Tally) []limit.Standing, at time.Time, ts []limit.Tally) ([]limit.Standing, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return do(at, ts), nil
}
