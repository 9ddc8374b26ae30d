package server

import (
	"net/http"
	"sync/atomic"
	"time"

	"pushbox/internal/limit"
)

const (
	// LinesPerClient is how many requests of a client have lines in the log within a minute of
	// those that cost the client nothing: a limit refused them, no limit counts them, or they were
	// refused before one did. The rest is counted, and one line a minute has the count.
	LinesPerClient = 60

	linesWindow = time.Minute
)

// lines bound how many lines such requests add to the log: a client must not fill the disk
// that the log is on.
type lines struct {
	perClient *limit.Window
	elapsed   limit.Clock
	left      atomic.Int64 // without a line since the last count
	counted   atomic.Int64 // when that was, by elapsed
}

func newLines(clients int, clock limit.Clock) *lines {
	return &lines{perClient: limit.NewWindow(LinesPerClient, linesWindow, clients, clock), elapsed: clock}
}

// take reports whether a request of a client has a line; else it counts it.
func (l *lines) take(client string) bool {
	full, _ := l.perClient.TakeFor(client)
	if !full {
		return true
	}
	if l.left.Add(1) == 1 {
		l.counted.Store(int64(l.elapsed()))
	}
	return false
}

// count returns how many requests had no line, a minute after the first of them.
func (l *lines) count() int64 {
	if l.left.Load() == 0 || l.elapsed()-time.Duration(l.counted.Load()) < linesWindow {
		return 0
	}
	return l.left.Swap(0)
}

// isCheap reports whether a request cost its client nothing, so that there may be very many.
func isCheap(r *request, status int, err error) bool {
	return status == http.StatusTooManyRequests || isBusy(err) || !r.counted || r.route != nil && r.route.has(isHealthCheck)
}
