package store

import (
	"context"

	"pushbox/store/record"
)

// An Observer learns of each event of a push once the event is durable, but not which
// push it is. Many goroutines call it at the same time, so it must be quick.
type Observer interface {
	// Created reports a new push.
	Created(k record.Kind)
	// Viewed reports a view that was counted.
	Viewed()
	// Ended reports a push that is no longer live.
	Ended(c Cause)
	// PassphraseFailed reports a wrong passphrase.
	PassphraseFailed()
	// Compacted reports how a compaction ended; ErrBusy if it was put off.
	Compacted(err error)
}

// Observed returns an engine that reports the changes of e to o.
func Observed(e record.Engine, o Observer) record.Engine { return observed{e, o} }

type observed struct {
	record.Engine
	observer Observer
}

// CreatePush is that of the engine.
func (e observed) CreatePush(ctx context.Context, p record.Push, payload []byte, first record.Entry) error {
	err := e.Engine.CreatePush(ctx, p, payload, first)
	if err == nil {
		e.observer.Created(p.Kind)
	}
	return err
}

// AnswerRequest is that of the engine.
func (e observed) AnswerRequest(ctx context.Context, p record.Push, payload []byte, first record.Entry) (record.Entry, error) {
	kept, err := e.Engine.AnswerRequest(ctx, p, payload, first)
	if err == nil {
		e.observer.Created(p.Kind)
	}
	return kept, err
}

// Change is that of the engine.
func (e observed) Change(ctx context.Context, id record.ID, r record.Rule) (record.Change, error) {
	var was record.Push
	c, err := e.Engine.Change(ctx, id, func(p record.Push) (record.Push, record.Entry, error) {
		was = p // the last run counts
		return r(p)
	})
	if err == nil {
		e.tell(was, c)
	}
	return c, err
}

func (e observed) tell(was record.Push, c record.Change) {
	switch c.Entry.Kind {
	case record.EntryView:
		e.observer.Viewed()
	case record.EntryFailedPassphrase, record.EntryFreeze:
		e.observer.PassphraseFailed()
	}
	if was.Live() && !c.Push.Live() {
		e.observer.Ended(causeOf(was, c.Push))
	}
}

// Compact is that of the engine.
func (e observed) Compact(ctx context.Context, progress func(done, total int64)) error {
	err := e.Engine.Compact(ctx, progress)
	e.observer.Compacted(err)
	return err
}
