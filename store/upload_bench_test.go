package store_test

import (
	"context"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/seal"
	"pushbox/store/storetest"

	"pushbox/internal/testkit/env"
)

const (
	mebibyte     = 1 << 20
	commitChunks = 16 // chunks in a commit with nothing else going on, 1 MiB
)

// A load is creates and views beside uploads: at random times at a rate, or by a number
// of workers that do nothing else.
type load struct {
	name    string
	workers int
	perSec  float64
}

func loads() []load {
	return []load{
		{"500-a-second", 64, 500},
		{"1000-a-second", 64, 1000},
		{"4-workers", 4, 0},
		{"16-workers", 16, 0},
		{"64-workers", 64, 0},
	}
}

// uploadSize is how much the benchmark uploads: PUSHBOX_BENCH_UPLOAD MiB.
func uploadSize(b *testing.B) int64 {
	b.Helper()
	const usual = 256
	return int64(env.Number(b, "PUSHBOX_BENCH_UPLOAD", usual)) * mebibyte
}

// BenchmarkUploadBesideSmallOperations measures, in turn, the chunks of an upload
// committed with nothing else going on, an upload alone, small creates and views
// alone, and small operations and an upload together. The figures are medians of
// all rounds.
func BenchmarkUploadBesideSmallOperations(b *testing.B) {
	for _, l := range loads() {
		b.Run(l.name, func(b *testing.B) { uploadBesideSmallOperations(b, l) })
	}
}

func uploadBesideSmallOperations(b *testing.B, l load) {
	f := storetest.New(b)
	alice := f.Account("alice@example.com")
	size := uploadSize(b)
	m := make(medians)
	for b.Loop() {
		bare := rate(size, func() { keepChunks(b, f, size) })
		alone := rate(size, func() { upload(b, f, alice, size) })
		before := smallOperations(b, f, l, func() { time.Sleep(2 * time.Second) })
		var beside float64
		during := smallOperations(b, f, l, func() { beside = rate(size, func() { upload(b, f, alice, size) }) })
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

// medians are figures that each round has one of.
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
	u := f.NewUpload(f.Policy(""))
	env.OK(b, u.Add(ctx, io.LimitReader(zeros{}, size)))
	p, err := f.CreatePush(ctx, by, store.NewPush{Kind: record.File, Files: u})
	env.OK(b, err)
	env.OK(b, u.Close(ctx))
	return p
}

// keepChunks has the engine keep what an upload keeps, and nothing more.
func keepChunks(b *testing.B, f *storetest.Fixture, size int64) {
	chunks := make([][]byte, commitChunks)
	for i := range chunks {
		chunks[i] = make([]byte, seal.ChunkSize+seal.ChunkOverhead)
	}
	id := record.ID{0: 1}
	for n := 0; n < int(seal.Chunks(size)); n += len(chunks) {
		env.OK(b, f.Engine().PutChunks(ctx, id, 0, n, chunks))
	}
}

// small has the results of small operations.
type small struct {
	p99, longest time.Duration
	perSecond    float64
}

// smallOperations creates and views pushes for as long as work lasts.
func smallOperations(b *testing.B, f *storetest.Fixture, l load, work func()) small {
	b.Helper()
	return l.measure(b, work, func(*rand.Rand) func() error {
		var made *store.Token // and not viewed yet
		return func() error {
			if made != nil {
				_, err := f.Retrieve(ctx, anonymous, *made, secret.Text{}, nil)
				made = nil
				return err
			}
			p, err := f.CreatePush(ctx, anonymous, store.NewPush{Kind: record.Text, Payload: secret.New("s3cret")})
			made = &p.Token
			return err
		}
	})
}

// measure has workers do things, each what begin gives it, one after the other for as
// long as work lasts. What is due at a time took from that time on, also where its worker
// was still busy.
func (l load) measure(b *testing.B, work func(), begin func(*rand.Rand) func() error) small {
	b.Helper()
	stop, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	took := make([][]time.Duration, l.workers)
	start := time.Now()
	for w := range l.workers {
		wg.Go(func() {
			due, times := start, rand.New(rand.NewPCG(uint64(w), 0))
			act := begin(times)
			for stop.Err() == nil {
				due = l.next(due, times)
				err := act()
				took[w] = append(took[w], time.Since(due))
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

// next waits until a worker's next operation is due, and returns when that was.
func (l load) next(last time.Time, times *rand.Rand) time.Time {
	if l.perSec == 0 {
		return time.Now()
	}
	due := last.Add(time.Duration(times.ExpFloat64() * float64(l.workers) / l.perSec * float64(time.Second)))
	time.Sleep(time.Until(due))
	return due
}
