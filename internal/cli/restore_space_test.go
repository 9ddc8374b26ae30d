package cli

import (
	"errors"
	"io"
	"testing"

	"pushbox/store/record"
)

// What is read has no end; the file system has one.
func TestARestoreAsksForRoomAsItReads(t *testing.T) {
	t.Parallel()
	looks := 0
	w := &watched{ctx: t.Context(), from: endless{}, tell: func(int64) {}, room: func() error {
		if looks++; looks > 2 {
			return record.ErrFull
		}
		return nil
	}}
	n, err := io.Copy(io.Discard, w)
	if !errors.Is(err, record.ErrFull) || n < 2*roomStep || n > 2*roomStep+1<<20 {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// endless is a reader of zeros.
type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }
