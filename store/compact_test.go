package store_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/seal"
	"pushbox/store/storetest"
)

// size is how large the database's file is.
func size(t testing.TB, f *storetest.Fixture) int64 {
	t.Helper()
	info, err := os.Stat(f.Path)
	env.OK(t, err)
	return info.Size()
}

func TestTheDatabaseShrinksByItselfWhenMostOfItHasExpired(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	alice := f.Account("alice@example.com")
	const pushes, each = 20, 7 << 20
	stays := storetest.PushFiles(t, f, alice, func(in *store.NewPush) { in.Days = ptr(30) }, storetest.Content(0, each))
	for i := range pushes - 1 {
		storetest.PushFiles(t, f, alice, func(in *store.NewPush) { in.Days = ptr(1) }, storetest.Content(uint64(i+1), each))
	}
	full := size(t, f)
	if wait, err := f.CompactIfNeeded(ctx); err != nil || wait <= 0 || size(t, f) != full {
		t.Fatalf("a full file was compacted: %v", err)
	}
	f.Clock.Advance(day)
	f.SweepAll()
	if size(t, f) < full || f.Orphans() != 0 { // the commits of the sweep may need more pages
		t.Fatalf("after the sweep: %d bytes of %d, %d orphans", size(t, f), full, f.Orphans())
	}
	if _, err := f.CompactIfNeeded(ctx); err != nil {
		t.Fatal(err)
	}
	if now := size(t, f); now > full/10 {
		t.Errorf("it has %d bytes, of %d before", now, full)
	}
	back, err := storetest.Download(f, storetest.Grant(t, f, anonymous, stays).Grant, 0)
	if err != nil || !bytes.Equal(back, storetest.Content(0, each)) {
		t.Errorf("the file that stays: %v", err)
	}
	f.Reopen()
	if p := storetest.Grant(t, f, anonymous, stays); p.Views != 2 {
		t.Errorf("%d views", p.Views)
	}
}

func TestLittleThatIsUnusedIsLeftAlone(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	p := storetest.PushFiles(t, f, f.Account("alice@example.com"), nil, storetest.Content(0, 200*seal.ChunkSize))
	if _, err := f.DeletePush(ctx, f.Account("bob@example.com"), p.Token); err != nil {
		t.Fatal(err)
	}
	f.SweepAll()
	before := size(t, f)
	if _, err := f.CompactIfNeeded(ctx); err != nil || size(t, f) != before {
		t.Errorf("%d bytes became %d, %v", before, size(t, f), err)
	}
	was, is, err := f.Compact(ctx, storetest.Operator, func(int64, int64) {})
	if err != nil || was != before || is >= before/10 || is > size(t, f) { // the commit of the event may make the file longer again
		t.Errorf("on request: %d bytes became %d, %v", was, is, err)
	}
}

func TestACompactionEndsWithItsContext(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	storetest.PushFiles(t, f, f.Account("alice@example.com"), nil, storetest.Content(0, 100*seal.ChunkSize))
	stop, cancel := context.WithCancel(ctx)
	_, _, err := f.Compact(stop, storetest.Operator, func(int64, int64) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("it returned %v", err)
	}
}

// BenchmarkShrink measures how long small operations wait, and how long a reader,
// while the database shrinks after nine tenths of its files have expired.
// PUSHBOX_BENCH_UPLOAD sets how many MiB there were (256).
func BenchmarkShrink(b *testing.B) {
	m := make(medians)
	for b.Loop() {
		f := storetest.New(b)
		alice := f.Account("alice@example.com")
		all := uploadSize(b)
		keep(b, f, alice, all/10)
		for range 9 {
			upload(b, f, alice, all/10)
		}
		f.SweepAll()
		full := size(b, f)
		alone := smallOperations(b, f, load{workers: 16}, func() { time.Sleep(2 * time.Second) })
		var took time.Duration
		during := smallOperations(b, f, load{workers: 16}, func() {
			start := time.Now()
			if _, err := f.CompactIfNeeded(ctx); err != nil {
				b.Error(err)
			}
			took = time.Since(start)
		})
		m.add("MiB-before", float64(full)/mebibyte)
		m.add("MiB-after", float64(size(b, f))/mebibyte)
		m.add("ms", took.Seconds()*1e3)
		m.add("small-p99-ms", alone.p99.Seconds()*1e3)
		m.add("small-p99-beside-ms", during.p99.Seconds()*1e3)
		m.add("small-longest-ms", alone.longest.Seconds()*1e3)
		m.add("small-longest-beside-ms", during.longest.Seconds()*1e3)
	}
	m.report(b)
}
