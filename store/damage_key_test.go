package store_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"pushbox/store/seal"
)

// A key file in which a byte is another, or that is cut, is refused: there is no
// other key that it is taken for.
func TestADamagedKeyFileIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "master.key")
	key, err := seal.CreateKeyFile(path)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	try := func(what string, at int, damaged []byte) {
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := seal.LoadKeyFile(path)
		switch {
		case err == nil && bytes.Equal(got.Text(), key.Text()): // it is in the words around the key
		case errors.Is(err, seal.ErrKey):
			refused++
		default:
			t.Errorf("%s at %d: it is taken for another key, or the error is %v", what, at, err)
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
