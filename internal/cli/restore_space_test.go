package cli

import (
	"errors"
	"io"
	"testing"

	"pushbox/store"
)

// What is read has no end; the file system has one.
func TestARestoreLeavesTheSpaceThatIsToStayFree(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		free  int64
		known bool
		err   error
		want  error
	}{
		"just enough": {100, true, nil, nil},
		"a byte less": {99, true, nil, store.ErrFull},
		"unknown":     {0, false, nil, nil},
		"broken":      {1000, true, broken, broken},
	} {
		room := spaceLeft{dir: "data", least: 100, free: func(string) (int64, bool, error) { return c.free, c.known, c.err }}
		if err := room.check(); !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	looks := 0
	w := &watched{ctx: t.Context(), from: endless{}, tell: func(int64) {}, room: func() error {
		if looks++; looks > 2 {
			return store.ErrFull
		}
		return nil
	}}
	n, err := io.Copy(io.Discard, w)
	if !errors.Is(err, store.ErrFull) || n < 2*roomStep || n > 2*roomStep+1<<20 {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// endless is a reader of zeros.
type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }
