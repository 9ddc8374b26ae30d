package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// matrix runs every harness of each fault, at the length of go test, and writes a table of which
// caught it. Where none did, they run at the length of the long run. A second table says how
// often each harness caught a fault, and how often no other did. A fault that none caught is an
// error.
func (r *runner) matrix(ctx context.Context, faults []fault) error {
	left, by, alone := 0, make(map[string]int), make(map[string]int)
	if _, err := fmt.Fprintln(r.out, "| Fault | Caught by | Run | Not caught by |\n|---|---|---|---|"); err != nil {
		return err
	}
	err := r.each(faults, func(t *trial, f fault) error {
		c, err := t.all(ctx, f)
		if err != nil {
			return err
		}
		run := "gate"
		switch {
		case c.caught == nil:
			left++
			run = "none"
		case c.long:
			run = "long run"
		}
		for _, row := range c.caught {
			by[row]++
		}
		if len(c.caught) == 1 {
			alone[c.caught[0]]++
		}
		_, err = fmt.Fprintf(r.out, "| `%s` | %s | %s | %s |\n", f.name, strings.Join(c.caught, ", "), run, strings.Join(c.missed, ", "))
		return err
	})
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("\n| Harness | Faults that it caught | Of them, by no other |\n|---|---|---|\n")
	for _, row := range slices.Sorted(maps.Keys(by)) {
		fmt.Fprintf(&b, "| %s | %d | %d |\n", row, by[row], alone[row])
	}
	if _, err := fmt.Fprint(r.out, b.String()); err != nil {
		return err
	}
	if left > 0 {
		return fmt.Errorf("%d of %d faults were not caught", left, len(faults))
	}
	return nil
}

// catchers are the rows of the harnesses that ran on a fault.
type catchers struct {
	caught, missed []string
	long           bool // at the length of the long run
}

// all runs all harnesses of a fault.
func (t *trial) all(ctx context.Context, f fault) (c catchers, err error) {
	if v, err := t.seed(ctx, f); err != nil || v.fate == unfit {
		return catchers{missed: []string{v.says}}, err
	}
	for _, setting := range []string{"", longRun} {
		c = catchers{long: setting == longRun}
		for _, h := range f.by {
			v, err := t.meet(ctx, h, setting)
			if err != nil {
				return catchers{}, err
			}
			if v.fate == caught {
				c.caught = append(c.caught, h.row)
			} else {
				c.missed = append(c.missed, h.row+" ("+strings.ToLower(fates[v.fate])+")")
			}
		}
		if c.caught != nil {
			break
		}
	}
	return c, nil
}
