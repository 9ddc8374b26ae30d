package cold

import (
	"cmp"
	"context"
	"math"

	"pushbox/store/record"
)

// CreateRequest stores a new request. ErrExists if the ID is in use; ErrToken if its owner is not
// an account that may act; ErrRequests if that has MaxRequests live requests at this one's
// creation; ErrFull; for its mail, nil for none, the errors of MailBatch.Plan.
func CreateRequest(ctx context.Context, e record.TableEngine, r record.Request, mail *record.MailBatch) error {
	return e.Update(ctx, func(t record.Tx) error {
		_, err := record.Requests.Get(t, r.Key())
		if err := wantNone(err); err != nil {
			return err
		}
		if err := record.MayOwn(t, r.Owner); err != nil {
			return err
		}
		if err := mayAsk(t, r); err != nil {
			return err
		}
		if err := t.Reserve(recordWeight + len(r.Sealed)); err != nil {
			return err
		}
		if _, err := record.Send(t, mail); err != nil {
			return err
		}
		return t.Put(record.Requests.Table, r)
	})
}

// mayAsk refuses a request of an account that has as many live ones as it may have.
func mayAsk(v record.View, r record.Request) error {
	others, err := record.Requests.List(v, record.Range{By: record.RequestsByOwner, Prefix: record.OwnedRequests(r.Owner, true), Limit: math.MaxInt})
	live := 0
	for _, o := range others {
		if o.Live(r.CreatedAt) {
			live++
		}
	}
	if err == nil && live >= record.MaxRequests {
		err = record.ErrRequests
	}
	return err
}

// Request returns ErrNotFound if there is none.
func Request(ctx context.Context, e record.TableEngine, id record.RequestID) (record.Request, error) {
	return read(ctx, e, func(v record.View) (record.Request, error) { return record.Requests.Get(v, id[:]) })
}

// Requests lists an account's requests: first those without a time of their end, then the others,
// newest first; from the first after the given one, which may be gone. Of that one, only the ID and
// whether it has such a time count.
func Requests(ctx context.Context, e record.TableEngine, owner record.AccountID, after record.Request, skip, limit int) ([]record.Request, error) {
	r, _ := record.Requests.Table.Owned(owner, limit)
	r.Skip, r.Reverse = skip, true
	if after.ID != (record.RequestID{}) {
		after.Owner = owner
		r.After = record.RequestsByOwner.Keys(after)[0]
	}
	return read(ctx, e, func(v record.View) ([]record.Request, error) { return record.Requests.List(v, r) })
}

// ScanRequests lists requests of all accounts by ID, from the first after the given one.
func ScanRequests(ctx context.Context, e record.TableEngine, after record.RequestID, limit int) ([]record.Request, error) {
	return read(ctx, e, func(v record.View) ([]record.Request, error) {
		return record.Requests.List(v, record.Range{After: after[:], Limit: limit})
	})
}

// ChangeRequest applies r, and returns the changed request or, if it is removed, its last state.
// ErrNotFound if there is none. An error of r is returned as it is, and nothing was changed.
func ChangeRequest(ctx context.Context, e record.TableEngine, id record.RequestID, rule record.RequestRule) (r record.Request, err error) {
	n, err := e.Touch(ctx, record.Requests.Table, [][]byte{id[:]}, func(found record.Record) (record.Record, error) {
		old := found.(record.Request)
		var gone bool
		var ruleErr error
		if err := record.CatchPanic(func() { r, gone, ruleErr = rule(old) }); err != nil || ruleErr != nil {
			return nil, cmp.Or(err, ruleErr)
		}
		if r.ID = id; gone {
			r = old
			return nil, nil
		}
		return r, nil
	})
	if err == nil && n == 0 {
		err = record.ErrNotFound
	}
	if err != nil {
		return record.Request{}, err
	}
	return r, nil
}
