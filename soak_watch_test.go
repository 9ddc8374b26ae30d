package main

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

	"pushbox/server"
)

const (
	mostAnon    = server.MemoryLimit + 32<<20 // bytes of its own that a server may take under this load; each core makes it as much again
	mostGrowth  = 24 << 20                    // bytes, of the mean, from the second quarter of a soak to the last
	mostStays   = 48 << 20                    // bytes more than it began with, when the load is over
	descriptors = 2                           // more than there were; one is for what a sweep does just then
	mostThreads = 64
	bigText     = 1 << 20 // bytes
)

// A reading is what a process takes. Memory is in bytes, and 0 where the system
// does not tell; anon is without the database, which is mapped.
type reading struct {
	at              time.Duration
	rss, anon, peak int64
	fds, threads    int
	file            int64
}

// String tells it.
func (r reading) String() string {
	return fmt.Sprintf("%v: %d MiB of memory (%d MiB of its own, %d MiB at most), %d descriptors, %d threads, a file of %d KiB",
		r.at.Round(time.Second), r.rss>>20, r.anon>>20, r.peak>>20, r.fds, r.threads, r.file>>10)
}

// A watchman takes readings of a soak's server.
type watchman struct {
	s     *soak
	first reading
	last  reading // when all is over
	stop  func()

	mu   sync.Mutex
	all  []reading // at even distances, while there is a load
	peak reading   // the most of each
}

// watch takes readings, 2,400 in all but no more than two a second, and says how it
// goes once a minute: on standard error, or in the file that PUSHBOX_TEST_SOAK_LOG
// names.
func watch(t *testing.T, s *soak) *watchman {
	t.Helper()
	w := &watchman{s: s, first: s.read()}
	log := os.Stderr
	if name := os.Getenv("PUSHBOX_TEST_SOAK_LOG"); name != "" {
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			t.Fatal(err)
		}
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

func (w *watchman) keepOn(ctx context.Context, every time.Duration) {
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

func (w *watchman) note(r reading) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, r)
	p := &w.peak
	p.at, p.peak = r.at, r.peak
	p.rss, p.anon, p.file = max(p.rss, r.rss), max(p.anon, r.anon), max(p.file, r.file)
	p.fds, p.threads = max(p.fds, r.fds), max(p.threads, r.threads)
}

func (w *watchman) tell(ctx context.Context, log *os.File) {
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

// awaitMemory waits until the memory of the load is given back. Go looks for what is
// unused every two minutes at least: large texts, sent and deleted, have it look
// sooner.
func (s *soak) awaitMemory(w *watchman) {
	s.t.Helper()
	if underRace {
		return
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	big, n := strings.Repeat("x", bigText), 0
	s.await(ctx, "memory comes back", func() error {
		n++
		p := &soaked{kind: "text", limit: 1, owned: true}
		var r crashRecord
		if err := s.sendPush(p, map[string]string{"payload": big}, false, &r); err != nil {
			return err
		}
		p.token = r.Token
		if err := s.remove(p, false); err != nil {
			return err
		}
		if now := s.read(); now.anon > w.first.anon+mostStays {
			return fmt.Errorf("%d MiB of its own", now.anon>>20)
		}
		return nil
	})
	s.t.Logf("after %d large texts: %v", n, s.read())
}

// settle waits until the connections of the load are closed, and takes the last
// reading.
func (w *watchman) settle() {
	w.s.t.Helper()
	ctx, cancel := context.WithTimeout(w.s.t.Context(), patience)
	defer cancel()
	w.s.await(ctx, "descriptors come back", func() error {
		if w.last = w.s.read(); w.last.fds > w.first.fds+descriptors {
			return fmt.Errorf("%d, and %d before the load", w.last.fds, w.first.fds)
		}
		return nil
	})
}

// judge compares the readings with each other. Memory of a program under the race
// detector is not its own.
func (w *watchman) judge() {
	t := w.s.t
	t.Helper()
	t.Logf("at first %v", w.first)
	t.Logf("at most  %v", w.peak)
	t.Logf("at last  %v", w.last)
	if w.peak.threads > mostThreads {
		t.Errorf("P12: %d threads", w.peak.threads)
	}
	if least := w.leastFile(); w.s.length >= soakTwice && least > w.s.settled.bytes/2 {
		t.Errorf("P12: the file had %d KiB and did not shrink by itself: %d KiB", w.s.settled.bytes>>10, least>>10)
	}
	if underRace {
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

// leastFile is how small the file was while there was a load.
func (w *watchman) leastFile() int64 {
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
	pid := s.server.cmd.Process.Pid
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	fds, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid)) // none where only its owner may look
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

// kib is the number of bytes that a line of /proc/PID/status gives in KiB; 0 if
// there is no such line.
func kib(status []byte, name string) int64 {
	_, rest, _ := strings.Cut(string(status), name)
	n, _ := strconv.ParseInt(strings.Fields(rest + " 0")[0], 10, 64)
	return n << 10
}

func databaseOf(dir string) string { return filepath.Join(dir, "data", "pushbox.db") }

func databaseSize(t *testing.T, dir string) int64 {
	t.Helper()
	info, err := os.Stat(databaseOf(dir))
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
