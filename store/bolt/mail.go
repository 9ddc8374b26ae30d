package bolt

import (
	"encoding/binary"
	"fmt"

	"pushbox/internal/durable"
	"pushbox/store"
)

// quotaLen is the length of a quota's row.
const quotaLen = 8 + 8

// putMail adds mail to the outbox and counts it against its quotas: all of it, or the
// step fails.
func (t *tx) putMail(p *store.MailBatch, l limits) error {
	if p == nil {
		return nil
	}
	size := 0
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

// countQuotas counts against quotas, or refuses where one of them would be exceeded.
func (t *tx) countQuotas(qs []store.Quota) error {
	rows := make([][]byte, len(qs))
	for i, q := range qs {
		day, n, err := t.quota(q.Of)
		if err != nil {
			return err
		}
		if day < q.Day {
			day, n = q.Day, 0
		}
		if n+q.Add > q.Most {
			return &store.QuotaError{Whole: q.Of == 0}
		}
		rows[i] = binary.BigEndian.AppendUint64(uint64Key(day), n+q.Add)
	}
	for i, q := range qs {
		if err := t.put(quotas, uint64Key(uint64(q.Of)), rows[i]); err != nil {
			return err
		}
	}
	return nil
}

// quota returns the last day on which something was counted, and how much.
func (t *tx) quota(of store.AccountID) (day, n uint64, err error) {
	v := t.get(quotas, uint64Key(uint64(of)))
	if v == nil {
		return 0, 0, nil
	}
	return readQuota(v)
}

func readQuota(v []byte) (day, n uint64, err error) {
	if len(v) != quotaLen {
		return 0, 0, fmt.Errorf("%w: %s: a record of %d bytes", store.ErrCorrupt, quotas, len(v))
	}
	return binary.BigEndian.Uint64(v), binary.BigEndian.Uint64(v[8:]), nil
}

// quotas reports quotas of no account.
func (c *checker) quotas() error {
	return c.each(quotas, func(k, v []byte) error {
		_, _, err := readQuota(v)
		switch {
		case len(k) != 8:
			c.notef("quotas: a key of %d bytes instead of 8", len(k))
		case err != nil:
			c.notef("quotas: a record is malformed")
		case binary.BigEndian.Uint64(k) != 0 && !c.has(accounts, k):
			c.notef("quota of account %d: it does not exist", binary.BigEndian.Uint64(k))
		}
		return nil
	})
}
