package main

import (
	"context"
	"fmt"
	"slices"

	"pushbox/internal/testkit/env"
)

// times is how often a harness must catch a fault, one time after the other, for its length to
// be enough.
const times = 20

// power writes, for each fault whose first harness has a length that can be set, the smallest
// power of two that is enough. A harness that needs more than its long run is an error.
func (r *runner) power(ctx context.Context, faults []fault) error {
	weak := 0
	err := r.each(faults, func(t *trial, f fault) error {
		v, err := t.seed(ctx, f)
		if err != nil {
			return err
		}
		if v.fate == unfit {
			weak++
			return r.report(f.name, v)
		}
		h := f.by[0]
		if h.work == "" {
			return nil
		}
		length, err := t.enough(ctx, h)
		if err != nil {
			return err
		}
		text := fmt.Sprint(length)
		if length == 0 {
			weak++
			text = "not enough"
		}
		_, err = fmt.Fprintf(r.out, "%-32s %-16s %s\n", f.name, h.work, text)
		return err
	})
	if err == nil && weak > 0 {
		err = fmt.Errorf("%d harnesses are too weak at the length of their long run, or did not run", weak)
	}
	return err
}

// enough returns the smallest power of two at which a harness catches the fault each time; 0 if
// that is more than its long run has.
func (t *trial) enough(ctx context.Context, h harness) (uint64, error) {
	most := workOf(h).Long
	for length := uint64(1); ; length = min(2*length, most) {
		each, err := t.catches(ctx, h, length)
		if err != nil || each {
			return length, err
		}
		if length == most {
			return 0, nil
		}
	}
}

// catches reports whether a harness of that length catches the fault each time. It ends at the first
// time that does not.
func (t *trial) catches(ctx context.Context, h harness, length uint64) (bool, error) {
	for range times {
		v, err := t.meet(ctx, h, fmt.Sprintf("%s=%d", workOf(h).Name, length))
		if err != nil || v.fate != caught {
			return false, err
		}
	}
	return true, nil
}

// workOf is the row of a harness whose length can be set.
func workOf(h harness) env.Work {
	all := env.Works()
	return all[slices.IndexFunc(all, func(w env.Work) bool { return w.Name == "PUSHBOX_TEST_"+h.work })]
}
