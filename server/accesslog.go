package server

import (
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"pushbox/internal/limit"
	"pushbox/server/action"
)

// logAccess logs one line for a request. It has the route's name, but not the path, query, Referer
// or anything else that may contain a link or a secret. It has an error only for a fault of the
// server.
func (s *Server) logAccess(r *action.Request, status int, bytes int64, took time.Duration, err error) {
	name := noRouteName
	if r.Route != nil {
		name = r.Route.Name
	}
	if left := s.limits.lines.count(); left > 0 {
		s.log.Info().Int64("requests", left).Msg("requests that are not logged one by one: a limit refused them, or they were health checks")
	}
	if isCheap(r, status, err) && !s.limits.lines.take(r.Actor.Client) {
		return
	}
	line := s.log.Info()
	fault := status >= http.StatusInternalServerError || r.Route != nil && r.Route.Has(action.HasFiles) && status < http.StatusMultipleChoices && err != nil
	if fault && !isExpected(err) {
		line = s.log.Error().AnErr("error", err)
		var p *panicError
		if errors.As(err, &p) {
			line = line.Bytes("stack", p.stack)
		}
	}
	line.Str("request_id", r.ID).
		Str("route", name).
		Int("status", status).
		Float64("ms", float64(took.Microseconds())/1000).
		Int64("bytes", bytes)
	if s.cfg.Log.Client {
		line.Str("client", r.Actor.IP)
	}
	line.Str("caller", callerKind(r)).
		Msg("request")
}

const (
	// LinesPerClient is how many cheap requests of a client are logged within a minute. Cheap means
	// that a limit refused them, that no limit counts them, or that they were refused before a
	// limit counted them. Further ones are counted, and one line a minute has their number.
	LinesPerClient = 60

	linesWindow = time.Minute
)

// lines bounds how many lines such requests add to the log: a client must not fill the disk of the
// log.
type lines struct {
	perClient *limit.Window
	elapsed   limit.Clock
	left      atomic.Int64 // without a line since the last count
	counted   atomic.Int64 // when that was, by elapsed
}

func newLines(clients int, clock limit.Clock) *lines {
	return &lines{perClient: limit.NewWindow(LinesPerClient, linesWindow, clients, clock), elapsed: clock}
}

// take reports whether a request of a client gets a line; otherwise it counts the request.
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

// isCheap reports whether no limit bounds a request, so that there may be very many.
func isCheap(r *action.Request, status int, err error) bool {
	return status == http.StatusTooManyRequests || isBusy(err) || !r.Counted || r.Route != nil && r.Route.Has(action.IsHealthCheck)
}
