package soak

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pushbox/internal/daemon"
	"pushbox/internal/proctest"
	"pushbox/internal/testkit/env"
)

const (
	mostAnon    = daemon.MemoryLimit + 32<<20 // bytes of its own that a server may take under this load, and 32 MiB more for each core
	mostGrowth  = 24 << 20                    // bytes that the mean may grow from the second quarter of a soak to the last
	mostStays   = 48 << 20                    // bytes more than at the beginning, after the load
	descriptors = 2                           // more than at the beginning; a sweep may use one
	mostThreads = 64
)

// A reading is what a process takes. Memory is in bytes, and 0 on systems that do not
// report it; anon does not include the database, which is mapped.
type reading struct {
	at              time.Duration
	rss, anon, peak int64
	fds, threads    int
	file            int64
}

// String is the reading as text.
func (r reading) String() string {
	return fmt.Sprintf("%v: %d MiB of memory (%d MiB of its own, %d MiB at most), %d descriptors, %d threads, a file of %d KiB",
		r.at.Round(time.Second), r.rss>>20, r.anon>>20, r.peak>>20, r.fds, r.threads, r.file>>10)
}

// A monitor takes readings of the server under load.
type monitor struct {
	s     *soak
	first reading
	last  reading // after the load
	stop  func()

	mu   sync.Mutex
	all  []reading // at even intervals, during the load
	peak reading   // the maximum of each
}

// startMonitor takes up to 2,400 readings, at most two a second, and reports once a
// minute to standard error, or to the file that PUSHBOX_TEST_SOAK_LOG names.
func startMonitor(t *testing.T, s *soak) *monitor {
	t.Helper()
	w := &monitor{s: s, first: s.read()}
	log := os.Stderr
	if name := os.Getenv("PUSHBOX_TEST_SOAK_LOG"); name != "" {
		f := env.Must(os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600))(t)
		t.Cleanup(func() { _ = f.Close() })
		log = f
	}
	ctx, cancel := context.WithCancel(t.Context())
	var watching sync.WaitGroup
	watching.Go(func() { w.keepOn(ctx, max(s.length/2400, time.Second/2)) })
	watching.Go(func() { w.tell(ctx, log) })
	w.stop = sync.OnceFunc(func() { cancel(); watching.Wait() })
	t.Cleanup(w.stop)
	return w
}

func (w *monitor) keepOn(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for w.note(w.first); ; {
		select {
		case <-tick.C:
			w.note(w.s.read())
		case <-ctx.Done():
			return
		}
	}
}

func (w *monitor) note(r reading) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, r)
	p := &w.peak
	p.at, p.peak = r.at, r.peak
	p.rss, p.anon, p.file = max(p.rss, r.rss), max(p.anon, r.anon), max(p.file, r.file)
	p.fds, p.threads = max(p.fds, r.fds), max(p.threads, r.threads)
}

func (w *monitor) tell(ctx context.Context, log *os.File) {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			fmt.Fprintf(log, "soak: %v; %v\n", w.s.read(), w.s)
		case <-ctx.Done():
			return
		}
	}
}

// awaitMemory waits until the server, which has no more requests, gives the memory of
// the load back. It does so a few seconds after its last commit, and it commits while
// grants of the load end. A last push makes sure of one commit.
func (s *soak) awaitMemory(w *monitor) {
	s.t.Helper()
	if env.UnderRace {
		return
	}
	p := &knownPush{kind: "text", limit: 1, owned: true}
	var r proctest.Record
	err := s.sendPush(p, map[string]string{"payload": "the last text"}, false, &r)
	if err == nil {
		p.token = r.Token
		err = s.remove(p, false)
	}
	if err != nil {
		s.t.Error(err)
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), soakWindow+proctest.Patience)
	defer cancel()
	s.await(ctx, "memory comes back", func() error {
		if now := s.read(); now.anon > w.first.anon+mostStays {
			return fmt.Errorf("%d MiB of its own", now.anon>>20)
		}
		return nil
	})
	s.t.Logf("without requests: %v", s.read())
}

// settle waits until the connections of the load are closed, and takes the last
// reading.
func (w *monitor) settle() {
	w.s.t.Helper()
	ctx, cancel := context.WithTimeout(w.s.t.Context(), proctest.Patience)
	defer cancel()
	w.s.await(ctx, "descriptors come back", func() error {
		if w.last = w.s.read(); w.last.fds > w.first.fds+descriptors {
			return fmt.Errorf("%d, and %d before the load", w.last.fds, w.first.fds)
		}
		return nil
	})
}

// judge compares the readings. Under the race detector it does not judge memory.
func (w *monitor) judge() {
	t := w.s.t
	t.Helper()
	t.Logf("at first %v", w.first)
	t.Logf("at most  %v", w.peak)
	t.Logf("at last  %v", w.last)
	if w.peak.threads > mostThreads {
		t.Errorf("P12: %d threads", w.peak.threads)
	}
	if least := w.leastFile(); w.s.length >= soakTwice && least > w.s.earlier.bytes/2 {
		t.Errorf("P12: the file had %d KiB and did not shrink by itself: %d KiB", w.s.earlier.bytes>>10, least>>10)
	}
	if env.UnderRace {
		return
	}
	if w.peak.anon > mostAnon+int64(runtime.NumCPU())*(32<<20) {
		t.Errorf("P12: it took %d MiB of memory", w.peak.anon>>20)
	}
	n := len(w.all)
	early, late := meanAnon(w.all[n/4:n/2]), meanAnon(w.all[n-n/4:])
	t.Logf("the mean of its own memory: %d KiB in the second quarter, %d KiB in the last", early>>10, late>>10)
	if w.s.length >= soakLong && late > early+mostGrowth {
		t.Error("P12: its memory grows")
	}
}

// leastFile is the smallest size of the file during the load.
func (w *monitor) leastFile() int64 {
	return slices.MinFunc(w.all, func(a, b reading) int { return cmp.Compare(a.file, b.file) }).file
}

func meanAnon(rs []reading) (sum int64) {
	for _, r := range rs {
		sum += r.anon
	}
	return sum / int64(max(1, len(rs)))
}

// read takes a reading.
func (s *soak) read() reading {
	pid := s.server.Pid()
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	fds, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid)) // none if only its owner may read it
	r := reading{
		at:  time.Since(s.begun),
		rss: kib(status, "VmRSS:"), anon: kib(status, "RssAnon:"), peak: kib(status, "VmHWM:"),
		fds: len(fds), threads: int(kib(status, "Threads:") >> 10),
	}
	if info, err := os.Stat(databaseOf(s.dir)); err == nil {
		r.file = info.Size()
	}
	return r
}

// kib is the number of bytes that a line of /proc/PID/status gives in KiB; 0 if there
// is no such line.
func kib(status []byte, name string) int64 {
	_, rest, _ := strings.Cut(string(status), name)
	n, _ := strconv.ParseInt(strings.Fields(rest + " 0")[0], 10, 64)
	return n << 10
}

func databaseOf(dir string) string { return filepath.Join(dir, "data", "pushbox.db") }
