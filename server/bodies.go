package server

import (
	"context"
	"time"

	"golang.org/x/sync/semaphore"
)

const (
	smallBody = 64 << 10        // bytes; bodies of so much are not counted
	bodyWait  = 5 * time.Second // for memory that others have
)

// bodies bounds the memory that large request bodies take, all together.
type bodies struct {
	memory *semaphore.Weighted
	most   int64 // that one body may have
}

func newBodies(memory, most int64) *bodies {
	return &bodies{memory: semaphore.NewWeighted(memory), most: most}
}

// enter waits until there is memory for the request's body. errCrowded if there
// is none for a while. Whoever enters calls done.
func (b *bodies) enter(r *request) (done func(), err error) {
	size := r.ContentLength
	if size < 0 { // it does not say
		size = b.most
	}
	if size <= smallBody {
		return func() {}, nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), bodyWait)
	defer cancel()
	if b.memory.Acquire(ctx, size) != nil {
		return nil, errCrowded
	}
	return func() { b.memory.Release(size) }, nil
}
