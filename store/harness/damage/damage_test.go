package damage

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"pushbox/internal/testkit/env"
	"pushbox/store/seal"
	"pushbox/store/storetest"
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

// A value whose length has a high bit more reaches far behind the file. Reading it takes no
// memory for a copy of what is not there.
func TestALengthBehindTheFileTakesNoMemory(t *testing.T) {
	t.Parallel()
	const leaf, head, element, lastOfLength, bit30 = 2, 16, 16, 15, 6 // of bbolt's pages
	w := newWorld(t, storetest.MemoryDir(t), false)
	rng, tried := rand.New(rand.NewPCG(1, 2)), 0
	for at := 0; at+pageSize <= len(w.image); at += pageSize {
		page := w.image[at : at+pageSize]
		if binary.NativeEndian.Uint64(page) != uint64(at/pageSize) || binary.NativeEndian.Uint16(page[8:]) != leaf {
			continue
		}
		for n := range min(3, int(binary.NativeEndian.Uint16(page[10:]))) {
			d := flipBit(w.image, at+head+n*element+lastOfLength, bit30)
			tried++
			before := allocated()
			if _, _, broken := w.try(d, rng, false); len(broken) > 0 {
				t.Errorf("%v: %q", d, broken)
			}
			if took := allocated() - before; took > damageMemory {
				t.Errorf("%v: it took %d MiB", d, took>>20)
			}
		}
	}
	if tried < 60 {
		t.Errorf("only %d lengths were tried", tried)
	}
}

// A key file with a changed byte, or cut short, is refused, and never accepted as
// another key.
func TestADamagedKeyFileIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "master.key")
	key := env.Must(seal.CreateKeyFile(path))(t)
	whole := env.Read(t, path)
	refused := 0
	try := func(what string, at int, damaged []byte) {
		env.OK(t, os.WriteFile(path, damaged, 0o600))
		got, err := seal.LoadKeyFile(path)
		switch {
		case err == nil && bytes.Equal(got.Text(), key.Text()): // the change is in the text around the key
		case errors.Is(err, seal.ErrKey):
			refused++
		default:
			t.Errorf("%s at %d: it is accepted as another key, or the error is %v", what, at, err)
		}
	}
	for at := range whole {
		for bit := range 8 {
			damaged := bytes.Clone(whole)
			damaged[at] ^= 1 << bit
			try("a bit", at, damaged)
		}
		try("the end", at, whole[:at])
	}
	const bitsOfKey = 256
	if refused < bitsOfKey {
		t.Errorf("only %d damages were refused", refused)
	}
}
