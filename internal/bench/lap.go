package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// An operation is what is asked of a subject again and again.
type operation struct {
	subject *subject
	name    string
	next    func() request // may be called by many at once
	check   func(answer []byte) error
}

// A lap is what one round of one operation came to.
type lap struct {
	requests  int
	took      time.Duration
	p50, p99  time.Duration
	server    usage // by this lap; its memory is that at the end
	generator usage
}

func (l lap) rate() float64 { return float64(l.requests) / l.took.Seconds() }

// newLap makes a lap of the times that requests took, which it sorts.
func newLap(times []time.Duration, took time.Duration) lap {
	slices.Sort(times)
	return lap{requests: len(times), took: took, p50: percentile(times, 50), p99: percentile(times, 99)}
}

// lap measures for that long, over so many new connections. Each of them sends
// a request first that does not count.
func (op operation) lap(ctx context.Context, conns int, length time.Duration, raw bool) (lap, error) {
	ctx, cancel := context.WithTimeout(ctx, length+2*patience)
	defer cancel()
	clients, err := op.connect(ctx, conns, raw)
	defer func() {
		for _, c := range clients {
			c.close()
		}
	}()
	if err != nil {
		return lap{}, fmt.Errorf("%s: %s: connect: %w", op.subject.name, op.name, err)
	}
	server, generator, start := usageOf(op.subject.pids), usageOf([]int{os.Getpid()}), time.Now()
	times, err := op.load(ctx, clients, start.Add(length))
	if err != nil {
		return lap{}, fmt.Errorf("%s: %s: %w", op.subject.name, op.name, err)
	}
	took := time.Since(start)
	server, generator = usageOf(op.subject.pids).since(server), usageOf([]int{os.Getpid()}).since(generator)
	l := newLap(times, took)
	l.server, l.generator = server, generator
	return l, nil
}

// connect returns clients that are connected, even with an error.
func (op operation) connect(ctx context.Context, conns int, raw bool) (clients []client, err error) {
	group, ctx2 := errgroup.WithContext(ctx)
	var mu sync.Mutex
	for range conns {
		group.Go(func() error {
			c, err := op.subject.dial(ctx, raw) // which outlives the group
			if err != nil {
				return err
			}
			mu.Lock()
			clients = append(clients, c)
			mu.Unlock()
			return op.once(ctx2, c)
		})
	}
	return clients, group.Wait()
}

// once sends one request and looks at the answer.
func (op operation) once(ctx context.Context, c client) error {
	answer, err := c.do(ctx, op.next())
	if err != nil {
		return err
	}
	return op.check(answer)
}

// load has each client send requests, one after the other, until end, but at
// least one, and returns how long each took.
func (op operation) load(ctx context.Context, clients []client, end time.Time) ([]time.Duration, error) {
	group, ctx := errgroup.WithContext(ctx)
	times := make([][]time.Duration, len(clients))
	for i, c := range clients {
		group.Go(func() error {
			var mine []time.Duration
			for begin := time.Now(); len(mine) == 0 || begin.Before(end); {
				if err := op.once(ctx, c); err != nil {
					return err
				}
				now := time.Now()
				mine = append(mine, now.Sub(begin))
				begin = now
			}
			times[i] = mine
			return nil
		})
	}
	err := group.Wait()
	return slices.Concat(times...), err
}
