package bolt

import (
	"context"
	"errors"
	"time"

	"pushbox/internal/limit"

	"pushbox/internal/durable"
	"pushbox/store/record"
)

// quotaWeight is about how many bytes a quota takes.
const quotaWeight = 64

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
		if err := t.tables().Put(record.Messages.Table, m); err != nil {
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
	counts := make([]record.QuotaCount, len(qs))
	for i, q := range qs {
		now, err := record.Quotas.Get(t.tables(), q.Key())
		if err != nil && !errors.Is(err, record.ErrNotFound) {
			return err
		}
		now.To, now.Of = q.To, q.Of
		if now.Day, now.N, err = q.Count(now.Day, now.N); err != nil {
			return err
		}
		counts[i] = now
	}
	for _, now := range counts {
		if err := t.tables().Put(record.Quotas.Table, now); err != nil {
			return err
		}
	}
	return nil
}

// Tries implements record.TallyEngine.
func (db *DB) Tries(ctx context.Context, turn limit.Turn, at time.Time, ts []limit.Tally) ([]limit.Standing, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return db.tallies.Do(turn, at, ts), nil
}
