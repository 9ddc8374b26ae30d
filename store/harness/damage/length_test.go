package damage

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// A value whose length has a high bit more reaches far behind the file. Reading it takes no
// memory for a copy of what is not there.
func TestALengthBehindTheFileTakesNoMemory(t *testing.T) {
	t.Parallel()
	const leaf, head, element, lastOfLength, bit30 = 2, 16, 16, 15, 6 // of bbolt's pages
	w := newWorld(t, quickDir(t), false)
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
