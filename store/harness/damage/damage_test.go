package damage

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"pushbox/internal/testkit/env"
)

const (
	damagesPerProcess = 2000    // damages that one process tries: files that failed stay mapped
	processes         = 2       // processes at a time
	maxDeaths         = 3       // of processes, after which the harness gives up
	everyByte         = 1 << 21 // more than the larger file has
)

// A damaged database is refused, or gives errors, or does no harm: it never delivers
// another payload, panics, loops for ever or takes memory without bound.
// PUSHBOX_TEST_DAMAGE_FLIPS sets how many damages are tried. With
// PUSHBOX_TEST_DAMAGE_ALL=1 each byte of a larger file has a bit flipped instead.
func TestADamagedFileDoesNoHarm(t *testing.T) {
	t.Parallel()
	n, seed := env.Length(t, "PUSHBOX_TEST_DAMAGE_FLIPS"), env.Seed(t)
	all := os.Getenv("PUSHBOX_TEST_DAMAGE_ALL") != ""
	if all {
		n = everyByte
	}
	h := harness{t: t, seed: seed, all: all}
	var next atomic.Uint64
	var running sync.WaitGroup
	for range processes {
		running.Go(func() {
			for from := next.Add(damagesPerProcess) - damagesPerProcess; from < n; from = next.Add(damagesPerProcess) - damagesPerProcess {
				h.tryAll(from, min(n, from+damagesPerProcess))
			}
		})
	}
	running.Wait()
	t.Log(&h)
	if h.counts[refused] == 0 || h.counts[failed] == 0 {
		t.Error("nothing was damaged")
	}
	if h.counts[differs] > 0 {
		t.Error("what the store tells differs, and nothing reports it")
	}
}

// A harness starts other processes that damage and use files, since a damage may end a
// process.
type harness struct {
	t    *testing.T
	seed uint64
	all  bool

	mu     sync.Mutex
	counts [outcomes]int
	deaths int
	silent map[string]int // differences that nothing reported
}

// String is how many damages had which outcome.
func (h *harness) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	sum := 0
	for _, n := range h.counts {
		sum += n
	}
	return fmt.Sprintf("%d damages: %d refused, %d with errors, %d that only the check found, %d without effect, %d with one that nothing told: %v",
		sum, h.counts[refused], h.counts[failed], h.counts[found], h.counts[unnoticed], h.counts[differs], h.silent)
}
