package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// A bench is what one run works with.
type bench struct {
	o        options
	dir      string // of this run; close removes it
	notes    io.Writer
	subjects []*subject // the bare handler first
}

// newBench makes the directory. close must be called.
func newBench(o options, notes io.Writer) (*bench, error) {
	parent := o.dir
	if parent == "" {
		var err error
		if parent, err = diskDir(os.TempDir(), "/var/tmp", "."); err != nil {
			return nil, err
		}
	}
	dir, err := os.MkdirTemp(parent, "pushbox-bench-")
	if err != nil {
		return nil, err
	}
	b := &bench{o: o, dir: dir, notes: notes, subjects: []*subject{{spec: spec{name: bareWord, api: apis[bareWord]}}}}
	for _, s := range o.subjects {
		b.subjects = append(b.subjects, &subject{spec: s})
	}
	return b, nil
}

// close stops the servers and removes what they kept.
func (b *bench) close() error {
	var errs []error
	for _, s := range b.subjects {
		errs = append(errs, s.stop())
	}
	return errors.Join(append(errs, os.RemoveAll(b.dir))...)
}

func (b *bench) say(format string, args ...any) { fmt.Fprintf(b.notes, format+"\n", args...) }

// compare measures all subjects beside each other and prints what it finds.
func (b *bench) compare(ctx context.Context, out io.Writer) error {
	var ops []operation
	for _, s := range b.subjects {
		if err := b.ready(ctx, s); err != nil {
			return err
		}
		ops = append(ops, s.operations(b.o)...)
	}
	r := newReport(b)
	for _, conns := range b.o.connections {
		b.say("%d connections", conns)
		laps, err := b.rounds(ctx, ops, conns)
		if err != nil {
			return err
		}
		r.add(conns, ops, laps)
	}
	if b.o.json {
		return r.writeJSON(out)
	}
	return r.writeTables(out)
}

// ready starts the subject, if that is for us, and fills it.
func (b *bench) ready(ctx context.Context, s *subject) error {
	if err := s.start(ctx, b.dir); err != nil {
		return fmt.Errorf("start %s: %w", s.name, err)
	}
	if s.name == bareWord {
		return nil
	}
	b.say("%s: store %d pushes", s.name, b.o.stored)
	return s.fill(ctx, b.o)
}

// rounds lets the operations take turns, and returns the laps of each. In every
// round another is the first, so that none has always the same one before it.
// The first round only warms up.
func (b *bench) rounds(ctx context.Context, ops []operation, conns int) ([][]lap, error) {
	laps := make([][]lap, len(ops))
	for round := range 1 + b.o.rounds {
		for turn := range ops {
			i := (round + turn) % len(ops)
			l, err := ops[i].lap(ctx, conns, b.o.round, b.o.raw)
			if err != nil {
				return nil, err
			}
			if round > 0 {
				laps[i] = append(laps[i], l)
			}
		}
	}
	return laps, nil
}
