package bolt

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pushbox/store/record"
	"pushbox/store/storetest/conformance"

	"pushbox/internal/testkit/env"
)

// BenchmarkCompact measures the time and the throughput of compacting a file that is
// nine tenths unused, while other goroutines create and view small pushes. It reports
// the 99th percentile and the maximum of their latencies before and during the
// compaction. PUSHBOX_BENCH_COMPACT sets the mebibytes of payloads in the file (64).
func BenchmarkCompact(b *testing.B) {
	const usual = 64
	megabytes := int(env.Number(b, "PUSHBOX_BENCH_COMPACT", usual))
	if megabytes == 0 {
		b.Fatal("there is nothing to compact")
	}
	for _, writers := range []int{0, 16, 64} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			var m compactMeasure
			for b.Loop() {
				db := openBench(b)
				fillBench(b, db, megabytes)
				m.run(b, db, writers)
			}
			m.report(b)
		})
	}
}

// A compactMeasure has the measurements of compactions.
type compactMeasure struct {
	alone, beside []time.Duration
	took          time.Duration
	copied        int64
}

// besideTime is how long operations are measured without a compaction.
const besideTime = 300 * time.Millisecond

// run compacts once while writers are at work, which began before.
func (m *compactMeasure) run(b *testing.B, db *DB, writers int) {
	var wg sync.WaitGroup
	var compacting, done atomic.Bool
	var mu sync.Mutex
	for g := range writers {
		wg.Go(func() {
			var alone, beside []time.Duration
			for i := 0; !done.Load(); i++ {
				during, took := compacting.Load(), benchOp(b, db, g, i)
				if during {
					beside = append(beside, took)
				} else {
					alone = append(alone, took)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			m.alone, m.beside = append(m.alone, alone...), append(m.beside, beside...)
		})
	}
	if writers > 0 {
		<-time.After(besideTime)
	}
	compacting.Store(true)
	start := time.Now()
	err := db.Compact(b.Context(), func(_, _ int64) {})
	m.took += time.Since(start)
	compacting.Store(false)
	done.Store(true)
	wg.Wait()
	if err != nil {
		b.Error(err)
	}
	s, err := db.Stats(b.Context())
	if err != nil {
		b.Error(err)
	}
	m.copied += s.Size
	if err := db.Close(); err != nil {
		b.Error(err)
	}
}

func benchOp(b *testing.B, db *DB, g, i int) time.Duration {
	p := benchPush(1<<30 + (i*64+g)*20)
	start := time.Now()
	var err error
	if i%2 == 0 {
		err = conformance.Made(db.CreatePush(b.Context(), p, benchPayload, benchEntry))
	} else {
		_, err = db.Change(b.Context(), benchPush(1<<30+((i-1)*64+g)*20).ID, benchView)
	}
	if err != nil {
		b.Error(err)
	}
	return time.Since(start)
}

func (m *compactMeasure) report(b *testing.B) {
	b.ReportMetric(float64(m.took)/float64(b.N), "ns/op")
	b.ReportMetric(float64(m.copied)/1e6/m.took.Seconds(), "MB/s")
	for name, d := range map[string][]time.Duration{"alone": m.alone, "beside": m.beside} {
		if len(d) == 0 {
			continue
		}
		slices.Sort(d)
		b.ReportMetric(float64(d[len(d)*99/100]), "p99-"+name+"-ns")
		b.ReportMetric(float64(d[len(d)-1]), "longest-"+name+"-ns")
	}
}

func openBench(b *testing.B) *DB {
	db, _, err := OpenUnlocked(b.Context(), Options{Path: filepath.Join(b.TempDir(), "pushbox.db"), MinFree: 1 << 20})
	env.OK(b, err)
	return db
}

// fillBench stores payloads of 64 KiB and removes nine of ten.
func fillBench(b *testing.B, db *DB, megabytes int) {
	payload := make([]byte, 64<<10)
	for i := range payload {
		payload[i] = byte(i)
	}
	n := megabytes << 20 / len(payload)
	var wg sync.WaitGroup
	for g := range 64 {
		wg.Go(func() {
			for i := g; i < n; i += 64 {
				if err := conformance.Made(db.CreatePush(b.Context(), benchPush(i*20), payload, benchEntry)); err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for g := range 64 {
		wg.Go(func() {
			for i := g; i < n; i += 64 {
				if i/10%10 == 0 {
					continue
				}
				if _, err := db.Change(b.Context(), benchPush(i*20).ID, func(p record.Push) (record.Push, record.Entry, error) {
					p.State = record.Purged
					return p, record.Entry{}, nil
				}); err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
