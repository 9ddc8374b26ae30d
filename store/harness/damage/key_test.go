package damage

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"pushbox/store/seal"
)

// A key file with a changed byte, or cut short, is refused, and never accepted as
// another key.
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
