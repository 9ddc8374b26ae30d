package bolt

import (
	"bytes"
	"os"
	"testing"

	"pushbox/internal/testkit/env"
)

// A ring is found wherever the file has it: also behind the last full step of the search,
// and across the end of a step.
func TestAKeyRingIsFoundAnywhereInTheFile(t *testing.T) {
	t.Parallel()
	const size = searchStep + 32<<10
	opens := func(b []byte) bool { return bytes.HasPrefix(b, []byte("old ring")) }
	for _, at := range []int64{100 << 10, searchStep - 100, searchStep - 4, searchStep, searchStep + 8<<10, size - 4<<10} {
		db := newDB(t, Options{})
		if found, err := db.FindRing(t.Context(), opens); found || err != nil {
			t.Errorf("before: %t, %v", found, err)
		}
		f, err := os.OpenFile(db.path, os.O_WRONLY, 0)
		if err == nil {
			err = f.Truncate(size)
		}
		if err == nil {
			_, err = f.WriteAt([]byte(metaKeyRing+"old ring"), at)
		}
		env.OK(t, err)
		env.OK(t, f.Close())
		if found, err := db.FindRing(t.Context(), opens); !found || err != nil {
			t.Errorf("at %d: %t, %v", at, found, err)
		}
	}
}
