package store_test

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// duePushes is how many pushes come due at once.
const duePushes = 100_000

// BenchmarkSweepBesideViews measures what views notice while a sweep ends pushes
// that are due, 100,000 at once, beside views alone: 500 of them a second at random
// times, of pushes that stay.
func BenchmarkSweepBesideViews(b *testing.B) {
	f := storetest.New(b, anyViews)
	l := load{workers: 64, perSec: 500}
	stay := createMany(b, f, anonymous, 1000, 90)
	m := make(medians)
	for b.Loop() {
		b.StopTimer()
		createMany(b, f, anonymous, duePushes, 1)
		b.StartTimer()
		before := viewsBeside(b, f, l, stay, func() { time.Sleep(2 * time.Second) })
		b.StopTimer()
		f.Clock.Advance(25 * time.Hour)
		b.StartTimer()
		start := time.Now()
		during := viewsBeside(b, f, l, stay, func() {
			if _, err := f.Sweep(ctx); err != nil {
				b.Error(err)
			}
		})
		m.add("due/s", duePushes/time.Since(start).Seconds())
		m.add("view-p99-ms", before.p99.Seconds()*1e3)
		m.add("view-p99-beside-ms", during.p99.Seconds()*1e3)
		m.add("p99-ratio", during.p99.Seconds()/before.p99.Seconds())
		m.add("longest-ms", before.longest.Seconds()*1e3)
		m.add("longest-beside-ms", during.longest.Seconds()*1e3)
		b.StopTimer()
		f.Clock.Advance(25 * time.Hour) // what has ended is purged before the next round
		f.SweepAll()
		b.StartTimer()
	}
	m.report(b)
}

// anyViews lets a push be viewed as often as one likes.
func anyViews(s *storetest.Setup) {
	t := s.Terms[record.Text]
	t.Views.Max = 1 << 30
	s.Terms[record.Text] = t
}

// createMany creates n pushes without a limit of views, which expire after that number
// of days, and returns their tokens.
func createMany(b *testing.B, f *storetest.Fixture, by store.Actor, n, days int) []store.Token {
	b.Helper()
	const workers = 64
	tokens := make([]store.Token, n)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			views := 1 << 30
			for i := w; i < n; i += workers {
				p, err := f.CreatePush(ctx, by, store.NewPush{Kind: record.Text, Payload: secret.New("s3cret"), Views: &views, Days: &days})
				if err != nil {
					b.Error(err)
					return
				}
				tokens[i] = p.Token
			}
		})
	}
	all.Wait()
	return tokens
}

// viewsBeside views pushes for as long as work lasts.
func viewsBeside(b *testing.B, f *storetest.Fixture, l load, tokens []store.Token, work func()) small {
	b.Helper()
	return l.measure(b, work, func(r *rand.Rand) func() error {
		return func() error {
			_, err := f.Retrieve(ctx, anonymous, tokens[r.IntN(len(tokens))], secret.Text{}, nil)
			return err
		}
	})
}
