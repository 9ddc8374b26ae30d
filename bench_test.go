package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pushbox/internal/proctest"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/bolt"
	"pushbox/store/record"
	"pushbox/store/seal"
)

// BenchmarkStart measures, for a data directory with some pushes, the time from the
// start of the process to its first answer, and its memory at that moment.
// PUSHBOX_BENCH_STORED sets the number of pushes (1,000).
func BenchmarkStart(b *testing.B) {
	const usual = 1000
	stored := int(env.Number(b, "PUSHBOX_BENCH_STORED", usual))
	dir := b.TempDir()
	fill(b, filepath.Join(dir, "data"), stored)
	var started time.Duration
	var resident int
	for b.Loop() {
		begin := time.Now()
		p, err := proctest.Start(dir, proctest.Environ(), nil)
		if err != nil {
			b.Fatal(err)
		}
		res, err := http.Get(p.URL + "/healthz")
		if err != nil {
			b.Fatal(err)
		}
		_ = res.Body.Close()
		started += time.Since(begin)
		resident += residentBytes(b, p.Pid())
		if _, err := p.Signal("TERM"); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(started.Microseconds())/1000/float64(b.N), "ms/start")
	b.ReportMetric(float64(resident)/float64(b.N)/(1<<20), "MiB")
	b.ReportMetric(0, "ns/op")
}

// fill makes a data directory with that many pushes.
func fill(b *testing.B, dir string, stored int) {
	b.Helper()
	if err := os.Mkdir(dir, 0o700); err != nil {
		b.Fatal(err)
	}
	root, err := seal.CreateKeyFile(filepath.Join(dir, "master.key"))
	if err != nil {
		b.Fatal(err)
	}
	ctx := context.Background()
	engine, _, err := bolt.Open(ctx, bolt.Options{Path: filepath.Join(dir, "pushbox.db")})
	if err != nil {
		b.Fatal(err)
	}
	terms := store.Terms{Enabled: true, Days: store.Range{Default: 7, Min: 1, Max: 90}, Views: store.Range{Default: 5, Min: 1, Max: 100}}
	s, err := store.Open(ctx, engine, root, store.Options{Terms: map[record.Kind]store.Terms{record.Text: terms}})
	if err != nil {
		b.Fatal(err)
	}
	var all sync.WaitGroup
	for w := range 64 {
		all.Go(func() {
			for i := w; i < stored; i += 64 {
				if _, err := s.CreatePush(ctx, store.Actor{}, store.NewPush{Kind: record.Text, Payload: secret.New("correct horse battery staple")}); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	if err := s.Close(ctx); err != nil {
		b.Fatal(err)
	}
}

// residentBytes is the memory that a process uses; 0 on systems that do not report it.
func residentBytes(b *testing.B, pid int) int {
	b.Helper()
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	kib, _ := strconv.Atoi(strings.Fields(rest + " 0")[0])
	return kib << 10
}
