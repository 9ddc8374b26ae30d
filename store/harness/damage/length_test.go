package damage

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"pushbox/internal/testkit/env"
	"pushbox/store/seal"
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

// A key file with a changed byte, or cut short, is refused, and never accepted as
// another key.
func TestADamagedKeyFileIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "master.key")
	key, err := seal.CreateKeyFile(path)
	env.OK(t, err)
	whole, err := os.ReadFile(path)
	env.OK(t, err)
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
