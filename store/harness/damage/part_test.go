package damage

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"testing"
	"testing/cryptotest"
	"time"

	"pushbox/internal/testkit/env"
	"pushbox/store/storetest"
)

// rangeEnv makes TestUseOfDamagedFiles the process that tries damages: its value is
// their range.
const rangeEnv = "PUSHBOX_TEST_DAMAGE_PART"

const (
	costlyEvery  = 1000      // damages for each one that is tried with passwords, which take long
	damageMemory = 768 << 20 // bytes that one damage may allocate; 256 MiB go to Argon2 where its cost is damaged
	damageStack  = 64 << 20
)

// tryAll tries the damages of a range. If one ends the process, another process
// continues.
func (h *harness) tryAll(from, to uint64) {
	for from < to {
		last, ended := h.tryPart(from, to)
		if ended || !h.mayDie() {
			return
		}
		from = last + 1
	}
}

func (h *harness) mayDie() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.deaths++
	return h.deaths < maxDeaths
}

// tryPart starts a process that tries damages, and returns the last that it began.
func (h *harness) tryPart(from, to uint64) (last uint64, ended bool) {
	cmd := exec.CommandContext(h.t.Context(), os.Args[0], "-test.run=^TestUseOfDamagedFiles$")
	dir := storetest.MemoryDir(h.t)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d %d %t %q", rangeEnv, h.seed, from, to, h.all, dir))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		h.t.Error(err)
		return to, true
	}
	last, text := h.read(out, from)
	defer h.keep(dir, last)
	if err := cmd.Wait(); err != nil {
		log := stderr.String()
		h.t.Errorf("damage %d, %s: the process died: %v\n%s", last, text, err, log[:min(len(log), 3000)])
		return last, false
	}
	return last, true
}

// read records the reports of a process until it ends.
func (h *harness) read(out io.Reader, last uint64) (uint64, string) {
	text := "none begun"
	for lines := bufio.NewScanner(out); lines.Scan(); {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		switch word {
		case "begin":
			number, what, _ := strings.Cut(rest, " ")
			_, _ = fmt.Sscan(number, &last)
			text = what
		case "broken":
			h.t.Errorf("damage %d, %s: %s", last, text, rest)
		case "end":
			h.count(rest)
		}
	}
	return last, text
}

// wholeFile is the name of the file before it was damaged.
const wholeFile = "whole.db"

// keep copies the file before a damage, and as it was left, to the artifacts of a
// failed test.
func (h *harness) keep(dir string, last uint64) {
	if !h.t.Failed() {
		return
	}
	for _, name := range []string{wholeFile, "pushbox.db"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(h.t.ArtifactDir(), fmt.Sprintf("%d-%s", last, name)), b, 0o600)
		}
		if err != nil {
			h.t.Error(err)
		}
	}
}

// count records the outcome of a damage.
func (h *harness) count(rest string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var o outcome
	_, _ = fmt.Sscan(rest, &o)
	h.counts[o]++
	if _, change, ok := strings.Cut(rest, ": "); ok && o == differs {
		if h.silent == nil {
			h.silent = make(map[string]int)
		}
		h.silent[change]++
	}
}

// TestUseOfDamagedFiles is the process that TestADamagedFileDoesNoHarm starts.
func TestUseOfDamagedFiles(t *testing.T) {
	var seed, from, to uint64
	var all bool
	var dir string
	if _, err := fmt.Sscanf(os.Getenv(rangeEnv), "%d %d %d %t %q", &seed, &from, &to, &all, &dir); err != nil {
		t.Skip("it is a part of TestADamagedFileDoesNoHarm")
	}
	cryptotest.SetGlobalRandom(t, seed)
	debug.SetMaxStack(damageStack)
	debug.SetGCPercent(200)
	w := newWorld(t, dir, all)
	if all {
		to = min(to, uint64(len(w.image)))
	}
	env.OK(t, os.WriteFile(filepath.Join(dir, wholeFile), w.image, 0o600))
	var now progress
	go now.watch()
	for i := from; i < to; i++ {
		rng := rand.New(rand.NewPCG(seed, i))
		d := newDamage(rng, w.image, w.parts)
		if all {
			d = flipBit(w.image, int(i), rng.IntN(8))
		}
		fmt.Printf("begin %d %v\n", i, d)
		before := allocated()
		now.before.Store(before)
		now.begun.Store(time.Now().UnixNano())
		o, changes, broken := w.try(d, rng, rng.IntN(costlyEvery) == 0)
		if n := allocated() - before; n > damageMemory {
			broken = append(broken, fmt.Sprintf("it took %d MiB", n>>20))
		}
		for _, b := range broken {
			fmt.Printf("broken %s\n", strings.ReplaceAll(b, "\n", " | "))
		}
		fmt.Printf("end %d: %s\n", o, strings.Join(changes, ", "))
	}
}

// progress is when a damage was begun, and how much was allocated then.
type progress struct {
	begun  atomic.Int64 // in nanoseconds since 1970; 0: none yet
	before atomic.Uint64
}

// watch ends the process if a damage takes too long or too much memory.
func (p *progress) watch() {
	for {
		time.Sleep(10 * time.Millisecond)
		since, took := time.Since(time.Unix(0, p.begun.Load())), int64(allocated())-int64(p.before.Load())
		if p.begun.Load() > 0 && (since > 2*timeLimit || took > 2*damageMemory) {
			debug.SetTraceback("all")
			panic(fmt.Sprintf("after %v, with %d MiB of memory", since, took>>20))
		}
	}
}

// allocated is the number of bytes allocated so far.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}
