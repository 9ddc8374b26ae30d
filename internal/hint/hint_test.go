package hint

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"pushbox/internal/testkit/env"
)

func TestTheOutermostHintOfAnErrorCounts(t *testing.T) {
	t.Parallel()
	inner := With(fs.ErrNotExist, "make %s", "it")
	outer := With(fmt.Errorf("open: %w", inner), "name another")
	for _, test := range []struct {
		err  error
		want string
	}{
		{fs.ErrNotExist, ""},
		{inner, "make it"},
		{errors.Join(errors.New("first"), inner), "make it"},
		{outer, "name another"},
	} {
		env.Equal(t, test.err, Of(test.err), test.want)
	}
	if !errors.Is(outer, fs.ErrNotExist) || outer.Error() != "open: file does not exist" {
		t.Errorf("the error is %v", outer)
	}
}
