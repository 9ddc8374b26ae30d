// Package cold changes accounts, sessions, API tokens, webhooks, requests, waiting messages and the
// instance log: each function is one atomic, linearizable step over the tables of an engine,
// durable when it returns nil, with the errors of record.Engine beside those that it names. Package
// store decides who may make a change, and seals the records.
//
// Functions that take an AdminEvent append it to the instance log in the same step, with the
// numbers that they assign.
package cold

import (
	"context"
	"errors"

	"pushbox/store/record"
)

// recordWeight is the approximate size of a record without its sealed parts, in bytes.
const recordWeight = 512

// read returns the result of look.
func read[T any](ctx context.Context, e record.TableEngine, look func(record.View) (T, error)) (v T, err error) {
	err = e.View(ctx, func(view record.View) (err error) {
		v, err = look(view)
		return err
	})
	if err != nil {
		return *new(T), err
	}
	return v, nil
}

// update returns the result of change, which is zero after an error.
func update[T any](ctx context.Context, e record.TableEngine, change func(record.Tx) (T, error)) (v T, err error) {
	err = e.Update(ctx, func(t record.Tx) (err error) {
		v, err = change(t)
		return err
	})
	if err != nil {
		return *new(T), err
	}
	return v, nil
}

// touch changes a record if it still exists.
func touch[R record.Record](ctx context.Context, e record.TableEngine, of record.Rows[R], key []byte, change func(*R)) error {
	_, err := e.Touch(ctx, of.Table, [][]byte{key}, func(found record.Record) (record.Record, error) {
		r := found.(R)
		change(&r)
		return r, nil
	})
	return err
}

// clearOver reads the records of a range, and removes those that are over. It returns the last
// record that it read, nil if there was none, and whether there may be more.
func clearOver[R record.Record](ctx context.Context, e record.TableEngine, of record.Rows[R], r record.Range, over func(R) bool) (last *R, more bool, err error) {
	looked, err := read(ctx, e, func(v record.View) ([]R, error) { return of.List(v, r) })
	if err != nil || len(looked) == 0 {
		return nil, false, err
	}
	var gone [][]byte
	for _, one := range looked {
		if over(one) {
			gone = append(gone, one.Key())
		}
	}
	if len(gone) > 0 {
		_, err = e.Touch(ctx, of.Table, gone, func(found record.Record) (record.Record, error) {
			if over(found.(R)) { // the record may have changed meanwhile
				return nil, nil
			}
			return found, nil
		})
	}
	return &looked[len(looked)-1], len(looked) == r.Limit, err
}

// forgetBatch is how many records one step of Forget removes.
const forgetBatch = 1000

// Forget removes all sessions and all messages, in several steps: a restored backup must not bring
// them back.
func Forget(ctx context.Context, e record.TableEngine) error {
	return errors.Join(clearAll(ctx, e, record.Sessions), clearAll(ctx, e, record.Messages))
}

func clearAll[R record.Record](ctx context.Context, e record.TableEngine, of record.Rows[R]) (err error) {
	for more := true; more && err == nil; {
		_, more, err = clearOver(ctx, e, of, record.Range{Limit: forgetBatch}, func(R) bool { return true })
	}
	return err
}

// found reports whether a record was found, from the error of the search.
func found(err error) (bool, error) {
	if errors.Is(err, record.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// wantNone returns ErrExists if a record was found, from the error of the search.
func wantNone(err error) error {
	there, err := found(err)
	if there {
		err = record.ErrExists
	}
	return err
}

// withOwner returns the record under a key and the account that it belongs to, or ErrNotFound.
func withOwner[R record.Record](ctx context.Context, e record.TableEngine, of record.Rows[R], key []byte) (r R, owner record.Account, err error) {
	owner, err = read(ctx, e, func(v record.View) (_ record.Account, err error) {
		if r, err = of.Get(v, key); err != nil {
			return record.Account{}, err
		}
		return account(v, r.Belongs())
	})
	if err != nil {
		return *new(R), record.Account{}, err
	}
	return r, owner, nil
}
