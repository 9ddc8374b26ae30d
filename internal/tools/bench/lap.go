package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// A lap is the result of one operation in one round.
type lap struct {
	requests  int
	took      time.Duration
	p50, p99  time.Duration
	server    usage // in this lap and the rest after it; the memory is that at the end
	generator usage
}

func (l lap) rate() float64 { return float64(l.requests) / l.took.Seconds() }

// newLap makes a lap from the durations of its requests. It sorts them.
func newLap(times []time.Duration, took time.Duration) lap {
	slices.Sort(times)
	return lap{
		requests: len(times), took: took, p50: percentile(times, 50), p99: percentile(times, 99),
		server: unknownUsage(), generator: unknownUsage(),
	}
}

// lap measures the operation for the length of time, over new connections. The first
// request of each connection does not count. A slow operation gets fewer connections. A
// lap is shorter if the stock of the operation ends. Then the server rests: what it put
// off counts for this lap.
func (op operation) lap(ctx context.Context, conns int, o options) (lap, error) {
	if op.slow {
		conns = min(conns, mostSlow)
	}
	if op.stock != nil {
		if err := op.stock.fill(ctx, op.subject, conns, o.raw); err != nil {
			return lap{}, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, o.round+o.rest+2*patience)
	defer cancel()
	clients, err := op.connect(ctx, conns, o.raw)
	defer func() {
		for _, c := range clients {
			c.close()
		}
	}()
	if err != nil {
		return lap{}, fmt.Errorf("%s: %s: connect: %w", op.subject.name, op.name, err)
	}
	server, generator, start := usageOf(op.subject.pids), usageOf([]int{os.Getpid()}), time.Now()
	times, err := op.load(ctx, clients, start.Add(o.round))
	if err != nil {
		return lap{}, fmt.Errorf("%s: %s: %w", op.subject.name, op.name, err)
	}
	took := time.Since(start)
	generator = usageOf([]int{os.Getpid()}).since(generator)
	if err := op.rest(ctx, o.rest); err != nil {
		return lap{}, err
	}
	l := newLap(times, took)
	l.server, l.generator = usageOf(op.subject.pids).since(server), generator
	if op.stock != nil {
		op.stock.learn(l, o.round)
	}
	return l, nil
}

// connect opens the connections. With an error it returns those that are open.
func (op operation) connect(ctx context.Context, conns int, raw bool) (clients []client, err error) {
	group, ctx2 := errgroup.WithContext(ctx)
	var mu sync.Mutex
	for range conns {
		group.Go(func() error {
			c, err := op.subject.dial(ctx, raw) // ctx outlives the group
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

// rest waits. The bare handler puts nothing off.
func (op operation) rest(ctx context.Context, length time.Duration) error {
	if op.subject.name == bareWord {
		return nil
	}
	select {
	case <-time.After(length):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

var errEmpty = errors.New("no push is left")

// once sends one request and checks the answer. It fails with errEmpty if there is no
// push for it.
func (op operation) once(ctx context.Context, c client) error {
	r, ok := op.next()
	if !ok {
		return errEmpty
	}
	answer, err := c.do(ctx, r)
	if err != nil {
		return err
	}
	return op.check(answer)
}

// load makes each client send requests one after the other until end, but at least one,
// or until the stock is empty, and returns their durations.
func (op operation) load(ctx context.Context, clients []client, end time.Time) ([]time.Duration, error) {
	group, ctx := errgroup.WithContext(ctx)
	times := make([][]time.Duration, len(clients))
	for i, c := range clients {
		group.Go(func() error {
			var mine []time.Duration
			for begin := time.Now(); len(mine) == 0 || begin.Before(end); {
				err := op.once(ctx, c)
				if errors.Is(err, errEmpty) {
					break
				}
				if err != nil {
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

// median is the middle one of the numbers, or the mean of the two in the middle; 0 if
// there are none. It does not change the slice.
func median(numbers []float64) float64 {
	if len(numbers) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(numbers))
	middle := len(s) / 2
	if len(s)%2 == 1 {
		return s[middle]
	}
	return (s[middle-1] + s[middle]) / 2
}

// percentile is the smallest of the sorted values that p percent of them do not exceed;
// zero if there are none.
func percentile[T cmp.Ordered](sorted []T, p int) (v T) {
	if len(sorted) == 0 {
		return v
	}
	rank := (len(sorted)*p + 99) / 100 // rounded up
	return sorted[max(rank, 1)-1]
}

// medianOf is the median of one figure of each lap.
func medianOf(laps []lap, figure func(lap) float64) float64 {
	numbers := make([]float64, len(laps))
	for i, l := range laps {
		numbers[i] = figure(l)
	}
	return median(numbers)
}
