package store_test

import (
	"context"
	"io"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/store"
	"pushbox/store/seal"
	"pushbox/store/storetest"
)

const (
	smallWorkers = 16
	mebibyte     = 1 << 20
)

// uploadSize is how much the benchmark uploads: PUSHBOX_BENCH_UPLOAD MiB.
func uploadSize(b *testing.B) int64 {
	b.Helper()
	n, err := strconv.Atoi(cmpOr(os.Getenv("PUSHBOX_BENCH_UPLOAD"), "256"))
	if err != nil {
		b.Fatal(err)
	}
	return int64(n) * mebibyte
}

func cmpOr(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// BenchmarkUploadBesideSmallOperations measures, in turn, the chunks of an upload
// committed with nothing else going on, an upload alone, small creates and views
// alone, and small operations and an upload together. The figures are medians of
// all rounds.
func BenchmarkUploadBesideSmallOperations(b *testing.B) {
	f := storetest.New(b)
	alice := f.Account("alice@example.com")
	size := uploadSize(b)
	m := make(medians)
	for b.Loop() {
		bare := rate(size, func() { commitChunks(b, f, size) })
		alone := rate(size, func() { upload(b, f, alice, size) })
		before := smallOperations(b, f, func() { time.Sleep(2 * time.Second) })
		var beside float64
		during := smallOperations(b, f, func() { beside = rate(size, func() { upload(b, f, alice, size) }) })
		m.add("bare-MiB/s", bare)
		m.add("upload-alone/bare", alone/bare)
		m.add("upload-beside/bare", beside/bare)
		m.add("small-p99-ms", before.p99.Seconds()*1e3)
		m.add("small-p99-beside-ms", during.p99.Seconds()*1e3)
		m.add("p99-ratio", during.p99.Seconds()/before.p99.Seconds())
		m.add("small/s", before.perSecond)
		m.add("small-beside/s", during.perSecond)
		f.SweepAll()
	}
	m.report(b)
}

// medians are figures of which each round has one.
type medians map[string][]float64

func (m medians) add(name string, figure float64) { m[name] = append(m[name], figure) }

func (m medians) report(b *testing.B) {
	for name, figures := range m {
		slices.Sort(figures)
		b.ReportMetric(figures[len(figures)/2], name)
	}
	b.ReportMetric(0, "ns/op")
}

func rate(size int64, work func()) float64 {
	start := time.Now()
	work()
	return float64(size) / mebibyte / time.Since(start).Seconds()
}

// zeros is a file of nothing.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// upload has a file go in and its push expire.
func upload(b *testing.B, f *storetest.Fixture, by store.Actor, size int64) {
	p := keep(b, f, by, size)
	b.StopTimer()
	if _, err := f.DeletePush(ctx, by, p.Token); err != nil {
		b.Fatal(err)
	}
	b.StartTimer()
}

// keep has a file go in.
func keep(b *testing.B, f *storetest.Fixture, by store.Actor, size int64) store.PushInfo {
	u := f.NewUpload()
	if err := u.Add(ctx, io.LimitReader(zeros{}, size)); err != nil {
		b.Fatal(err)
	}
	p, err := f.CreatePush(ctx, by, store.NewPush{Kind: store.File, Files: u})
	if err != nil {
		b.Fatal(err)
	}
	if err := u.Close(ctx); err != nil {
		b.Fatal(err)
	}
	return p
}

// commitChunks has the engine keep what an upload keeps, and nothing more.
func commitChunks(b *testing.B, f *storetest.Fixture, size int64) {
	chunks := make([][]byte, store.MaxStep)
	for i := range chunks {
		chunks[i] = make([]byte, seal.ChunkSize+seal.ChunkOverhead)
	}
	id := store.ID{0: 1}
	for n := 0; n < int(seal.Chunks(size)); n += len(chunks) {
		if err := f.Engine().PutChunks(ctx, id, 0, n, chunks); err != nil {
			b.Fatal(err)
		}
	}
}

// small is what became of small operations.
type small struct {
	p99, longest time.Duration
	perSecond    float64
}

// smallOperations has workers create and view pushes for as long as work lasts.
func smallOperations(b *testing.B, f *storetest.Fixture, work func()) small {
	stop, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	took := make([][]time.Duration, smallWorkers)
	start := time.Now()
	for w := range smallWorkers {
		wg.Go(func() {
			for stop.Err() == nil {
				began := time.Now()
				p, err := f.CreatePush(ctx, nobody, store.NewPush{Kind: store.Text, Payload: secret.New("s3cret")})
				took[w] = append(took[w], time.Since(began))
				if err != nil {
					b.Error(err)
					return
				}
				began = time.Now()
				_, err = f.Retrieve(ctx, nobody, p.Token, secret.Text{})
				took[w] = append(took[w], time.Since(began))
				if err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	work()
	cancel()
	wg.Wait()
	all := slices.Concat(took...)
	slices.Sort(all)
	return small{all[len(all)*99/100], all[len(all)-1], float64(len(all)) / time.Since(start).Seconds()}
}
