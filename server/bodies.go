package server

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

const (
	smallBody    = 64 << 10        // bytes; bodies of so much are not counted
	uploadMemory = 640 << 10       // bytes that it takes to read a file and to keep it, where many do that
	bodyWait     = 5 * time.Second // for memory that others have
)

// bodies bounds the memory that large request bodies take, all together, and large
// pages.
type bodies struct {
	memory *semaphore.Weighted
	all    int64        // that they may have all together
	taken  atomic.Int64 // that they have
}

func newBodies(memory int64) *bodies {
	return &bodies{memory: semaphore.NewWeighted(memory), all: memory}
}

// A share is the memory that one body has.
type share struct {
	of   *bodies
	ctx  context.Context // of the request: ends a wait
	held int64
}

// enter gives a request's body a share, of nothing yet: what only says that it
// will be large keeps nobody out. Whoever enters calls done.
func (b *bodies) enter(r *request) *share { return &share{of: b, ctx: r.Context()} }

// hold changes how much memory the body has to n bytes: it waits for more, and
// gives back what is over. errCrowded if there is none for a while; bodies that
// have some and wait for each other end so, too.
func (s *share) hold(n int64) error {
	n = min(n, s.of.all)
	if n > s.held {
		ctx, cancel := context.WithTimeout(s.ctx, bodyWait)
		defer cancel()
		if s.of.memory.Acquire(ctx, n-s.held) != nil {
			return errCrowded
		}
		s.of.taken.Add(n - s.held)
		s.held = n
	} else {
		s.keep(n)
	}
	return nil
}

// keep gives back what is more than n bytes.
func (s *share) keep(n int64) {
	if n < s.held {
		s.of.memory.Release(s.held - n)
		s.of.taken.Add(n - s.held)
		s.held = n
	}
}

const (
	// smallAnswer is what the kernel takes of an answer, in bytes, though nobody
	// reads it: the handler is done with it.
	smallAnswer = 16 << 10

	// payloadGrows is how many times as long as its payload is what it takes to make
	// the JSON of a push, which has six bytes for a control character.
	payloadGrows = 8
)

// roomFor holds the memory for an answer that opens a push, which is so many times as
// long as the payload. errCrowded.
func (s *Server) roomFor(r *request, grows int64) func(payload int64) error {
	return func(payload int64) error {
		if grows*payload <= smallAnswer {
			return nil
		}
		r.memory = *s.reveals.enter(r)
		return r.memory.hold(grows * payload)
	}
}

// done gives all of it back.
func (s *share) done() { s.keep(0) }
