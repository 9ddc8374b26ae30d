package main

import (
	"context"
	"sync/atomic"
	"time"
)

// A stock holds pushes for an operation that ends each push with one request. It is
// filled before each lap. What a lap leaves is used by the next.
type stock struct {
	create request
	tokens []string
	taken  atomic.Int64
	size   int // to which it is filled
}

const (
	firstStock = 1000 // pushes for the first lap, which does not count
	forEach    = 4    // pushes for each connection at least: its first request does not count
	spare      = 1.5  // times as many pushes as the fastest lap so far took
	maxStock   = 2_000_000
)

// take takes a push. It returns false when there is none left.
func (s *stock) take() (token string, ok bool) {
	i := s.taken.Add(1) - 1
	if i >= int64(len(s.tokens)) {
		return "", false
	}
	return s.tokens[i], true
}

// fill fills the stock for a lap.
func (s *stock) fill(ctx context.Context, of *subject, conns int, raw bool) error {
	s.size = max(s.size, firstStock, forEach*conns)
	s.tokens = s.tokens[min(int(s.taken.Swap(0)), len(s.tokens)):]
	missing := make([]string, max(s.size-len(s.tokens), 0))
	if err := of.store(ctx, raw, missing, s.create); err != nil {
		return err
	}
	s.tokens = append(missing, s.tokens...)
	return nil
}

// learn sets the size by a lap that was meant to have that length. A lap that ended
// early because the stock was empty says how many pushes a whole one takes.
func (s *stock) learn(l lap, length time.Duration) {
	s.size = max(s.size, min(int(l.rate()*length.Seconds()*spare), maxStock))
}
