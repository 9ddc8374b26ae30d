package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sync/errgroup"

	"pushbox/internal/tools/tool"
)

type client interface {
	// do sends r and returns the status and the body of the answer. The body is valid until the next call.
	do(r request) (status int, body []byte, err error)
	close()
}

// ask sends a request, and returns the body of the answer. An answer with another status than r expects is an error.
func ask(c client, r request) ([]byte, error) {
	const maxQuoted = 200 // bytes
	status, body, err := c.do(r)
	if err == nil && status != r.status {
		err = fmt.Errorf("%s was answered %d: %q", r.method, status, body[:min(len(body), maxQuoted)])
	}
	return body, err
}

func read(res *http.Response, body *bytes.Buffer) (int, []byte, error) {
	const maxAnswer = 16 << 20 // bytes
	body.Reset()
	_, err := body.ReadFrom(io.LimitReader(res.Body, maxAnswer))
	return res.StatusCode, body.Bytes(), errors.Join(err, res.Body.Close())
}

type netClient struct {
	ctx   context.Context // ends its requests
	http  http.Client
	base  string
	token string
	body  bytes.Buffer
}

func (c *netClient) do(r request) (int, []byte, error) {
	req, err := http.NewRequestWithContext(c.ctx, r.method, c.base+r.path, bytes.NewReader(r.body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Accept", "application/json")
	if r.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.authorized && c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return 0, nil, err
	}
	return read(res, &c.body)
}

func (c *netClient) close() { c.http.CloseIdleConnections() }

// A rawClient writes a request itself, in one call, and reads the answer in the same goroutine.
type rawClient struct {
	conn  net.Conn
	in    *bufio.Reader
	head  string // the lines that all requests have
	token string // the line that authorizes a request; "": none
	out   []byte
	body  bytes.Buffer
}

// dialRaw connects. The client works until the deadline of ctx.
func dialRaw(ctx context.Context, url, token string) (client, error) {
	host, ok := strings.CutPrefix(url, "http://")
	if !ok {
		return nil, errors.New("the raw client speaks http only: use --client net")
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", host)
	if err != nil {
		return nil, err
	}
	deadline, _ := ctx.Deadline()
	c := &rawClient{conn: conn, in: bufio.NewReader(conn)}
	c.head = " HTTP/1.1\r\nHost: " + host + "\r\nUser-Agent: pushbox-bench\r\nAccept: application/json\r\n"
	if token != "" {
		c.token = "Authorization: Bearer " + token + "\r\n"
	}
	return c, conn.SetDeadline(deadline)
}

func (c *rawClient) close() { _ = c.conn.Close() }

func (c *rawClient) do(r request) (int, []byte, error) {
	b := append(append(c.out[:0], r.method...), ' ')
	b = append(append(b, r.path...), c.head...)
	if r.authorized {
		b = append(b, c.token...)
	}
	if r.body != nil {
		b = append(b, "Content-Type: application/json\r\nContent-Length: "...)
		b = append(strconv.AppendInt(b, int64(len(r.body)), 10), '\r', '\n')
	}
	c.out = append(append(b, '\r', '\n'), r.body...)
	if _, err := c.conn.Write(c.out); err != nil {
		return 0, nil, err
	}
	res, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return 0, nil, err
	}
	return read(res, &c.body)
}

// percentiles are those of the durations of requests in a report; the last is the longest.
var percentiles = [...]float64{50, 99, 99.9, 100}

// A lap is the result of one operation in one round.
type lap struct {
	requests  int
	took      time.Duration
	times     [len(percentiles)]float64 // ms, by percentiles
	commits   map[string]float64        // seconds: the longest of the server, with --commits
	server    usage                     // in this lap and the rest after it; the memory is that at the end
	generator usage
}

func (l lap) rate() float64 { return float64(l.requests) / l.took.Seconds() }
func (l lap) cpu() float64  { return l.server[cpu] + l.generator[cpu] }

// lap measures the operation for the length of time, over new connections. The first request of each does not count.
// Checking a passphrase keeps a core busy, so it gets fewer connections. A lap is shorter if the stock of the operation
// ends. Then the server rests: what it put off counts for this lap.
func (op operation) lap(ctx context.Context, b *bench, conns int) (l lap, err error) {
	s, rest := op.subject, b.restOf(op.subject)
	if op.name == wrongWord || op.name == rightWord {
		conns = min(conns, mostSlow)
	}
	if op.stock != nil {
		if err := op.stock.fill(ctx, b, s, conns); err != nil {
			return l, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, b.round+rest+2*tool.Patience)
	defer cancel()
	before, err := s.commits(ctx, b)
	if err != nil {
		return l, err
	}
	var group errgroup.Group
	var connecting sync.WaitGroup
	connecting.Add(conns)
	start, times := make(chan time.Time), make([][]time.Duration, conns)
	for i := range conns {
		group.Go(func() error {
			c, err := s.dial(ctx, b, i)
			if err == nil {
				defer c.close()
				err = op.once(c)
			}
			connecting.Done()
			if begin := <-start; err == nil {
				times[i], err = op.repeat(c, begin.Add(b.round))
			}
			return err
		})
	}
	connecting.Wait()
	self := []int{os.Getpid()}
	server, generator, begin := usageOf(s.pids, usage{}), usageOf(self, usage{}), time.Now()
	for range conns {
		start <- begin
	}
	if err := group.Wait(); err != nil {
		return l, err
	}
	l.took, l.generator = time.Since(begin), usageOf(self, generator)
	if s.local != nil { // it is the same process
		l.generator = usage{}
	}
	all := slices.Concat(times...)
	l.requests, l.times = len(all), timesOf(all)
	tool.Pause(ctx, rest)
	after, err := s.commits(ctx, b)
	if err != nil {
		return l, err
	}
	l.commits = after.longest(before)
	l.server = usageOf(s.pids, server)
	if op.stock != nil { // its rate says how many pushes a whole lap takes; the next one may take half as many more
		op.stock.size = max(op.stock.size, int(1.5*l.rate()*b.round.Seconds())/op.stock.each)
	}
	return l, ctx.Err()
}

// restOf is how long a subject rests. The bare handler and this process put nothing off.
func (b *bench) restOf(s *subject) time.Duration {
	if s.name == bareWord || s.local != nil {
		return 0
	}
	return b.rest
}

func timesOf(all []time.Duration) (times [len(percentiles)]float64) {
	for i, p := range percentiles {
		times[i] = percentile(all, p).Seconds() * 1e3
	}
	return times
}

var errEmpty = errors.New("no push is left")

func (op operation) once(c client) error {
	r, ok := op.next()
	if !ok {
		return errEmpty
	}
	answer, err := ask(c, r)
	if err == nil {
		err = op.check(answer)
	}
	return err
}

// repeat sends requests one after the other until end, but at least one, or until the stock is empty, and returns
// their durations.
func (op operation) repeat(c client, end time.Time) (times []time.Duration, err error) {
	for begin := time.Now(); len(times) == 0 || begin.Before(end); {
		if err := op.once(c); errors.Is(err, errEmpty) {
			break
		} else if err != nil {
			return nil, err
		}
		now := time.Now()
		times, begin = append(times, now.Sub(begin)), now
	}
	return times, nil
}

// percentile is the smallest of the values that p percent of them do not exceed; zero if there are none. It sorts them.
func percentile[T float64 | time.Duration](values []T, p float64) (v T) {
	if len(values) == 0 {
		return v
	}
	slices.Sort(values)
	return values[max(int(math.Ceil(float64(len(values))*p/100)), 1)-1]
}

// A usage is what processes have used since they began, or within a time. A figure that the system does not tell is NaN.
type usage [4]float64

// The figures of a usage.
const (
	cpu      = iota // seconds, user and system
	written         // bytes sent to disks, as the system counts them
	handed          // bytes given to write calls, for files, connections and logs
	resident        // bytes in memory
)

// usageOf adds up the usage of processes since another one. A figure that is unknown of one is unknown of all.
func usageOf(pids []int, before usage) usage {
	unknown := usage{math.NaN(), math.NaN(), math.NaN(), math.NaN()}
	if len(pids) == 0 {
		return unknown
	}
	sum := usage{-before[cpu], -before[written], -before[handed]}
	for _, pid := range pids {
		u := unknown
		p, err := procfs.NewProc(pid)
		if s, statErr := p.Stat(); err == nil && statErr == nil {
			u[cpu], u[resident] = s.CPUTime(), float64(s.ResidentMemory())
		}
		if s, err := p.IO(); err == nil { // only root and the user of the process may read it
			u[written], u[handed] = float64(s.WriteBytes), float64(s.WChar)
		}
		for i := range u {
			sum[i] += u[i]
		}
	}
	return sum
}
