package store_test

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"pushbox/internal/testenv"
)

const (
	damagePart  = 2000    // damages that one process tries: files that failed stay mapped
	damageShare = 2       // processes at a time
	mostDeaths  = 3       // of processes, after which there is no need to see more
	everyByte   = 1 << 21 // more than the larger file has
)

// A database in which something is not as it was written is refused, or gives
// errors, or does no harm: never another payload, never a panic, an endless loop
// or memory without end. PUSHBOX_TEST_DAMAGE_FLIPS sets how many damages are
// tried. With PUSHBOX_TEST_DAMAGE_ALL=1 each byte of a larger file has a bit
// flipped instead.
func TestADamagedFileDoesNoHarm(t *testing.T) {
	t.Parallel()
	n, seed := testenv.Length(t, "PUSHBOX_TEST_DAMAGE_FLIPS", 20_000, 200), testenv.Seed(t)
	all := os.Getenv("PUSHBOX_TEST_DAMAGE_ALL") != ""
	if all {
		n = everyByte
	}
	h := damageHarness{t: t, seed: seed, all: all}
	var next atomic.Uint64
	var processes sync.WaitGroup
	for range damageShare {
		processes.Go(func() {
			for from := next.Add(damagePart) - damagePart; from < n; from = next.Add(damagePart) - damagePart {
				h.tryAll(from, min(n, from+damagePart))
			}
		})
	}
	processes.Wait()
	t.Log(&h)
	if h.counts[refused] == 0 || h.counts[failed] == 0 {
		t.Error("nothing was damaged")
	}
}

// A damageHarness has other processes damage and use files, since what goes wrong
// may end a process.
type damageHarness struct {
	t    *testing.T
	seed uint64
	all  bool

	mu     sync.Mutex
	counts [outcomes]int
	deaths int
	silent map[string]int // what was not as it was, and nothing said so
}

// String tells what came of all the damages.
func (h *damageHarness) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	sum := 0
	for _, n := range h.counts {
		sum += n
	}
	return fmt.Sprintf("%d damages: %d refused, %d with errors, %d that only the check found, %d without effect, %d with one that nothing told: %v",
		sum, h.counts[refused], h.counts[failed], h.counts[found], h.counts[unnoticed], h.counts[differs], h.silent)
}
