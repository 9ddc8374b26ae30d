package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A faceoff compares an operation of pushbox with a bare commit of the rows that the
// operation writes.
type faceoff struct {
	operation operation
	commit    func() error
	bare, box []lap
}

// compareBolt measures creates and views on one connection in turns with bare commits,
// and prints the report.
func (b *bench) compareBolt(ctx context.Context, out io.Writer) (err error) {
	s := b.subjects[1]
	if err := b.ready(ctx, s); err != nil {
		return err
	}
	path, err := b.copyStore(ctx, s)
	if err != nil {
		return err
	}
	f, err := openBareFile(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.close()) }()
	var pairs []*faceoff
	commits := map[string]func() error{createPush: f.create, plainView: f.view}
	for _, op := range s.operations(b.o) {
		pairs = append(pairs, &faceoff{operation: op, commit: commits[op.name]})
	}
	for round := range 1 + b.o.rounds {
		for _, p := range pairs {
			if err := p.round(ctx, b.o, round > 0); err != nil {
				return err
			}
		}
	}
	r := newReport(b)
	for _, p := range pairs {
		r.addFaceoff(p)
	}
	if b.o.json {
		return r.writeJSON(out)
	}
	return r.writeFaceoffs(out)
}

// copyStore stops the subject, copies its database, and starts it again. The subject
// gets a copy, too, so that the system caches both files alike.
func (b *bench) copyStore(ctx context.Context, s *subject) (path string, err error) {
	if err := s.stop(); err != nil {
		return "", err
	}
	path = filepath.Join(b.dir, "bare.db")
	own := filepath.Join(s.dataDir(b.dir), "pushbox.db")
	old := own + ".old"
	if err := os.Rename(own, old); err != nil {
		return "", err
	}
	if err := errors.Join(copyFile(path, old), copyFile(own, old)); err != nil {
		return "", err
	}
	return path, errors.Join(os.Remove(old), s.start(ctx, b.dir))
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}

// round measures the commit, then the operation.
func (p *faceoff) round(ctx context.Context, o options, counts bool) error {
	bare, err := commitLap(ctx, p.commit, o.round)
	if err != nil {
		return fmt.Errorf("bare commit: %w", err)
	}
	box, err := p.operation.lap(ctx, 1, o)
	if err == nil && counts {
		p.bare, p.box = append(p.bare, bare), append(p.box, box)
	}
	return err
}

// commitLap repeats the commit for the length of time, but at least once.
func commitLap(ctx context.Context, commit func() error, length time.Duration) (lap, error) {
	self := []int{os.Getpid()}
	before, start := usageOf(self), time.Now()
	end := start.Add(length)
	var times []time.Duration
	for begin := start; len(times) == 0 || begin.Before(end); {
		if err := errors.Join(ctx.Err(), commit()); err != nil {
			return lap{}, err
		}
		now := time.Now()
		times = append(times, now.Sub(begin))
		begin = now
	}
	took, used := time.Since(start), usageOf(self).since(before)
	l := newLap(times, took)
	l.server = used
	return l, nil
}

// addFaceoff adds a commit and its operation. The ratio of the operation is how many
// times as long as the commit it takes, by the medians of each round.
func (r *report) addFaceoff(p *faceoff) {
	op := p.operation
	bare := newResult(1, operation{subject: &subject{spec: spec{name: "bbolt"}}, name: "rows of a " + op.name}, p.bare, p.bare)
	box := newResult(1, op, p.box, p.bare)
	ratios := make([]float64, len(p.box))
	for i := range ratios {
		ratios[i] = float64(p.box[i].p50) / float64(p.bare[i].p50)
	}
	bare.GeneratorCPU, box.Ratio = nil, median(ratios)
	r.Results = append(r.Results, bare, box)
}

// writeFaceoffs writes Markdown.
func (r *report) writeFaceoffs(out io.Writer) error {
	var b strings.Builder
	r.writeHeader(&b)
	b.WriteString("\n| | operation | p50 ms | times as long | p99 ms | CPU µs | handed to the system B |\n|---|---|---|---|---|---|---|\n")
	for _, v := range r.Results {
		fmt.Fprintf(&b, "| %s | %s | %.3f | %.2f | %.3f | %s | %s |\n", v.Subject, v.Operation, v.P50, v.Ratio, v.P99, cell(v.CPU, 1, 1), cell(v.Handed, 1, 0))
	}
	_, err := io.WriteString(out, b.String())
	return err
}
