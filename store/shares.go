package store

import (
	"cmp"
	"context"
	"math"
	"sync"
	"time"
)

// Shares are how many messages wait for each webhook. They decide how the room of the
// outbox is divided, and nothing else.
type shares struct {
	mu   sync.Mutex
	held map[HookID]int64
}

// reserve takes room for a message to each of those webhooks that there is room for,
// and returns them. A webhook has no more of the outbox than it leaves to the others:
// so one whose receiver is gone takes half of it at most, and what happens to the
// pushes of one account keeps nobody else from being told.
func (o *outbox) reserve(to []HookID) (room []HookID) {
	o.shares.mu.Lock()
	defer o.shares.mu.Unlock()
	for _, id := range to {
		if o.shares.held[id] < o.most-o.waiting.Load() {
			o.shares.held[id]++
			o.waiting.Add(1)
			room = append(room, id)
		}
	}
	return room
}

// giveBack gives room back that was reserved.
func (o *outbox) giveBack(room []HookID) {
	o.shares.drop(room)
	o.release(len(room))
}

// drop takes a message off the share of each of those webhooks.
func (s *shares) drop(ids []HookID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		if s.held[id]--; s.held[id] <= 0 {
			delete(s.held, id)
		}
	}
}

// settleShares takes messages off the shares of their webhooks, of which n were there
// until now. Where that is not all, it counts anew: which of them had ended before
// nobody knows.
func (s *Store) settleShares(ctx context.Context, gone []Message, n int) error {
	if n < len(gone) {
		return s.countShares(context.WithoutCancel(ctx))
	}
	var ids []HookID
	for _, m := range gone {
		if m.Route == ByWebhook {
			ids = append(ids, HookID(m.To))
		}
	}
	s.outbox.shares.drop(ids)
	return nil
}

// countShares counts the messages in the outbox. Those that are being put there may
// be missing from it, which matters little.
func (s *Store) countShares(ctx context.Context) error {
	held := make(map[HookID]int64)
	var last Message
	_, _, err := s.engine.DueMessages(ctx, time.UnixMilli(math.MaxInt64), func(m Message) bool {
		if cmp.Or(m.NextAt.Compare(last.NextAt), cmp.Compare(m.Number, last.Number)) <= 0 {
			clear(held) // it begins again
		}
		if last = m; m.Route == ByWebhook {
			held[HookID(m.To)]++
		}
		return true
	}, 1)
	if err != nil {
		return err
	}
	s.outbox.shares.mu.Lock()
	defer s.outbox.shares.mu.Unlock()
	s.outbox.shares.held = held
	return nil
}
