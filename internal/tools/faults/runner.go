package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"pushbox/internal/testkit/env"
)

// A runner tries faults, one after the other, and writes a line about each.
type runner struct {
	root  string
	limit time.Duration
	out   io.Writer
}

// each calls fn with each fault and a trial of its own, and stops at the first error. fn reports
// whether the outcome is the right one; the error counts the others, with what they are.
func (r runner) each(faults []fault, others string, fn func(*trial, fault) (right bool, err error)) error {
	wrong := 0
	for _, f := range faults {
		t, err := newTrial(r.root, r.limit, f)
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		right, err := fn(t, f)
		if err := errors.Join(err, t.end()); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		if !right {
			wrong++
		}
	}
	if wrong > 0 {
		return fmt.Errorf("%d of %d %s", wrong, len(faults), others)
	}
	return nil
}

const notCaught = "faults were not caught"

func (r runner) tryAll(ctx context.Context, faults []fault) error {
	return r.each(faults, notCaught, func(t *trial, f fault) (bool, error) {
		v, err := t.try(ctx, f)
		if err != nil {
			return false, err
		}
		return v.fate == caught, r.report(f.name, v)
	})
}

// control runs the harnesses of the faults on the code without a fault.
func (r runner) control(ctx context.Context, faults []fault) error {
	var none []fault // for each harness
	for _, f := range faults {
		for _, h := range f.by {
			if !slices.ContainsFunc(none, func(n fault) bool { return n.by[0] == h }) {
				none = append(none, fault{name: h.test, by: []harness{h}})
			}
		}
	}
	return r.each(none, "harnesses do not pass without a fault", func(t *trial, f fault) (bool, error) {
		v, err := t.try(ctx, f)
		if err != nil {
			return false, err
		}
		if v.fate != missed {
			return false, r.report("without a fault", v)
		}
		_, err = fmt.Fprintf(r.out, "%-15s %s, in %.1f s\n", "passes", f.name, v.took.Seconds())
		return true, err
	})
}

// matrix runs every harness of each fault, at the length of go test, and writes a table of which
// caught it. Where none did, they run at the length of the long run. A second table says how
// often each harness caught a fault, and how often no other did. A fault that none caught is an
// error.
func (r runner) matrix(ctx context.Context, faults []fault) error {
	by, alone := make(map[string]int), make(map[string]int)
	fmt.Fprintln(r.out, "| Fault | Caught by | Run | Not caught by |\n|---|---|---|---|")
	err := r.each(faults, notCaught, func(t *trial, f fault) (bool, error) {
		var rows, others []string
		run := "none"
		for _, setting := range []string{"", longRun} {
			others = nil
			for _, h := range f.by {
				v, err := t.buildAndRun(ctx, h, setting)
				if err != nil {
					return false, err
				}
				if v.fate != caught {
					others = append(others, h.row+" ("+strings.ToLower(fates[v.fate])+")")
					continue
				}
				rows = append(rows, h.row)
				by[h.row]++
			}
			if rows != nil {
				run = map[string]string{"": "gate", longRun: "long run"}[setting]
				break
			}
		}
		if len(rows) == 1 {
			alone[rows[0]]++
		}
		_, err := fmt.Fprintf(r.out, "| `%s` | %s | %s | %s |\n", f.name, strings.Join(rows, ", "), run, strings.Join(others, ", "))
		return rows != nil, err
	})
	fmt.Fprint(r.out, "\n| Harness | Faults that it caught | Of them, by no other |\n|---|---|---|\n")
	for _, row := range slices.Sorted(maps.Keys(by)) {
		fmt.Fprintf(r.out, "| %s | %d | %d |\n", row, by[row], alone[row])
	}
	return err
}

// power writes, for each fault whose first harness has a length that can be set, the smallest
// power of two that is enough. A harness that needs more than its long run is an error.
func (r runner) power(ctx context.Context, faults []fault) error {
	const tooWeak = "harnesses are too weak at the length of their long run, or did not run"
	faults = slices.DeleteFunc(slices.Clone(faults), func(f fault) bool { return f.by[0].work == "" })
	return r.each(faults, tooWeak, func(t *trial, f fault) (bool, error) {
		length, err := t.enough(ctx, f.by[0])
		if err != nil {
			return false, err
		}
		text := fmt.Sprint(length)
		if length == 0 {
			text = "not enough"
		}
		_, err = fmt.Fprintf(r.out, "%-32s %-16s %s\n", f.name, f.by[0].work, text)
		return length > 0, err
	})
}

// enough returns the smallest power of two at which a harness catches the fault 20 times, one
// time after the other; 0 if that is more than its long run has, or if the harness does not run.
func (t *trial) enough(ctx context.Context, h harness) (uint64, error) {
	const times = 20
	all := env.Works()
	work := all[slices.IndexFunc(all, func(w env.Work) bool { return w.Name == "PUSHBOX_TEST_"+h.work })]
	for length := uint64(1); ; length = min(2*length, work.Long) {
		v := verdict{fate: caught}
		for i := 0; i < times && v.fate == caught; i++ {
			var err error
			if v, err = t.buildAndRun(ctx, h, fmt.Sprintf("%s=%d", work.Name, length)); err != nil {
				return 0, err
			}
		}
		if v.fate == caught {
			return length, nil
		}
		if length == work.Long || t.unfit != nil {
			return 0, nil
		}
	}
}

func (r runner) report(name string, v verdict) error {
	text := fmt.Sprintf("%-15s %s", fates[v.fate], name)
	if v.by.test != "" {
		text += fmt.Sprintf(": %s, in %.1f s", v.by.test, v.took.Seconds())
	}
	if v.long {
		text += ", in the long run"
	}
	if v.test != "" && v.test != v.by.test {
		text += "\n    " + v.test
	}
	if v.says != "" {
		text += "\n    " + brief(v.says)
	}
	_, err := fmt.Fprintln(r.out, text)
	return err
}
