package record

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
)

// The approximate size of a message and a count without their sealed parts, in bytes.
const (
	messageWeight = 64
	countWeight   = 64
)

// MayOwn returns ErrToken unless owner is an account that may act, or 0.
func MayOwn(v View, owner AccountID) error {
	if owner == 0 {
		return nil
	}
	_, err := actor(v, owner)
	return err
}

func actor(v View, id AccountID) (Account, error) {
	a, err := Accounts.Get(v, NumberKey(uint64(id)))
	if errors.Is(err, ErrNotFound) || err == nil && !a.Active() {
		err = ErrToken
	}
	return a, err
}

// Plan returns the batch that may be sent, and the new counts of its quotas by their keys. It
// writes nothing. ErrToken if the sender is not an account that may act, ErrUnconfirmed if its
// address is not confirmed, ErrFull if there is no space, a *QuotaError if a quota would be
// exceeded. For an optional batch these are no errors, but sent is nil.
func (b *MailBatch) Plan(t Tx) (sent *MailBatch, counts []QuotaCount, err error) {
	if b == nil {
		return nil, nil, nil
	}
	if err = b.mayBeSent(t); err == nil {
		counts, err = b.count(t)
	}
	refused := errors.Is(err, ErrFull) || errors.Is(err, ErrQuota) || errors.Is(err, ErrUnconfirmed) || errors.Is(err, ErrToken)
	switch {
	case b.Optional && refused:
		return nil, nil, nil
	case err != nil:
		return nil, nil, err
	default:
		return b, counts, nil
	}
}

func (b *MailBatch) mayBeSent(t Tx) error {
	if b.Sender != 0 {
		if a, err := actor(t, b.Sender); err != nil || a.Unconfirmed {
			return cmp.Or(err, ErrUnconfirmed)
		}
	}
	size := countWeight * len(b.Quotas)
	for _, m := range b.Messages {
		size += messageWeight + len(m.Sealed)
	}
	return t.Reserve(size)
}

// count returns the present counts plus the batch.
func (b *MailBatch) count(v View) ([]QuotaCount, error) {
	var keys [][]byte
	for _, q := range b.Quotas {
		keys = append(keys, q.Key())
	}
	found, err := Quotas.All(v, keys)
	if err != nil {
		return nil, err
	}
	var counts []QuotaCount
	for i, q := range b.Quotas {
		now := QuotaCount{To: q.To, Of: q.Of}
		if n := slices.IndexFunc(found, func(c QuotaCount) bool { return bytes.Equal(c.Key(), keys[i]) }); n >= 0 {
			now = found[n]
		}
		if now.Day, now.N, err = q.Count(now.Day, now.N); err != nil {
			return nil, err
		}
		counts = append(counts, now)
	}
	slices.SortFunc(counts, func(a, b QuotaCount) int { return bytes.Compare(a.Key(), b.Key()) })
	return counts, nil
}

// Send puts a batch into the outbox and counts it, or does neither. It returns the batch as it was
// sent; the errors are those of Plan.
func Send(t Tx, b *MailBatch) (*MailBatch, error) {
	sent, counts, err := b.Plan(t)
	if err != nil || sent == nil {
		return nil, err
	}
	for _, c := range counts {
		if err := t.Put(Quotas.Table, c); err != nil {
			return nil, err
		}
	}
	for _, m := range sent.Messages {
		if _, err := post(t, m); err != nil {
			return nil, err
		}
	}
	return sent, nil
}

// Post puts messages into the outbox as far as there is space, and returns those. It does not use
// the space that the limits reserve for views, expiry and deletes.
func Post(t Tx, all []Message) (kept []Message, err error) {
	for i, m := range all {
		if err := t.Reserve(messageWeight + len(m.Sealed)); err != nil {
			return all[:i], nil
		}
		if all[i], err = post(t, m); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func post(t Tx, m Message) (Message, error) {
	n, err := t.Next(Messages.Table)
	if err != nil {
		return m, err
	}
	m.Number = n
	return m, t.Put(Messages.Table, m)
}
