package store

import (
	"bytes"
	"fmt"
	"iter"

	"pushbox/store/record"
)

// SameRecords compares all records of two engines, one by one, and returns how many there
// are. It calls progress with the bytes that it compared. The error names the kind of the
// first record that differs.
func SameRecords(want, got record.Records, progress func(done int64)) (n int64, err error) {
	next, stop := iter.Pull2(got)
	defer stop()
	done := int64(0)
	for w, err := range want {
		if err != nil {
			return n, err
		}
		g, gotErr, ok := next()
		switch {
		case gotErr != nil:
			return n, gotErr
		case !ok || g.Kind != w.Kind || !bytes.Equal(g.Key, w.Key):
			return n, fmt.Errorf("%w: the copy lacks %s, or has another one there", record.ErrCorrupt, w.Kind)
		case !bytes.Equal(g.Value, w.Value):
			return n, fmt.Errorf("%w: %s of the copy differs", record.ErrCorrupt, w.Kind)
		}
		n, done = n+1, done+int64(len(w.Key)+len(w.Value))
		progress(done)
	}
	if g, gotErr, ok := next(); ok {
		if gotErr != nil {
			return n, gotErr
		}
		return n, fmt.Errorf("%w: the copy has %s too many", record.ErrCorrupt, g.Kind)
	}
	return n, nil
}
