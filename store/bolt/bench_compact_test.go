package bolt

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pushbox/store"

	"pushbox/internal/testenv"
)

// BenchmarkCompact measures how long it takes to compact a file nine tenths of
// which nobody needs, and the megabytes copied in a second, while others create
// and view small pushes: the 99th percentile of what they wait for, and the
// longest, before and during that. PUSHBOX_BENCH_COMPACT sets the mebibytes of
// payloads in the file (64).
func BenchmarkCompact(b *testing.B) {
	const usual = 64
	megabytes := int(testenv.Length(b, "PUSHBOX_BENCH_COMPACT", usual, usual))
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

// A compactMeasure has what was measured beside compactions.
type compactMeasure struct {
	alone, beside []time.Duration
	took          time.Duration
	copied        int64
}

// besideTime is for how long operations are measured alone.
const besideTime = 300 * time.Millisecond

// run compacts once while writers are at work, which were before, too.
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
	s, err := db.Space(b.Context())
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
		err = db.CreatePush(b.Context(), p, benchPayload, benchEntry)
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
	db, _, err := Open(b.Context(), Options{Path: filepath.Join(b.TempDir(), "pushbox.db"), MinFree: 1 << 20})
	if err != nil {
		b.Fatal(err)
	}
	return db
}

// fillBench puts payloads of 64 KiB into the file and takes nine of ten away.
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
				if err := db.CreatePush(b.Context(), benchPush(i*20), payload, benchEntry); err != nil {
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
				if _, err := db.Change(b.Context(), benchPush(i*20).ID, func(p store.Push) (store.Push, store.Entry, error) {
					p.State = store.Purged
					return p, store.Entry{}, nil
				}); err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
