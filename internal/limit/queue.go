package limit

import (
	"context"
	"slices"
	"sync"
)

// A Pool runs operations, so many at a time, from its queues in turn. It is safe for
// concurrent use.
type Pool struct {
	mu     sync.Mutex
	free   int      // operations that may still begin
	queues []*Queue // the one whose turn is next comes first
}

// NewPool returns a Pool that runs at most running operations at a time.
func NewPool(running int) *Pool { return &Pool{free: running} }

// A Queue is a part of a Pool in which operations wait. Networks in it take turns: one
// that waits with a single operation is not behind all operations of another.
type Queue struct {
	pool    *Pool
	running shares // a network counts as one client, which may have half
	waiting shares // likewise
	share   int    // the part of those that wait that one network may have: 1 for all of it, 8 for an eighth

	lines []line // of the networks that wait; the one whose turn is next comes first
}

type line struct {
	network string
	places  []*Place
}

// NewQueue adds a Queue to the pool. At most running of its operations run at a time, half of
// them of one network, and at most waiting others wait, of which one network may have one part in
// share. It may always have one.
func (p *Pool) NewQueue(running, waiting, share int) *Queue {
	q := &Queue{
		pool: p, share: share,
		running: newShares(int64(running), int64(running+1)/2), waiting: newShares(int64(waiting), int64(waiting/share)),
	}
	p.queues = append(p.queues, q)
	return q
}

// SetWaiting changes how many operations may wait. Those that wait already
// keep waiting.
func (q *Queue) SetWaiting(n int) {
	q.pool.mu.Lock()
	defer q.pool.mu.Unlock()
	q.waiting.total, q.waiting.client = int64(n), int64(n/q.share)
}

// A Place is that of one operation in a Queue.
type Place struct {
	queue   *Queue
	network string
	turn    chan struct{} // closed when the operation may run
	runs    bool
}

// Join takes a place for an operation of a client, or returns ErrBusy if too many wait,
// in all or of the client's network. The caller must Leave.
func (q *Queue) Join(client string) (*Place, error) {
	q.pool.mu.Lock()
	defer q.pool.mu.Unlock()
	p := &Place{queue: q, network: network(client), turn: make(chan struct{})}
	i := slices.IndexFunc(q.lines, func(l line) bool { return l.network == p.network })
	switch {
	case p.mayRun(): // so nothing of this network waits in this queue
		p.run()
	case !q.waiting.fit(p.steps(), 0, 1):
		return nil, ErrBusy
	default:
		q.waiting.add(p.steps(), 1)
		if i < 0 {
			q.lines = append(q.lines, line{network: p.network})
			i = len(q.lines) - 1
		}
		q.lines[i].places = append(q.lines[i].places, p)
	}
	return p, nil
}

// steps are what the place counts for.
func (p *Place) steps() []Step { return []Step{{p.network, 1}} }

// mayRun reports whether the operation may run now.
func (p *Place) mayRun() bool { return p.queue.pool.free > 0 && p.queue.running.fit(p.steps(), 0, 1) }

// run lets the operation run. The caller holds the pool's lock.
func (p *Place) run() {
	p.queue.pool.free--
	p.queue.running.add(p.steps(), 1)
	p.runs = true
	close(p.turn)
}

// Wait waits until the operation may run. It returns ctx.Err() if ctx ends before.
func (p *Place) Wait(ctx context.Context) error {
	select {
	case <-p.turn:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Leave gives the place up, after the operation or instead of it. The next one runs.
func (p *Place) Leave() {
	q := p.queue
	q.pool.mu.Lock()
	defer q.pool.mu.Unlock()
	if !p.runs {
		q.remove(p)
		return
	}
	q.running.add(p.steps(), -1)
	q.pool.free++
	q.pool.next()
}

func (q *Queue) remove(p *Place) {
	for i := range q.lines {
		if j := slices.Index(q.lines[i].places, p); j >= 0 {
			q.lines[i].places = slices.Delete(q.lines[i].places, j, j+1)
			q.waiting.add(p.steps(), -1)
			if len(q.lines[i].places) == 0 {
				q.lines = slices.Delete(q.lines, i, i+1)
			}
			return
		}
	}
}

// next starts operations that may run: from the queue whose turn it is, and there from the network
// whose turn it is.
func (p *Pool) next() {
	for i := 0; i < len(p.queues); {
		q := p.queues[i]
		first := q.shift()
		if first == nil {
			i++
			continue
		}
		first.run()
		p.queues = append(slices.Delete(p.queues, i, i+1), q)
		i = 0
	}
}

// shift removes the first place that may run, and puts its network behind the others. It returns nil
// if there is none.
func (q *Queue) shift() *Place {
	i := slices.IndexFunc(q.lines, func(l line) bool { return l.places[0].mayRun() })
	if i < 0 {
		return nil
	}
	l := q.lines[i]
	first := l.places[0]
	l.places = slices.Delete(l.places, 0, 1)
	q.lines = slices.Delete(q.lines, i, i+1)
	if len(l.places) > 0 {
		q.lines = append(q.lines, l)
	}
	q.waiting.add(first.steps(), -1)
	return first
}

// Do runs f for a client as soon as the Queue lets it, and returns its error. It returns
// ErrBusy if too many others wait, and ctx.Err() if ctx ends during the wait; f does not
// run then.
func (q *Queue) Do(ctx context.Context, client string, f func() error) error {
	p, err := q.Join(client)
	if err != nil {
		return err
	}
	defer p.Leave()
	if err := p.Wait(ctx); err != nil {
		return err
	}
	return f()
}
