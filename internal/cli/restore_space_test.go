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
	var last int64
	looks := 0
	room := func() error {
		if looks++; looks > 2 {
			return record.ErrFull
		}
		return nil
	}
	err := copyWatched(t.Context(), io.Discard, endless{}, room, func(done int64) { last = done })
	if !errors.Is(err, record.ErrFull) || last != 2*copyStep {
		t.Errorf("%d bytes, %v", last, err)
	}
}

// endless is a reader of zeros.
type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }
