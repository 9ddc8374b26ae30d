package bolt

import (
	"errors"
	"testing"

	"pushbox/store/record"
)

func TestACopyLeavesTheSpaceThatIsToStayFree(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		free  int64
		known bool
		err   error
		want  error
	}{
		"just enough": {copyReserve + 100, true, nil, nil},
		"a byte less": {copyReserve + 99, true, nil, record.ErrFull},
		"unknown":     {0, false, nil, nil},
		"broken":      {2 * copyReserve, true, broken, broken},
	} {
		free := func(string) (int64, bool, error) { return c.free, c.known, c.err }
		if err := wantFree(free, "data", 100); !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
