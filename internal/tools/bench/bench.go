package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// A bench is the state of one run.
type bench struct {
	o        options
	dir      string // for the data of this run; close removes it
	notes    io.Writer
	subjects []*subject // the bare handler first
	schemas  []string   // of the database of the command postgres; close drops them
}

// newBench makes the directory. The caller must call close.
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

// close stops the servers and removes their data.
func (b *bench) close() error {
	var errs []error
	for _, s := range b.subjects {
		errs = append(errs, s.stop())
	}
	return errors.Join(append(errs, b.dropSchemas(), os.RemoveAll(b.dir))...)
}

func (b *bench) say(format string, args ...any) { fmt.Fprintf(b.notes, format+"\n", args...) }

// compare measures all subjects in turns and prints the report.
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

// ready starts the subject, unless it runs already, and stores pushes in it.
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

// rounds measures the operations in turns, and returns the laps of each. Each round
// begins with another operation, so that no operation always follows the same one. The
// first round is a warm-up and does not count.
func (b *bench) rounds(ctx context.Context, ops []operation, conns int) ([][]lap, error) {
	laps := make([][]lap, len(ops))
	for round := range 1 + b.o.rounds {
		for turn := range ops {
			i := (round + turn) % len(ops)
			l, err := ops[i].lap(ctx, conns, b.o)
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
