package bolt

import (
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"pushbox/internal/testkit/env"
)

// Whatever the error with which a file system refuses to take blocks back, zeros are
// written instead. A device takes zeros, and no holes.
func TestPagesAreOverwrittenWhereAHoleFails(t *testing.T) {
	t.Parallel()
	f, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	env.OK(t, err)
	defer func() { _ = f.Close() }()
	const size = 4096
	if err := punch(f, 0, size); !errors.Is(err, unix.ENODEV) {
		t.Fatalf("a hole in a device: %v", err)
	}
	h := &handle{file: f}
	for n := int64(1); n <= 2; n++ {
		env.OK(t, h.overwrite(run{2, punchPages, true}, size))
		if e := h.eraser; !e.keepHoles || e.unsynced != n*punchPages*size {
			t.Errorf("%d bytes are written; holes are kept: %t", e.unsynced, e.keepHoles)
		}
	}
	readOnly, err := os.Open(os.DevNull)
	env.OK(t, err)
	defer func() { _ = readOnly.Close() }()
	h.file = readOnly
	if err := h.overwrite(run{2, 1, false}, size); err == nil {
		t.Error("what cannot be overwritten is no error")
	}
}
