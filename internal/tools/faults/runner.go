package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// A runner tries faults, one after the other.
type runner struct {
	root     string
	limit    time.Duration
	out      io.Writer
	progress *progress
}

// tryAll tries the faults and writes a line about each. The error says how many were
// not caught.
func (r *runner) tryAll(ctx context.Context, faults []fault) error {
	left := 0
	err := r.each(faults, func(t *trial, f fault) error {
		v, err := t.try(ctx, f)
		if err != nil {
			return err
		}
		if v.fate != caught {
			left++
		}
		return r.report(f.name, v)
	})
	if err == nil && left > 0 {
		err = fmt.Errorf("%d of %d faults were not caught", left, len(faults))
	}
	return err
}

// each calls fn with each fault and a trial of its own, and stops at the first error.
func (r *runner) each(faults []fault, fn func(*trial, fault) error) error {
	for i, f := range faults {
		what := fmt.Sprintf("%d of %d, %s", i+1, len(faults), f.name)
		if err := r.within(what, func(t *trial) error { return fn(t, f) }); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return nil
}

// control runs the harnesses of the faults on the code without a fault.
func (r *runner) control(ctx context.Context, faults []fault) error {
	var none []fault // for each harness
	for _, f := range faults {
		for _, h := range f.by {
			if !slices.ContainsFunc(none, func(n fault) bool { return n.by[0] == h }) {
				none = append(none, fault{name: h.test, by: []harness{h}})
			}
		}
	}
	failed := 0
	err := r.each(none, func(t *trial, f fault) error {
		v, err := t.try(ctx, f)
		if err != nil {
			return err
		}
		if v.fate == missed {
			_, err = fmt.Fprintf(r.out, "%-15s %s, in %.1f s\n", "passes", f.name, v.took.Seconds())
			return err
		}
		failed++
		return r.report("without a fault", v)
	})
	if err == nil && failed > 0 {
		err = fmt.Errorf("%d of %d harnesses do not pass without a fault", failed, len(none))
	}
	return err
}

// within calls fn with a trial, and removes the trial's files afterwards.
func (r *runner) within(what string, fn func(*trial) error) (err error) {
	t, err := newTrial(r.root, r.limit, func(text string) { r.progress.show(what + ": " + text) })
	if err != nil {
		return err
	}
	defer func() {
		r.progress.clear()
		err = errors.Join(err, t.end())
	}()
	return fn(t)
}

// report writes the outcome of a fault.
func (r *runner) report(name string, v verdict) error {
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
		text += "\n    " + shorten(v.says)
	}
	_, err := fmt.Fprintln(r.out, text)
	return err
}

// shorten limits a message to about two lines of a terminal.
func shorten(text string) string {
	const most = 240
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + " ..."
	}
	return text
}
