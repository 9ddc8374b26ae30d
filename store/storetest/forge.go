package storetest

import (
	"context"
	"sync/atomic"

	"pushbox/store/record"
)

// A Forgery damages what the store reads of files.
type Forgery struct {
	Take  func(file, n int) (int, int)     // returns which chunk is read instead; nil: the one asked for
	Spoil func(file, n int, sealed []byte) // changes what was read; may be nil
}

// Forge damages what is read of files from now on; nil ends that.
func (f *Fixture) Forge(x *Forgery) { f.forgery.Store(x) }

// A forger is an engine whose files may be damaged.
type forger struct {
	record.Engine
	forgery *atomic.Pointer[Forgery]
}

func (e forger) Chunk(ctx context.Context, d record.GrantDigest, file, n int, dst []byte) (record.Grant, []byte, error) {
	x := e.forgery.Load()
	if x == nil {
		return e.Engine.Chunk(ctx, d, file, n, dst)
	}
	if x.Take != nil {
		file, n = x.Take(file, n)
	}
	g, sealed, err := e.Engine.Chunk(ctx, d, file, n, dst)
	if err == nil && x.Spoil != nil {
		x.Spoil(file, n, sealed[len(dst):])
	}
	return g, sealed, err
}
