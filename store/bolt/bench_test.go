package bolt

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
	"pushbox/store/record"
	"pushbox/store/seal"
	"pushbox/store/storetest/conformance"
)

// preloaded is how many pushes there are when a benchmark begins.
const preloaded = 100_000

func BenchmarkCreate(b *testing.B) {
	bench(b, func(b *testing.B, db *DB, i int) error {
		p := benchPush(preloaded + i)
		return conformance.Made(db.CreatePush(b.Context(), p, benchPayload, benchEntry))
	})
}

func BenchmarkChange(b *testing.B) {
	bench(b, func(b *testing.B, db *DB, i int) error {
		_, err := db.Change(b.Context(), benchPush(i*7919%preloaded).ID, benchView)
		return err
	})
}

// bench measures an operation from several numbers of goroutines: with the committer,
// and with a transaction for each operation.
func bench(b *testing.B, run func(b *testing.B, db *DB, i int) error) {
	db := preload(b)
	var next atomic.Int64
	for _, goroutines := range []int{1, 64, 256} {
		for _, alone := range []bool{false, true} {
			b.Run(fmt.Sprintf("goroutines=%d/alone=%t", goroutines, alone), func(b *testing.B) {
				var turn sync.Mutex
				each(b, goroutines, func() {
					if alone {
						turn.Lock()
						defer turn.Unlock()
					}
					if err := run(b, db, int(next.Add(1))); err != nil {
						b.Error(err)
					}
				})
			})
		}
	}
}

// each runs f b.N times from that many goroutines.
func each(b *testing.B, goroutines int, f func()) {
	b.ReportAllocs()
	var begun atomic.Int64
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for begun.Add(1) <= int64(b.N) {
				f()
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "ops/s")
}

func preload(b *testing.B) *DB {
	db, _, err := Open(b.Context(), Options{Path: filepath.Join(b.TempDir(), "pushbox.db"), MinFree: 1 << 20, MaxSize: 1 << 40})
	if err == nil {
		err = db.Unlock(b.Context(), seal.NewRing(benchStart), nil, nil)
	}
	env.OK(b, err)
	b.Cleanup(func() {
		if err := db.Close(); err != nil {
			b.Error(err)
		}
	})
	var wg sync.WaitGroup
	for g := range 512 {
		wg.Go(func() {
			for i := g; i < preloaded; i += 512 {
				if err := conformance.Made(db.CreatePush(b.Context(), benchPush(i), benchPayload, benchEntry)); err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
	return db
}

var (
	benchStart   = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	benchPayload = make([]byte, 200)
	benchEntry   = record.Entry{Kind: record.EntryCreation, At: benchStart, Sealed: make([]byte, 120)}
)

func benchPush(i int) record.Push {
	created := benchStart.Add(time.Duration(i/20) * time.Millisecond)
	p := record.Push{
		Kind: record.Text, State: record.Live,
		CreatedAt: created, UpdatedAt: created, ExpiresAt: created.Add(7 * 24 * time.Hour),
		Days: 7, ViewLimit: 1 << 30, Seq: 1, Wrap: make([]byte, 90),
	}
	mac := sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(i)))
	binary.BigEndian.PutUint64(p.ID[:8], uint64(created.UnixMilli())<<16)
	copy(p.ID[6:], mac[:])
	return p
}

func benchView(p record.Push) (record.Push, record.Entry, error) {
	p.Views++
	p.Seq++
	p.UpdatedAt = p.UpdatedAt.Add(time.Second)
	return p, benchEntry, nil
}
